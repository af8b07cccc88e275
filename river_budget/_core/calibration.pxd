# Calibration maps: their probabilities, and one online Newton step for each.
#
# A classifier's probabilities may be too sure or too timid. A map turns its logits into better ones: a
# label has two features, minus its gap (the largest logit minus its own) and minus the square root of that,
# and its logit under the map is the sum of the features times the slopes, and of a bias of the label, which is
# 0 for a label that was never learned. The map begins as the identity.
#
# The `Calibrator` has N_MAPS maps, which forget at different speeds, and mixes their probabilities with
# those of the model itself by how likely each made the labels so far. It owns all of that, knows neither the
# model nor River, and is used from Python: labels come as keys of a dict of gaps. It always holds that the
# last row of `biases` is 0, and that the weights of the mixture are positive and have a sum of 1.
cdef enum: N_MAPS = 3

cdef struct Map:
    double a, b                       # its slopes
    double aa, ab, bb                 # the sum of their Hessians

cdef struct Bias:                     # of one label in one map
    double value
    double a, b, own                  # the sums of Hessians: of the slopes and the bias, and of it alone


cdef class Calibrator:
    cdef dict columns                 # of the labels, in the order in which they came
    cdef double[:, ::1] maps          # a `Map` in each row
    cdef double[:, :, ::1] biases     # a `Bias` (labels + 1, maps, 4); the last row is 0, for unknown labels
    cdef double[::1] mixture          # weights of the model and the maps (1 + maps,)
    cdef double square                # mean square of the largest gap, over examples that have one
    cdef Py_ssize_t n_gaps

    cdef Bias *bias_of(self, Py_ssize_t column, Py_ssize_t m) noexcept
    cdef double width(self) noexcept
    cdef bytearray evaluate(self, dict gaps, list columns)
    cdef int newton_step(self, Py_ssize_t m, double *example, list columns, Py_ssize_t y) except -1
