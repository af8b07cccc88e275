# The tables of hot loops of `symmetric.h`, for floats and for doubles; other modules cimport them.

cdef extern from "symmetric.h":
    struct Loops "symmetric_loops":
        void (*multiply)(const void *m, const void *x, void *product, long n) noexcept nogil
        void (*column)(const void *m, long j, void *column, long n) noexcept nogil
        void (*subtract)(void *m, double factor, const void *x, long n) noexcept nogil
        double (*dot)(const void *a, const void *b, long n) noexcept nogil
        void (*add_multiple)(void *a, double factor, const void *b, long n) noexcept nogil
        void (*convert)(const double *x, double factor, void *to, long n) noexcept nogil
        void (*scale)(void *a, double factor, long n) noexcept nogil
        void (*hadamard)(void *x, const signed char *signs, long n) noexcept nogil
        void (*add_floats)(void *sum, double factor, const float *terms, long n) noexcept nogil
    long symmetric_place(long i, long j) noexcept nogil
    int choose_symmetric_lanes(Loops *tables, int most)

cdef enum: FLOATS, DOUBLES

cdef Loops[2] loops
