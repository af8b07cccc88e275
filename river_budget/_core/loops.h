/* The hot loops, each formula once.

   The body is compiled for vectors of 2, 4 and 8 doubles: this header includes itself once for each width W,
   and `choose_lanes` takes the widest that processor and system support. All of them add up sums in the same
   order, and products are never fused (-ffp-contract=off), so that all machines get the same bits. */
#ifndef W
#include "lanes.h"
#include "removal.h"
#include "triangles.h"

#define COLUMNS const double *values, const double *weights, const double *const *columns, long m, long n, double *row
#define ARRAYS double weight, const double *elements, const void *matrix, long size, long n, double *row

typedef void (*OverColumns)(COLUMNS);
typedef void (*OverArrays)(ARRAYS);

/* The bits of 2^(k / 16), less k << 48, for k = 0 to 15. For any whole t, the bits of 2^(t / 16) are
   POWERS[t mod 16] + (t << 48), as t / 16 is added to the exponent. */
static const int64_t POWERS[] = {
    0x3ff0000000000000, 0x3fefb5586cf9890f, 0x3fef72b83c7d517b, 0x3fef387a6e756238,
    0x3fef06fe0a31b715, 0x3feedea64c123422, 0x3feebfdad5362a27, 0x3feeab07dd485429,
    0x3feea09e667f3bcd, 0x3feea11473eb0187, 0x3feeace5422aa0db, 0x3feec49182a3f090,
    0x3feee89f995ad3ad, 0x3fef199bdd85529c, 0x3fef5818dcfba487, 0x3fefa4afa2a490da};
/* The coefficients of a polynomial for exp(r), from that of r^2 on. */
static const double EXP[] = {
    0x1.0000000000005p-1, 0x1.555555548ebc9p-3, 0x1.555555545dd6cp-5, 0x1.11123b47f2e56p-7,
    0x1.6c185e8d5da03p-10};
#define SIXTEEN_OVER_LN_2 23.083120654223414
/* ln 2 / 16 in two parts, the first of which has so few digits that its products with whole numbers are exact. */
#define LN_2_OVER_16 0x1.62e42feep-5
#define REST_OF_LN_2_OVER_16 0x1.a39ef35793c76p-37
/* 1.5 * 2^52: a sum with it is rounded to a whole number, which is in its last bits. */
#define ROUND_TO_WHOLE 6755399441055744.0

#include "symmetric.h"

/* A packed triangle holds row after row of a lower triangular matrix L. */
struct loops {
    struct symmetric_loops symmetric[2]; /* for floats and for doubles */
    /* The inner product of two vectors, n of whose elements are read, a multiple of 8. */
    double (*dot)(const double *a, const double *b, long n);
    /* The index of the least of n different numbers. */
    long (*least)(const int64_t *numbers, long n);
    /* Whether one of n values is above a limit. */
    long (*exceeds)(const double *values, double limit, long n);
    /* Solve L z = right; z and right may be the same array. */
    void (*forward)(const double *packed, const double *right, double *z, long n);
    /* Solve L' x = d, and write x over d. */
    void (*backward)(const double *packed, double *d, long n);
    /* Inner statistics of an example x and n vectors, a multiple of 8. Their m features are in columns, each
       with a value of x and a weight (times gamma in sums of rationals). The statistic of x and a vector is
       that of x alone, plus that of the vector alone, plus an overlap for each feature that both have. */
    OverColumns sums[2][4]; /* of weighted or of plain features, by statistic */
    OverColumns overlaps[4];
    /* Add the same for an array of x and the rows of a matrix (n, size) to the row. */
    OverArrays add_arrays[2][4]; /* of floats or of doubles, by statistic */
    /* row = max(0, (constant + statistics) + factor row) */
    void (*combine)(double constant, const double *statistics, double factor, long n, double *row);
    /* Kernel functions of a row in place. */
    void (*exponential)(double gamma, long n, double *row);
    void (*rational)(double gamma, long n, double *row);
    void (*power)(double gamma, double coef0, long degree, long n, double *row);
    /* row / (norm norms), or 0 where the divisor is 0 */
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

/* What the body is made of. V is a vector of W doubles, and I one of as many integers. A sum has PARTS partial
   sums, whatever the width, so that all widths round equally; `dot` has twice as many. */
#define PARTS 8
#define V NAME(v)
#define I NAME(i)
#define BROADCAST(x) ((x) - (V){0})
#define INTO(p) (*(V *)(p))
#define READ(p) (*(const V *)(p))
#define FOR_EACH(K) for (int k = 0; k < K; k++)
#define ABS(x) ((V)((I)(x) & INT64_MAX))
/* GCC makes one instruction of these, and several of its own __builtin_convertvector. */
#define PAIR(p) (p)[0], (p)[1]
#define WIDENED_2(p) ((V){PAIR(p)})
#define WIDENED_4(p) ((V){PAIR(p), PAIR((p) + 2)})
#define WIDENED_8(p) ((V){PAIR(p), PAIR((p) + 2), PAIR((p) + 4), PAIR((p) + 6)})

/* The elements of POWERS for a vector t of whole numbers, which are taken modulo 16. */
#define POWER_OF(t, i) POWERS[(t)[i] & 15]
#define TWO_POWERS(t, i) POWER_OF(t, i), POWER_OF(t, i + 1)
#define LOOK_UP_2(t) ((I){TWO_POWERS(t, 0)})
#define LOOK_UP_4(t) ((I){TWO_POWERS(t, 0), TWO_POWERS(t, 2)})
#ifdef __clang__
#define LOOK_UP_8(t) ((I){TWO_POWERS(t, 0), TWO_POWERS(t, 2), TWO_POWERS(t, 4), TWO_POWERS(t, 6)})
#else
#define LOOK_UP_8(t) __builtin_shuffle(*(const I *)POWERS, *(const I *)(POWERS + 8), t)
#endif

/* The terms of a feature with the weight w: x is its value in the example, s in a vector, and d = x - s. */
#define PRODUCT (x * s)
#define SQUARE (d * d)
#define WEIGHTED_SQUARE (w * (d * d))
#define ABSOLUTE (w * ABS(d))
#define RATIONAL (1.0 / (1.0 + w * d * d))
#define ABSOLUTE_OVERLAP (w * ((ABS(d) - ABS(x)) - ABS(s)))
#define RATIONAL_OVERLAP \
    ((1.0 / (1.0 + w * d * d) - 1.0 / (1.0 + w * x * x)) + (1.0 - 1.0 / (1.0 + w * s * s)))

/* Add up the terms of all features for K vectors of slots, from slot i on. */
#define ADD_COLUMNS(TERM, K)                                         \
    {                                                                \
        V sums[K] = {{0}};                                           \
        for (long j = 0; j < m; j++) {                               \
            V x = BROADCAST(values[j]), w = BROADCAST(weights[j]);   \
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

/* Sums over the elements of arrays, of four vectors at a time, so that no addition waits for the one before it.
   The last elements are padded with zeros on both sides to a group of PARTS; each pair of zeros adds PADDING,
   which is subtracted again. */
#define ADD_PARTS(LOAD, TERM, elements, others)    \
    for (int k = 0; k < PARTS / W; k++) {          \
        V x = READ(elements + k * W);              \
        for (int r = 0; r < 4; r++) {              \
            V s = LOAD(others + k * W), d = x - s; \
            sums[r][k] += TERM;                    \
        }                                          \
    }
#define TOTAL_OF_PARTS(p) (((p[0] + p[4]) + (p[2] + p[6])) + ((p[1] + p[5]) + (p[3] + p[7])))
#define OVER_ARRAYS(name, TYPE, LOAD, TERM, PADDING, FACTOR)                                              \
    static void NAME(name)(ARRAYS) {                                                                      \
        V w = BROADCAST(weight);                                                                          \
        for (long i = 0; i < n; i += 4) {                                                                 \
            const TYPE *rows[4]; /* At the end, the last one stands for those that are missing. */        \
            V sums[4][PARTS / W] = {{{0}}};                                                               \
            double parts[PARTS], padding = 0.0;                                                           \
            long j = 0;                                                                                   \
            for (int r = 0; r < 4; r++) rows[r] = (const TYPE *)matrix + (i + r < n ? i + r : n - 1) * size; \
            for (; j + PARTS <= size; j += PARTS) ADD_PARTS(LOAD, TERM, elements + j, rows[r] + j)        \
            if (j < size) {                                                                               \
                double last_x[PARTS] = {0};                                                               \
                TYPE last[4][PARTS] = {{0}};                                                              \
                memcpy(last_x, elements + j, (size - j) * sizeof(double));                                \
                for (int r = 0; r < 4; r++) memcpy(last[r], rows[r] + j, (size - j) * sizeof(TYPE));      \
                ADD_PARTS(LOAD, TERM, last_x, last[r])                                                    \
                padding = PADDING * (PARTS - (size - j));                                                 \
            }                                                                                             \
            for (int r = 0; r < 4 && i + r < n; r++) {                                                    \
                memcpy(parts, sums[r], sizeof parts);                                                     \
                row[i + r] += FACTOR * (TOTAL_OF_PARTS(parts) - padding);                                 \
            }                                                                                             \
        }                                                                                                 \
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

/* Fill the table with the loops for the widest vectors of at most `most` doubles; return their width. */
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

/* The inner products of four rows and z, of n elements each, a multiple of 4. */
static inline void NAME(four_products)(const double *const *rows, const double *z, long n, double *products) {
    V sums[4][PARTS / W];
    long j = 0;
    memset(sums, 0, sizeof sums);
    for (; j + PARTS <= n; j += PARTS)
        for (int r = 0; r < 4; r++)
            for (int k = 0; k < PARTS / W; k++)
                sums[r][k] += READ(rows[r] + j + k * W) * READ(z + j + k * W);
    for (int r = 0; r < 4; r++) {
        double parts[PARTS];
        memcpy(parts, sums[r], sizeof parts);
        if (j < n)
            for (int k = 0; k < 4; k++) parts[k] += rows[r][j + k] * z[j + k];
        products[r] = TOTAL_OF_PARTS(parts);
    }
}

static void NAME(forward)(const double *packed, const double *right, double *z, long n) {
    const double *a = packed; /* the first of four rows, a to d; row i has i + 1 elements */
    double sums[4];
    long i = 0, j;
    for (; i + 4 <= n; i += 4) {
        const double *b = a + i + 1, *c = b + i + 2, *d = c + i + 3;
        const double *const rows[4] = {a, b, c, d};
        NAME(four_products)(rows, z, i, sums);
        double z0 = (right[i] - sums[0]) / a[i];
        double z1 = (right[i + 1] - sums[1] - b[i] * z0) / b[i + 1];
        double z2 = (right[i + 2] - sums[2] - c[i] * z0 - c[i + 1] * z1) / c[i + 2];
        double z3 = (right[i + 3] - sums[3] - d[i] * z0 - d[i + 1] * z1 - d[i + 2] * z2) / d[i + 3];
        z[i] = z0, z[i + 1] = z1, z[i + 2] = z2, z[i + 3] = z3;
        a = d + i + 4;
    }
    if (i == n) return;
    /* One to three rows are left; the first one stands for those that are missing. */
    const double *b = n - i > 1 ? a + i + 1 : a, *c = n - i > 2 ? b + i + 2 : a;
    const double *const rows[4] = {a, b, c, a};
    NAME(four_products)(rows, z, i, sums);
    for (long k = i; k < n; k++) {
        double sum = sums[k - i];
        for (j = i; j < k; j++) sum += rows[k - i][j] * z[j];
        z[k] = (right[k] - sum) / rows[k - i][k];
    }
}

/* Rows are subtracted in groups of four, in half the time that one at a time takes. */
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

OVER_ARRAYS(float_products, float, JOINED(WIDENED_, W), PRODUCT, 0.0, weight)
OVER_ARRAYS(float_squares, float, JOINED(WIDENED_, W), SQUARE, 0.0, weight)
OVER_ARRAYS(float_absolutes, float, JOINED(WIDENED_, W), ABS(d), 0.0, weight)
OVER_ARRAYS(float_rationals, float, JOINED(WIDENED_, W), RATIONAL, 1.0, 1.0)
OVER_ARRAYS(double_products, double, READ, PRODUCT, 0.0, weight)
OVER_ARRAYS(double_squares, double, READ, SQUARE, 0.0, weight)
OVER_ARRAYS(double_absolutes, double, READ, ABS(d), 0.0, weight)
OVER_ARRAYS(double_rationals, double, READ, RATIONAL, 1.0, 1.0)

static void NAME(combine)(double constant, const double *statistics, double factor, long n, double *row) {
    for (long i = 0; i < n; i += W) {
        V sum = (constant + READ(statistics + i)) + factor * READ(row + i);
        INTO(row + i) = (V)((I)sum & (sum > 0.0));
    }
}

/* exp(x) for K vectors of x = -gamma row, from element i on: 0 below -708, else with an error of at most 1.2
   units in the last place. It is 2^(t / 16) exp(r), where t is the whole number nearest to 16 x / ln 2, and r is
   what remains of x. Each operation is done for all vectors, so that none waits for the one before it. */
#define EXPONENTIALS(K)                                                                         \
    {                                                                                           \
        V x[K], shifted[K], t[K], r[K], p[K], power[K];                                         \
        FOR_EACH(K) x[k] = -gamma * READ(row + i + k * W);                                      \
        FOR_EACH(K) shifted[k] = x[k] * SIXTEEN_OVER_LN_2 + ROUND_TO_WHOLE;                     \
        FOR_EACH(K) t[k] = shifted[k] - ROUND_TO_WHOLE;                                         \
        FOR_EACH(K) r[k] = (x[k] - t[k] * LN_2_OVER_16) - t[k] * REST_OF_LN_2_OVER_16;          \
        FOR_EACH(K) p[k] = r[k] * EXP[4] + EXP[3];                                              \
        for (int c = 2; c >= 0; c--) FOR_EACH(K) p[k] = p[k] * r[k] + EXP[c];                   \
        FOR_EACH(K) p[k] = (p[k] * r[k]) * r[k] + r[k];                                         \
        FOR_EACH(K) power[k] = (V)(JOINED(LOOK_UP_, W)((I)shifted[k]) + ((I)shifted[k] << 48)); \
        FOR_EACH(K) p[k] = power[k] + power[k] * p[k];                                          \
        FOR_EACH(K) INTO(row + i + k * W) = (V)((I)p[k] & (x[k] > -708.0));                     \
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
    V sums[2 * PARTS / W];
    double parts[W];
    long i = 0;
    memset(sums, 0, sizeof sums);
    for (; i + 2 * PARTS <= n; i += 2 * PARTS)
        for (int k = 0; k < 2 * PARTS / W; k++) sums[k] += READ(a + i + k * W) * READ(b + i + k * W);
    if (i < n)
        for (int k = 0; k < PARTS / W; k++) sums[k] += READ(a + i + k * W) * READ(b + i + k * W);
    /* The second half of the partial sums is added to the first one, until one is left. */
    for (int half = PARTS / W; half > 0; half /= 2)
        for (int j = 0; j < half; j++) sums[j] += sums[j + half];
    memcpy(parts, sums, sizeof parts);
    for (int half = W / 2; half > 0; half /= 2)
        for (int j = 0; j < half; j++) parts[j] += parts[j + half];
    return parts[0];
}

static long NAME(least)(const int64_t *numbers, long n) {
    int64_t least = numbers[0];
    long i;
    /* Two loops, as a loop for the least number alone is vectorized. */
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
    .symmetric = {SYMMETRIC_LOOPS(float), SYMMETRIC_LOOPS(double)},
    .dot = NAME(dot), .least = NAME(least), .exceeds = NAME(exceeds),
    .forward = NAME(forward), .backward = NAME(backward),
    .sums = {{NAME(products), NAME(weighted_squares), NAME(absolutes), NAME(rationals)},
             {NAME(products), NAME(squares), NAME(absolutes), NAME(rationals)}},
    .overlaps = {NAME(products), NAME(products), NAME(absolute_overlaps), NAME(rational_overlaps)},
    .add_arrays = {{NAME(float_products), NAME(float_squares), NAME(float_absolutes), NAME(float_rationals)},
                   {NAME(double_products), NAME(double_squares), NAME(double_absolutes), NAME(double_rationals)}},
    .combine = NAME(combine), .normalize = NAME(normalize),
    .exponential = NAME(exponential), .rational = NAME(rational), .power = NAME(power),
    .inner = NAME(inner), .add_multiple = NAME(add_multiple), .multiply = NAME(multiply),
    .take_column = NAME(take_column), .get_diagonal = NAME(get_diagonal),
    .add_squares = NAME(add_squares), .add_scores = NAME(add_scores), .add_change = NAME(add_change),
    .removals = {.losses = NAME(losses), .unique_largest = NAME(unique_largest)}};
#endif
