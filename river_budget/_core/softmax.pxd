from libc.math cimport INFINITY, exp, fmax


cdef inline void softmax(const double *logits, double *weights, Py_ssize_t n) noexcept nogil:
    """Compute the softmax of n logits; `logits` and `weights` may be the same array."""
    cdef Py_ssize_t i
    cdef double largest = -INFINITY, total = 0.0
    for i in range(n):
        largest = fmax(largest, logits[i])
    for i in range(n):
        weights[i] = exp(logits[i] - largest)
        total += weights[i]
    for i in range(n):
        weights[i] /= total
