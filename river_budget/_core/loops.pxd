# The table of hot loops, `loops`, for the widest vectors that the machine supports.
#
# `loops.h` says what each does. The module owns the table, which `use_lanes` fills; others read it alone.
from libc.stdint cimport int64_t

cdef extern from "loops.h":
    struct SymmetricLoops "symmetric_loops":
        void (*multiply)(const void *m, const void *x, void *product, long n) noexcept nogil
        void (*column)(const void *m, long j, void *unit, void *column, long n) noexcept nogil
        void (*subtract)(void *m, double factor, const void *x, long n) noexcept nogil
        double (*dot)(const void *a, const void *b, long n) noexcept nogil
        void (*add_multiple)(void *a, double factor, const void *b, long n) noexcept nogil
        void (*scale)(void *a, double factor, long n) noexcept nogil
        void (*waves)(const double *x, double factor, void *to, long n) noexcept nogil
        void (*hadamard)(void *x, const signed char *signs, long n) noexcept nogil
        void (*add_floats)(void *sum, double factor, const float *terms, long n) noexcept nogil
    ctypedef void (*OverColumns)(
        const double *values, const double *weights, const double **columns, long m, long n, double *row
    ) noexcept nogil
    ctypedef void (*OverArrays)(
        double weight, const double *elements, const void *matrix, long size, long n, double *row
    ) noexcept nogil
    enum: GROUP
    enum: MOST_TERMS
    struct Triangle "triangle":
        long width
        double *blocks
        double *diagonal
        double *terms
        double *signs
        long n_terms
    struct Examples "examples":
        const double *table
        const double *scores
        const double *weights
        const int64_t *example_labels
        const double *steps
        const int64_t *labels
        const int64_t *rivals
        long m, n, stride, room, n_labels
    struct Removals "removals":
        void (*losses)(const Examples *e, double *sums, double *scratch) noexcept nogil
        long (*unique_largest)(const double *row, long n) noexcept nogil
    struct Loops "loops":
        SymmetricLoops symmetric[2]
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
        double (*inner)(const double *a, const double *b, long n) noexcept nogil
        void (*add_multiple)(double *a, double factor, const double *b, long n) noexcept nogil
        void (*multiply)(Triangle *m, const double *x, double *product, long n) noexcept nogil
        void (*take_column)(Triangle *m, long j, double *column, long n) noexcept nogil
        void (*get_diagonal)(const Triangle *m, double *diagonal, long n) noexcept nogil
        void (*add_squares)(
            double *squares, double root, const double *mean, double change, const double *c, long n
        ) noexcept nogil
        void (*add_scores)(
            double *scores, double share, const double *squares, const double *prior, double scale,
            const double *variances, double r, const double *c, long n
        ) noexcept nogil
        void (*add_change)(
            double *mean, double change, const double *c, double share, const double *p, double root, long n
        ) noexcept nogil
        Removals removals
    long blocks_before(long g) noexcept nogil
    double *new_terms(Triangle *m, long n_new, double sign) noexcept nogil
    int choose_lanes(Loops *table, int most)

cdef extern from "lanes.h":
    enum: LANES

cdef Loops loops
