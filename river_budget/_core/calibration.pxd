# Calibration maps: their probabilities, and one online Newton step for each.
#
# A classifier's probabilities may be too sure or too timid. A map turns its logits into better ones. The gap of a
# label is the largest logit minus its own. A label has two features: minus its gap, and minus the square root of it.
# Its logit under the map is the sum of both features, each times a slope, and of a bias of the label, which is 0 for
# a label that was never learned. The map begins as the identity.
#
# The `Calibrator` has N_MAPS maps, which forget at different speeds, and mixes their probabilities with those of the
# model itself, weighted by how likely each of them made the labels so far. It owns all of that, knows neither the
# model nor River, and is used from Python: labels are the keys of a dict of gaps.
#
# What always holds: the last row of `biases` is 0, and the weights of the mixture are positive with a sum of 1.
cdef enum: N_MAPS = 3

cdef struct Map:
    double a, b                       # its slopes, of the gap and of its root
    double aa, ab, bb                 # the sum of the Hessians of the slopes

cdef struct Bias:                     # the bias of one label in one map
    double value
    double a, b, curvature            # the sums of the Hessians: with both slopes, and of the bias alone


cdef class Calibrator:
    cdef dict columns                 # label -> row of `biases`, in the order in which labels came
    cdef double[:, ::1] maps          # a `Map` in each row
    cdef double[:, :, ::1] biases     # a `Bias` (labels + 1, maps, 4); the last row is 0, for unknown labels
    cdef double[::1] mixture          # weights of the model and the maps (1 + maps,)
    cdef double square                # the mean square of the largest gap, over the examples that have one
    cdef Py_ssize_t n_gaps            # the number of these

    cdef Bias *bias_of(self, Py_ssize_t column, Py_ssize_t m) noexcept
    cdef double width(self) noexcept
    # Return rows by labels: minus the gaps, minus their roots, and the probabilities of the model and of each map.
    cdef bytearray evaluate(self, dict gaps, list columns)
    # Improve map m by an example, given these rows and the position of its label in them.
    cdef int newton_step(self, Py_ssize_t m, double *rows, list columns, Py_ssize_t y) except -1
