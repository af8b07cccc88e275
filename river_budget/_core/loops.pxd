# The table of hot loops of `loops.h`, for the widest vectors of the machine; other modules cimport it.
from libc.stdint cimport int64_t

cdef extern from "loops.h":
    ctypedef void (*OverColumns)(
        const double *v, const double *w, const double **columns, long m, long n, double *row
    ) noexcept nogil
    ctypedef void (*OverArrays)(
        double w, const double *elements, const void *matrix, long size, long n, double *row
    ) noexcept nogil
    struct Loops "loops":
        double (*dot)(const double *a, const double *b, long n) noexcept nogil
        long (*least)(const int64_t *numbers, long n) noexcept nogil
        long (*exceeds)(const double *values, double limit, long n) noexcept nogil
        void (*forward)(const double *packed, const double *right, double *z, long n) noexcept nogil
        void (*backward)(const double *packed, double *d, long n) noexcept nogil
        OverColumns sums[2][4]
        OverColumns overlaps[4]
        OverArrays add_arrays[2][4]
        void (*combine)(
            double constant, const double *statistics, double factor, long n, double *row
        ) noexcept nogil
        void (*exponential)(double gamma, long n, double *row) noexcept nogil
        void (*rational)(double gamma, long n, double *row) noexcept nogil
        void (*power)(double gamma, double coef0, long degree, long n, double *row) noexcept nogil
        void (*normalize)(double norm, const double *norms, long n, double *row) noexcept nogil
    int choose_lanes(Loops *table, int most)

cdef extern from "lanes.h":
    enum: LANES

cdef Loops loops
