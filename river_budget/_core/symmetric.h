/* Symmetric matrices of floats or doubles as lower triangles, for products and rank-one updates.

   A triangle is stored row by row. Rows are in groups of 8, and those of group g have 8 (g + 1) elements each,
   so that the blocks on the diagonal are whole squares. A matrix has a multiple of 4 rows. Lengths of vectors are
   multiples of 8 where nothing else is said, and all elements beyond the matrix are 0. `loops.h` includes this
   header, and then once more for each width of vectors, where it includes itself for each type T of elements. */
#ifndef W
#include <math.h>

struct symmetric_loops {
    void (*multiply)(const void *m, const void *x, void *product, long n); /* product = M x */
    void (*column)(const void *m, long j, void *unit, void *column, long n); /* unit = e_j, column = M e_j */
    void (*subtract)(void *m, double factor, const void *x, long n); /* M = factor M - x x' */
    double (*dot)(const void *a, const void *b, long n);
    void (*add_multiple)(void *a, double factor, const void *b, long n); /* a += factor b */
    void (*scale)(void *a, double factor, long n);
    void (*waves)(const double *x, double factor, void *waves, long n); /* factor (cos x, sin x), for any n */
    void (*hadamard)(void *x, const signed char *signs, long n); /* x = H D x with signs D, n a power of 2 */
    void (*add_floats)(void *sum, double factor, const float *terms, long n); /* sum += factor terms, for any n */
};

typedef float eight_float __attribute__((vector_size(32), aligned(4)));
typedef double eight_double __attribute__((vector_size(64), aligned(8)));

#define OF(type, x) JOINED(JOINED(type, _##x##_), W)
#define OF_TYPE(x) OF(T, x)
#define SYMMETRIC_LOOPS(type)                                                                            \
    {OF(type, multiply), OF(type, column), OF(type, subtract), OF(type, dot), OF(type, add_multiple), \
     OF(type, scale),    OF(type, waves),  OF(type, hadamard), OF(type, add_floats)}
#define EIGHT JOINED(eight_, T)
/* Eight elements from an address on. */
#define AT(p) (*(EIGHT *)(p))
#define CONST_AT(p) (*(const EIGHT *)(p))

#elif !defined T
#define T float
#include "symmetric.h"
#undef T
#define T double
#include "symmetric.h"
#undef T
#else /* the body for elements of type T and vectors of W doubles */

static inline T OF_TYPE(total)(EIGHT t) {
    return ((t[0] + t[4]) + (t[2] + t[6])) + ((t[1] + t[5]) + (t[3] + t[7]));
}

/* Four rows at a time. What is before the block on the diagonal, which begins at column `before`, is multiplied
   as rows and, as the matrix is symmetric, as columns. */
static void OF_TYPE(multiply)(const void *m, const void *vector, void *result, long n) {
    const T *rows = m, *x = vector;
    T *product = result;
    for (long i = 0; i < n; i += 4) {
        long before = i / 8 * 8, length = before + 8;
        EIGHT sums[4] = {{0}}, row[4];
        for (long j = 0; j < before; j += 8) {
            for (int r = 0; r < 4; r++) row[r] = CONST_AT(rows + r * length + j);
            for (int r = 0; r < 4; r++) sums[r] += row[r] * CONST_AT(x + j);
            AT(product + j) += (row[0] * x[i] + row[1] * x[i + 1]) + (row[2] * x[i + 2] + row[3] * x[i + 3]);
        }
        for (int r = 0; r < 4; r++, rows += length)
            product[i + r] = OF_TYPE(total)(sums[r] + CONST_AT(rows + before) * CONST_AT(x + before));
    }
}

static void OF_TYPE(column)(const void *m, long j, void *unit, void *column, long n) {
    const T *elements = m;
    T *to = column;
    memset(unit, 0, n * sizeof(T));
    ((T *)unit)[j] = 1;
    for (long i = 0; i < n; i++) {
        long row = i < j ? j : i, g = row / 8, row_start = 8 * (g + 1) * (row - 4 * g);
        to[i] = elements[row_start + (i < j ? i : j)];
    }
}

static void OF_TYPE(subtract)(void *m, double factor, const void *vector, long n) {
    T *a = m, f = (T)factor;
    const T *x = vector;
    for (long i = 0; i < n; i++)
        for (long j = 0; j <= i; j += 8, a += 8) AT(a) = f * CONST_AT(a) - x[i] * CONST_AT(x + j);
}

static double OF_TYPE(dot)(const void *left, const void *right, long n) {
    const T *a = left, *b = right;
    EIGHT even = {0}, odd = {0};
    long j = 0;
    for (; j + 8 < n; j += 16) {
        even += CONST_AT(a + j) * CONST_AT(b + j);
        odd += CONST_AT(a + j + 8) * CONST_AT(b + j + 8);
    }
    if (j < n) even += CONST_AT(a + j) * CONST_AT(b + j);
    return OF_TYPE(total)(even + odd);
}

static void OF_TYPE(add_multiple)(void *sum, double factor, const void *terms, long n) {
    T *a = sum, f = (T)factor;
    const T *b = terms;
    for (long j = 0; j < n; j += 8) AT(a + j) += f * CONST_AT(b + j);
}

static void OF_TYPE(scale)(void *a, double factor, long n) {
    for (long j = 0; j < n; j++) ((T *)a)[j] *= (T)factor;
}

static void OF_TYPE(waves)(const double *x, double factor, void *waves, long n) {
    T *cosines = waves, *sines = cosines + n;
    for (long j = 0; j < n; j++) {
        cosines[j] = (T)(factor * cos(x[j]));
        sines[j] = (T)(factor * sin(x[j]));
    }
}

static void OF_TYPE(hadamard)(void *vector, const signed char *signs, long n) {
    T *x = vector;
    for (long j = 0; j < n; j++) x[j] *= (T)signs[j];
    for (long half = 1; half < n; half *= 2)
        for (long i = 0; i < n; i += 2 * half)
            for (long j = i; j < i + half; j++) {
                T a = x[j], b = x[j + half];
                x[j] = a + b;
                x[j + half] = a - b;
            }
}

static void OF_TYPE(add_floats)(void *sum, double factor, const float *terms, long n) {
    for (long j = 0; j < n; j++) ((T *)sum)[j] += (T)factor * (T)terms[j];
}

#endif
