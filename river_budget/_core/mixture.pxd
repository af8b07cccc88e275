# A mixture of experts, each of which gives each label a probability: two layers of weights, and how they learn.
#
# A hedge and two mixers, a slow and a fast one, each weigh the experts; a second hedge weighs these three, and
# its mean is the forecast. A hedge weighs by how probable the labels were that came, a mixer is an online
# logistic regression on the log probabilities. Experts and the model as a whole, or a root and a leaf, may be
# mixed: a mixture knows nothing of where the probabilities come from.
#
# Who owns a mixture fills `probabilities`, and calls `mix`. A label that came, or was rehearsed, is learned in two
# steps: `add_steps` computes what it changes, in the last forecast, and changes nothing that is learned; `apply`
# adds all steps since `forget_steps`. None of these can fail.
#
# Two mixtures may weigh the same experts, see `switch.pxd`: they share the probabilities and logarithms, and the
# second one only weighs them.
#
# The log weights of the hedges may be exchanged for others (`take_hedges`): then one object mixes for many
# owners that share the mixers.
cdef enum:
    N_MIXTURES = 3                     # a hedge and two mixers


cdef class Mixture:
    cdef readonly Py_ssize_t n_experts, n_labels
    cdef double[2] decays              # of the log weights of the first and of the second hedge, in each round
    cdef double[2] rates               # learning rates of the slow and of the fast mixer
    # The log weights of the hedge, the weights of the slow and of the fast mixer, and the log weights of
    # the three in the forecast (3 experts + 3,); what a round adds to them; the weights of the experts in
    # the hedge, and of the three in the forecast (experts + 3,).
    cdef double[::1] learned, steps
    cdef readonly double[::1] weights
    # The last forecast: probabilities (experts, labels), their logarithms, up to a term for each expert,
    # and the three mixtures and the forecast (4, labels).
    cdef double[:, ::1] probabilities, logs, mixtures

    # Compute the forecast from the probabilities of the experts: their logarithms, and the weighted means.
    cdef void mix(self) noexcept nogil
    cdef void take_logs(self) noexcept nogil
    cdef void weigh(self) noexcept nogil
    cdef void forget_steps(self) noexcept nogil
    # Add what a label changes in the last forecast, with its share in the hedges and in the mixers, and a
    # charge on the log probabilities of the mixers: the weights of the experts, and of the three.
    cdef void add_steps(self, Py_ssize_t label, double hedges, double mixers, double charge) noexcept nogil
    cdef void add_steps_of_experts(self, Py_ssize_t label, double hedges, double mixers) noexcept nogil
    cdef void apply(self) noexcept nogil
    # Compute the weights of both hedges from their logarithms.
    cdef void normalize(self) noexcept nogil
    # Copy the log weights of both hedges from or to an array (experts + 3,).
    cdef void take_hedges(self, const double *log_weights) noexcept nogil
    cdef void give_hedges(self, double *log_weights) noexcept nogil
    # Move the steps of both hedges to such an array, and add them again; or add them to other log weights.
    cdef void take_steps(self, double *steps) noexcept nogil
    cdef void return_steps(self, const double *steps) noexcept nogil
    cdef void apply_to(self, double *log_weights, const double *steps) noexcept nogil
    # Return the arrays for a number of labels, which `widen` puts in their place.
    cdef tuple widened(self, Py_ssize_t n_labels)
    cdef int widen(self, tuple arrays) except -1
    # Learn what another mixture of the same experts has learned, and what it adds in this round.
    cdef void copy(self, Mixture other) noexcept nogil


# Return what the probability of a label that came adds to the log weight in a hedge.
cdef double gain(double probability) noexcept nogil
# Make two probabilities, whose sum is nearly 1, exactly as far from a half as each other.
cdef void balance_pair(double *forecast) noexcept nogil
