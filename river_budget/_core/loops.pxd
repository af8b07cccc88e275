# The table of hot loops of `loops.h`, for the widest vectors of the machine; other modules cimport it.

cdef extern from "loops.h":
    struct Loops "loops":
        void (*forward)(const double *packed, const double *right, double *z, long n) noexcept nogil
        void (*backward)(const double *packed, double *d, long n) noexcept nogil
    int choose_lanes(Loops *table, int most)

cdef Loops loops
