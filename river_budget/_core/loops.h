/* The hot loops, each formula once.

   There is one body for vectors of 2, 4 and 8 doubles: this header includes itself for each of them, and
   `choose_lanes` takes the widest that processor and system support. Sums are added up in the same order
   in all of them, and products are never fused (-ffp-contract=off), so that all machines get the same bits. */
#ifndef W
#include "lanes.h"
#include "removal.h"
#include "triangles.h"

#define COLUMNS const double *v, const double *w, const double *const *columns, long m, long n, double *row
#define ARRAYS double w, const double *elements, const void *matrix, long size, long n, double *row

typedef void (*OverColumns)(COLUMNS);
typedef void (*OverArrays)(ARRAYS);

/* Powers of 2 with the exponents 0, 1/16, ..., 15/16 as numbers of bits, less 1/16, ..., 15/16 in the field
   of the exponent; and coefficients of the polynomial of exp, from that of x^2 on. */
static const int64_t POWERS[] = {
    0x3ff0000000000000, 0x3fefb5586cf9890f, 0x3fef72b83c7d517b, 0x3fef387a6e756238,
    0x3fef06fe0a31b715, 0x3feedea64c123422, 0x3feebfdad5362a27, 0x3feeab07dd485429,
    0x3feea09e667f3bcd, 0x3feea11473eb0187, 0x3feeace5422aa0db, 0x3feec49182a3f090,
    0x3feee89f995ad3ad, 0x3fef199bdd85529c, 0x3fef5818dcfba487, 0x3fefa4afa2a490da};
static const double EXP[] = {
    0x1.0000000000005p-1, 0x1.555555548ebc9p-3, 0x1.555555545dd6cp-5, 0x1.11123b47f2e56p-7,
    0x1.6c185e8d5da03p-10};

#include "symmetric.h"

/* A packed triangle holds row after row of a lower triangular matrix L. */
struct loops {
    struct symmetric_loops symmetric[2]; /* for floats and for doubles */
    /* The inner product of two vectors, n of whose elements are read, a multiple of 8. */
    double (*dot)(const double *a, const double *b, long n);
    /* The place of the least of n different numbers. */
    long (*least)(const int64_t *numbers, long n);
    /* Whether one of n values is above a limit. */
    long (*exceeds)(const double *values, double limit, long n);
    /* Solve L z = right; z may be right. */
    void (*forward)(const double *packed, const double *right, double *z, long n);
    /* Solve L' d = d in place. */
    void (*backward)(const double *packed, double *d, long n);
    /* Inner statistics of x and n vectors, a multiple of 8, whose m features are in columns: v are the
       values of x, w the weights of the features (gamma times weight in sums of rationals). `overlaps`
       are what a shared feature adds to the statistics of x and a vector alone. */
    OverColumns sums[2][4]; /* weighted or plain, and by statistic */
    OverColumns overlaps[4];
    /* The same for an array of x and the rows of a matrix (n, size), added to the row; w is a number. */
    OverArrays add_arrays[2][4]; /* by float or double, and by statistic */
    /* row = max(0, (constant + statistics) + factor row) */
    void (*combine)(double constant, const double *statistics, double factor, long n, double *row);
    /* Kernel functions of a row in place. */
    void (*exponential)(double gamma, long n, double *row);
    void (*rational)(double gamma, long n, double *row);
    void (*power)(double gamma, double coef0, long degree, long n, double *row);
    /* row / (norm norms), 0 where that is 0 */
    void (*normalize)(double norm, const double *norms, long n, double *row);
    /* Vectors and matrices of `triangles.h`: the inner product, a += factor b, and the product of a matrix
       with n rows and x. If there are enough terms, that adds a group of them to the blocks. */
    double (*inner)(const double *a, const double *b, long n);
    void (*add_multiple)(double *a, double factor, const double *b, long n);
    void (*multiply)(struct triangle *m, const double *x, double *product, long n);
    /* Copy column j of a matrix with n rows, and set it and row j to 0. */
    void (*take_column)(struct triangle *m, long j, double *column, long n);
    void (*get_diagonal)(const struct triangle *m, double *diagonal, long n);
    /* squares += (root mean + change c)^2 */
    void (*add_squares)(
        double *squares, double root, const double *mean, double change, const double *c, long n);
    /* scores += share squares / (prior + scale variances + r c^2) */
    void (*add_scores)(double *scores, double share, const double *squares, const double *prior, double scale,
                       const double *variances, double r, const double *c, long n);
    /* mean += (change c - share p) / root */
    void (*add_change)(
        double *mean, double change, const double *c, double share, const double *p, double root, long n);
    struct removals removals;
};

/* What the body is made of; W is the number of doubles of a vector.

   Sums have so many parts, whatever the width; that of `dot` has twice as many. */
#define PARTS 8
#define V NAME(v)
#define I NAME(i)
#define EACH(x) ((x) - (V){0})
#define INTO(p) (*(V *)(p))
#define READ(p) (*(const V *)(p))
#define EACH_OF(K) for (int k = 0; k < K; k++)
#define ABS(x) ((V)((I)(x) & INT64_MAX))
/* GCC makes one instruction of these, and several of its own __builtin_convertvector. */
#define PAIR(p) (p)[0], (p)[1]
#define WIDENED_2(p) ((V){PAIR(p)})
#define WIDENED_4(p) ((V){PAIR(p), PAIR((p) + 2)})
#define WIDENED_8(p) ((V){PAIR(p), PAIR((p) + 2), PAIR((p) + 4), PAIR((p) + 6)})

/* The powers of a vector of places, which are taken modulo 16. */
#define POWER_OF(t, i) POWERS[(t)[i] & 15]
#define TWO_POWERS(t, i) POWER_OF(t, i), POWER_OF(t, i + 1)
#define LOOK_UP_2(t) ((I){TWO_POWERS(t, 0)})
#define LOOK_UP_4(t) ((I){TWO_POWERS(t, 0), TWO_POWERS(t, 2)})
#ifdef __clang__
#define LOOK_UP_8(t) ((I){TWO_POWERS(t, 0), TWO_POWERS(t, 2), TWO_POWERS(t, 4), TWO_POWERS(t, 6)})
#else
#define LOOK_UP_8(t) __builtin_shuffle(*(const I *)POWERS, *(const I *)(POWERS + 8), t)
#endif

/* The terms of a feature: x and s are its values, d is their difference, y its weight. */
#define PRODUCT (x * s)
#define SQUARE (d * d)
#define WEIGHTED_SQUARE (y * (d * d))
#define ABSOLUTE (y * ABS(d))
#define RATIONAL (1.0 / (1.0 + y * d * d))
#define ABSOLUTE_OVERLAP (y * ((ABS(d) - ABS(x)) - ABS(s)))
#define RATIONAL_OVERLAP \
    ((1.0 / (1.0 + y * d * d) - 1.0 / (1.0 + y * x * x)) + (1.0 - 1.0 / (1.0 + y * s * s)))

/* Add up the terms of all features for K vectors of slots, from slot i on. */
#define ADD_COLUMNS(TERM, K)                                         \
    {                                                                \
        V sums[K] = {{0}};                                           \
        for (long j = 0; j < m; j++) {                               \
            V x = EACH(v[j]), y = EACH(w[j]);                        \
            for (int k = 0; k < K; k++) {                            \
                V s = READ(columns[j] + i + k * W), d = x - s;       \
                sums[k] += TERM;                                     \
            }                                                        \
        }                                                            \
        for (int k = 0; k < K; k++) INTO(row + i + k * W) = sums[k]; \
    }
#define OVER_COLUMNS(name, TERM)                                \
    static void NAME(name)(COLUMNS) {                           \
        long i = 0;                                             \
        for (; i + 4 * W <= n; i += 4 * W) ADD_COLUMNS(TERM, 4) \
        for (; i < n; i += W) ADD_COLUMNS(TERM, 1)              \
    }

/* Sums over the elements of arrays, of four at a time, so that no addition waits for the one before it.
   Elements that fill no group of PARTS are padded with zeros of both sides, and REST is what such a pair
   adds. */
#define ADD_PARTS(LOAD, TERM, elements, others)    \
    for (int k = 0; k < PARTS / W; k++) {          \
        V x = READ(elements + k * W);              \
        for (int r = 0; r < 4; r++) {              \
            V s = LOAD(others + k * W), d = x - s; \
            sums[r][k] += TERM;                    \
        }                                          \
    }
#define OVER_ARRAYS(name, TYPE, LOAD, TERM, REST, FACTOR)                                         \
    static void NAME(name)(ARRAYS) {                                                              \
        V y = EACH(w);                                                                            \
        for (long i = 0; i < n; i += 4) {                                                         \
            const TYPE *t[4];                                                                     \
            V sums[4][PARTS / W] = {{{0}}};                                                       \
            double p[PARTS], rest = 0.0;                                                          \
            long j = 0;                                                                           \
            for (int r = 0; r < 4; r++) t[r] = (const TYPE *)matrix + (i + r < n ? i + r : n - 1) * size; \
            for (; j + PARTS <= size; j += PARTS) ADD_PARTS(LOAD, TERM, elements + j, t[r] + j)   \
            if (j < size) {                                                                       \
                double last_x[PARTS] = {0};                                                       \
                TYPE last[4][PARTS] = {{0}};                                                      \
                memcpy(last_x, elements + j, (size - j) * sizeof(double));                        \
                for (int r = 0; r < 4; r++) memcpy(last[r], t[r] + j, (size - j) * sizeof(TYPE)); \
                ADD_PARTS(LOAD, TERM, last_x, last[r])                                            \
                rest = REST * (PARTS - (size - j));                                               \
            }                                                                                     \
            for (int r = 0; r < 4 && i + r < n; r++) {                                            \
                memcpy(p, sums[r], sizeof p);                                                     \
                row[i + r] += FACTOR * ((((p[0] + p[4]) + (p[2] + p[6])) + ((p[1] + p[5]) + (p[3] + p[7]))) - rest); \
            }                                                                                     \
        }                                                                                         \
    }

/* The bodies: one for SSE2, NEON and WebAssembly and, on x86-64, two more. */
BEGIN_LOOPS
#define W 2
#include "loops.h"
#undef W
END_LOOPS
#if defined(__x86_64__)
BEGIN_TARGET("avx2")
#define W 4
#include "loops.h"
#undef W
END_TARGET
BEGIN_TARGET("avx512f,avx512dq,avx512vl")
#define W 8
#include "loops.h"
#undef W
END_TARGET
#endif

/* Fill the table with the loops for vectors of at most so many doubles; return how many they have. */
static int choose_lanes(struct loops *table, int most) {
    int lanes = supported_lanes();
    while (lanes > 2 && lanes > most) lanes /= 2;
    *table = table_2;
#if defined(__x86_64__)
    if (lanes > 2) *table = lanes == 8 ? table_8 : table_4;
#endif
    return lanes;
}

#else /* the body for vectors of W doubles */

#include "symmetric.h"

typedef double NAME(v) __attribute__((vector_size(8 * W), aligned(8)));
typedef int64_t NAME(i) __attribute__((vector_size(8 * W), aligned(8)));

#include "removal.h"
#include "triangles.h"

/* The products of four rows with z, n of them each, n a multiple of 4. */
static inline void NAME(four_products)(const double *const *rows, const double *z, long n, double *sums) {
    V s[4][PARTS / W];
    long j = 0;
    memset(s, 0, sizeof s);
    for (; j + PARTS <= n; j += PARTS)
        for (int r = 0; r < 4; r++)
            for (int k = 0; k < PARTS / W; k++)
                s[r][k] += READ(rows[r] + j + k * W) * READ(z + j + k * W);
    for (int r = 0; r < 4; r++) {
        double t[PARTS];
        memcpy(t, s[r], sizeof t);
        if (j < n)
            for (int k = 0; k < 4; k++) t[k] += rows[r][j + k] * z[j + k];
        sums[r] = ((t[0] + t[4]) + (t[2] + t[6])) + ((t[1] + t[5]) + (t[3] + t[7]));
    }
}

static void NAME(forward)(const double *packed, const double *right, double *z, long n) {
    const double *row = packed;
    double sums[4];
    long i = 0, j;
    for (; i + 4 <= n; i += 4) {
        const double *b = row + i + 1, *c = b + i + 2, *d = c + i + 3;
        const double *const rows[4] = {row, b, c, d};
        NAME(four_products)(rows, z, i, sums);
        double z0 = (right[i] - sums[0]) / row[i];
        double z1 = (right[i + 1] - sums[1] - b[i] * z0) / b[i + 1];
        double z2 = (right[i + 2] - sums[2] - c[i] * z0 - c[i + 1] * z1) / c[i + 2];
        double z3 = (right[i + 3] - sums[3] - d[i] * z0 - d[i + 1] * z1 - d[i + 2] * z2) / d[i + 3];
        z[i] = z0, z[i + 1] = z1, z[i + 2] = z2, z[i + 3] = z3;
        row = d + i + 4;
    }
    /* At most three rows are left. */
    const double *b = n - i > 1 ? row + i + 1 : row, *c = n - i > 2 ? row + 2 * i + 3 : row;
    const double *const rows[4] = {row, b, c, row};
    if (i < n) NAME(four_products)(rows, z, i, sums);
    for (long k = i; k < n; k++) {
        double sum = sums[k - i];
        for (j = i; j < k; j++) sum += rows[k - i][j] * z[j];
        z[k] = (right[k] - sum) / rows[k - i][k];
    }
}

/* Subtracts rows in groups of four, which halves the time that one at a time takes. */
static void NAME(backward)(const double *packed, double *d, long n) {
    const double *row = packed + n * (n + 1) / 2;
    long i = n - 1, j;
    for (; i % 4 != 3 && i >= 0; i--) {
        row -= i + 1;
        d[i] /= row[i];
        for (j = 0; j < i; j++) d[j] -= d[i] * row[j];
    }
    for (i -= 3; i >= 0; i -= 4) {
        const double *d_row = row - (i + 4), *c_row = d_row - (i + 3), *b_row = c_row - (i + 2);
        const double *a_row = row = b_row - (i + 1);
        double d3 = d[i + 3] / d_row[i + 3];
        double d2 = (d[i + 2] - d3 * d_row[i + 2]) / c_row[i + 2];
        double d1 = (d[i + 1] - d3 * d_row[i + 1] - d2 * c_row[i + 1]) / b_row[i + 1];
        double d0 = (d[i] - d3 * d_row[i] - d2 * c_row[i] - d1 * b_row[i]) / a_row[i];
        d[i] = d0, d[i + 1] = d1, d[i + 2] = d2, d[i + 3] = d3;
        for (j = 0; j + W <= i; j += W)
            INTO(d + j) -= d0 * READ(a_row + j) + d1 * READ(b_row + j) + d2 * READ(c_row + j) +
                           d3 * READ(d_row + j);
        for (; j < i; j++) d[j] -= d0 * a_row[j] + d1 * b_row[j] + d2 * c_row[j] + d3 * d_row[j];
    }
}

OVER_COLUMNS(products, PRODUCT)
OVER_COLUMNS(squares, SQUARE)
OVER_COLUMNS(weighted_squares, WEIGHTED_SQUARE)
OVER_COLUMNS(absolutes, ABSOLUTE)
OVER_COLUMNS(rationals, RATIONAL)
OVER_COLUMNS(absolute_overlaps, ABSOLUTE_OVERLAP)
OVER_COLUMNS(rational_overlaps, RATIONAL_OVERLAP)

OVER_ARRAYS(float_products, float, JOINED(WIDENED_, W), PRODUCT, 0.0, w)
OVER_ARRAYS(float_squares, float, JOINED(WIDENED_, W), SQUARE, 0.0, w)
OVER_ARRAYS(float_absolutes, float, JOINED(WIDENED_, W), ABS(d), 0.0, w)
OVER_ARRAYS(float_rationals, float, JOINED(WIDENED_, W), RATIONAL, 1.0, 1.0)
OVER_ARRAYS(double_products, double, READ, PRODUCT, 0.0, w)
OVER_ARRAYS(double_squares, double, READ, SQUARE, 0.0, w)
OVER_ARRAYS(double_absolutes, double, READ, ABS(d), 0.0, w)
OVER_ARRAYS(double_rationals, double, READ, RATIONAL, 1.0, 1.0)

static void NAME(combine)(double constant, const double *statistics, double factor, long n, double *row) {
    for (long i = 0; i < n; i += W) {
        V sum = (constant + READ(statistics + i)) + factor * READ(row + i);
        INTO(row + i) = (V)((I)sum & (sum > 0.0));
    }
}

/* exp(x) for K vectors of x = -gamma row, from element i on: 0 below -708, with an error of at most 1.2 units
   in the last place. It is 2^(t / 16) exp(r), for a whole number t. Each operation is done for all of them, so
   that none waits for the one before it. */
#define EXPONENTIALS(K)                                                                         \
    {                                                                                           \
        V x[K], shifted[K], r[K], p[K], power[K];                                               \
        EACH_OF(K) x[k] = -gamma * READ(row + i + k * W);                                       \
        EACH_OF(K) shifted[k] = x[k] * 23.083120654223414 + 6755399441055744.0;                 \
        EACH_OF(K) p[k] = shifted[k] - 6755399441055744.0;                                      \
        EACH_OF(K) r[k] = (x[k] - p[k] * 0x1.62e42feep-5) - p[k] * 0x1.a39ef35793c76p-37;           \
        EACH_OF(K) p[k] = r[k] * EXP[4] + EXP[3];                                               \
        for (int c = 2; c >= 0; c--) EACH_OF(K) p[k] = p[k] * r[k] + EXP[c];                    \
        EACH_OF(K) p[k] = (p[k] * r[k]) * r[k] + r[k];                                          \
        EACH_OF(K) power[k] = (V)(JOINED(LOOK_UP_, W)((I)shifted[k]) + ((I)shifted[k] << 48));  \
        EACH_OF(K) p[k] = power[k] + power[k] * p[k];                                           \
        EACH_OF(K) INTO(row + i + k * W) = (V)((I)p[k] & (x[k] > -708.0));                      \
    }

static void NAME(exponential)(double gamma, long n, double *row) {
    long i = 0;
    for (; i + 6 * W <= n; i += 6 * W) EXPONENTIALS(6)
    for (; i < n; i += W) EXPONENTIALS(1)
}

static void NAME(rational)(double gamma, long n, double *row) {
    for (long i = 0; i < n; i += W) INTO(row + i) = 1.0 / (1.0 + gamma * READ(row + i));
}

static void NAME(power)(double gamma, double coef0, long degree, long n, double *row) {
    for (long i = 0; i < n; i += W) {
        V base = gamma * READ(row + i) + coef0, power = base;
        for (long k = 1; k < degree; k++) power *= base;
        INTO(row + i) = power;
    }
}

static void NAME(normalize)(double norm, const double *norms, long n, double *row) {
    for (long i = 0; i < n; i += W) {
        V both = norm * READ(norms + i);
        INTO(row + i) = (V)((I)(READ(row + i) / both) & (both > 0.0));
    }
}

static double NAME(dot)(const double *a, const double *b, long n) {
    V s[2 * PARTS / W];
    double t[W];
    long i = 0;
    memset(s, 0, sizeof s);
    for (; i + 2 * PARTS <= n; i += 2 * PARTS)
        for (int k = 0; k < 2 * PARTS / W; k++) s[k] += READ(a + i + k * W) * READ(b + i + k * W);
    if (i < n)
        for (int k = 0; k < PARTS / W; k++) s[k] += READ(a + i + k * W) * READ(b + i + k * W);
    for (int k = PARTS / W; k; k /= 2)
        for (int j = 0; j < k; j++) s[j] += s[j + k];
    memcpy(t, s, sizeof t);
    for (int k = W / 2; k; k /= 2)
        for (int j = 0; j < k; j++) t[j] += t[j + k];
    return t[0];
}

static long NAME(least)(const int64_t *numbers, long n) {
    int64_t least = numbers[0];
    long i;
    /* The loop for the least number alone is vectorized. */
    for (i = 1; i < n; i++) least = numbers[i] < least ? numbers[i] : least;
    for (i = 0; numbers[i] != least; i++) {}
    return i;
}

static long NAME(exceeds)(const double *values, double limit, long n) {
    long any = 0;
    for (long i = 0; i < n; i++) any |= values[i] > limit;
    return any;
}

static const struct loops NAME(table) = {
    {SYMMETRIC_LOOPS(float), SYMMETRIC_LOOPS(double)},
    NAME(dot), NAME(least), NAME(exceeds), NAME(forward), NAME(backward),
    {{NAME(products), NAME(weighted_squares), NAME(absolutes), NAME(rationals)},
     {NAME(products), NAME(squares), NAME(absolutes), NAME(rationals)}},
    {NAME(products), NAME(products), NAME(absolute_overlaps), NAME(rational_overlaps)},
    {{NAME(float_products), NAME(float_squares), NAME(float_absolutes), NAME(float_rationals)},
     {NAME(double_products), NAME(double_squares), NAME(double_absolutes), NAME(double_rationals)}},
    NAME(combine), NAME(exponential), NAME(rational), NAME(power), NAME(normalize),
    NAME(inner), NAME(add_multiple), NAME(multiply), NAME(take_column), NAME(get_diagonal),
    NAME(add_squares), NAME(add_scores), NAME(add_change),
    {NAME(losses), NAME(unique_largest)}};
#endif
