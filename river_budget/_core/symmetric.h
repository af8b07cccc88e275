/* Symmetric matrices of floats or doubles as lower triangles, for products and rank-one updates.

   A triangle is a group of 8 rows after the other; those of group g have 8 (g + 1) elements each, so the
   blocks on the diagonal are whole. A matrix has a multiple of 4 rows; lengths of vectors are multiples
   of 8, and what is beyond the matrix is 0. This header includes itself for each width of vectors and
   each type; see `lanes.h` and `loops.h`. */
#ifndef T
#include "lanes.h"

struct symmetric_loops {
    /* product = M x */
    void (*multiply)(const void *m, const void *x, void *product, long n);
    /* column = M e_j */
    void (*column)(const void *m, long j, void *column, long n);
    /* M = factor M - x x' */
    void (*subtract)(void *m, double factor, const void *x, long n);
    double (*dot)(const void *a, const void *b, long n);
    /* a += factor b */
    void (*add_multiple)(void *a, double factor, const void *b, long n);
    /* to = factor from; they may be the same if the types are */
    void (*convert)(const double *from, double factor, void *to, long n);
    void (*scale)(void *a, double factor, long n);
    /* Multiply a vector by signs, then by the Hadamard matrix, where n is a power of two. */
    void (*hadamard)(void *x, const signed char *signs, long n);
    /* sum += factor terms */
    void (*add_floats)(void *sum, double factor, const float *terms, long n);
};

typedef float eight_float __attribute__((vector_size(32), aligned(4)));
typedef double eight_double __attribute__((vector_size(64), aligned(8)));

#define JOIN3(a, b, c) a##b##c
#define JOINED3(a, b, c) JOIN3(a, b, c)
#define OF_TYPE(x) JOINED3(T, _##x##_, W)
#define EIGHT JOINED(eight_, T)
#define AT(p) (*(EIGHT *)(p))
#define CONST_AT(p) (*(const EIGHT *)(p))

/* The place of an element, where j is not above the blocks of row i. */
static inline long symmetric_place(long i, long j) {
    long g = i / 8;
    return 32 * g * (g + 1) + i % 8 * 8 * (g + 1) + j;
}

#define T float
#define BODY "symmetric.h"
#include "targets.h"
#undef T
#define T double
#define BODY "symmetric.h"
#include "targets.h"
#undef T

#define FLOAT_TABLE(w) JOIN(float_table_, w)
#define DOUBLE_TABLE(w) JOIN(double_table_, w)

/* Fill two tables, for floats and for doubles, with the loops for vectors of at most so many doubles;
   return how many they have. */
static int choose_symmetric_lanes(struct symmetric_loops *tables, int most) {
    int lanes = widest_lanes(most < 4 ? most : 4);
    tables[0] = TABLE_4(FLOAT_TABLE, lanes);
    tables[1] = TABLE_4(DOUBLE_TABLE, lanes);
    return lanes;
}

#else /* the body for elements of type T and vectors of W doubles */

static inline T OF_TYPE(total)(EIGHT t) {
    return ((t[0] + t[4]) + (t[2] + t[6])) + ((t[1] + t[5]) + (t[3] + t[7]));
}

static void OF_TYPE(multiply)(const void *m, const void *vector, void *result, long n) {
    const T *a = m, *x = vector;
    T *product = result;
    for (long g = 0; g < n; g += 8) {
        for (long i = g; i < g + 8 && i < n; i += 4) {
            const T *b = a + g + 8, *c = b + g + 8, *d = c + g + 8;
            EIGHT p = {0}, q = {0}, r = {0}, s = {0};
            for (long j = 0; j < g; j += 8) {
                EIGHT x_j = CONST_AT(x + j), a_j = CONST_AT(a + j), b_j = CONST_AT(b + j);
                EIGHT c_j = CONST_AT(c + j), d_j = CONST_AT(d + j);
                p += a_j * x_j, q += b_j * x_j, r += c_j * x_j, s += d_j * x_j;
                AT(product + j) += (a_j * x[i] + b_j * x[i + 1]) + (c_j * x[i + 2] + d_j * x[i + 3]);
            }
            EIGHT x_g = CONST_AT(x + g);
            product[i] = OF_TYPE(total)(p + CONST_AT(a + g) * x_g);
            product[i + 1] = OF_TYPE(total)(q + CONST_AT(b + g) * x_g);
            product[i + 2] = OF_TYPE(total)(r + CONST_AT(c + g) * x_g);
            product[i + 3] = OF_TYPE(total)(s + CONST_AT(d + g) * x_g);
            a = d + g + 8;
        }
    }
}

static void OF_TYPE(column)(const void *m, long j, void *column, long n) {
    const T *a = m;
    T *to = column;
    for (long i = 0; i < n; i++) to[i] = a[i < j ? symmetric_place(j, i) : symmetric_place(i, j)];
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

static void OF_TYPE(convert)(const double *from, double factor, void *to, long n) {
    for (long j = 0; j < n; j++) ((T *)to)[j] = (T)(factor * from[j]);
}

static void OF_TYPE(scale)(void *a, double factor, long n) {
    for (long j = 0; j < n; j++) ((T *)a)[j] *= (T)factor;
}

static void OF_TYPE(hadamard)(void *vector, const signed char *signs, long n) {
    T *x = vector;
    for (long j = 0; j < n; j++) x[j] *= (T)signs[j];
    for (long h = 1; h < 8; h *= 2)
        for (long i = 0; i < n; i += 2 * h)
            for (long j = i; j < i + h; j++) {
                T a = x[j], b = x[j + h];
                x[j] = a + b, x[j + h] = a - b;
            }
    for (long h = 8; h < n; h *= 2)
        for (long i = 0; i < n; i += 2 * h)
            for (long j = i; j < i + h; j += 8) {
                EIGHT a = CONST_AT(x + j), b = CONST_AT(x + j + h);
                AT(x + j) = a + b, AT(x + j + h) = a - b;
            }
}

static void OF_TYPE(add_floats)(void *sum, double factor, const float *terms, long n) {
    for (long j = 0; j < n; j++) ((T *)sum)[j] += (T)factor * (T)terms[j];
}

static const struct symmetric_loops OF_TYPE(table) = {
    OF_TYPE(multiply), OF_TYPE(column), OF_TYPE(subtract), OF_TYPE(dot), OF_TYPE(add_multiple),
    OF_TYPE(convert), OF_TYPE(scale), OF_TYPE(hadamard), OF_TYPE(add_floats)};

#endif
