/* The hot loops, each formula once.

   There is one body for vectors of 2, 4 and 8 doubles: this header includes itself for each of them, and
   `choose_lanes` takes the widest that processor and system support. Sums are added up in the same order
   in all of them, and products are never fused (-ffp-contract=off), so that all machines get the same bits. */
#ifndef W

#ifndef RIVER_BUDGET_LOOPS_H
#define RIVER_BUDGET_LOOPS_H
#include "lanes.h"

/* A packed triangle holds row after row of a lower triangular matrix L. */
struct loops {
    /* Solve L z = right; z may be right. */
    void (*forward)(const double *packed, const double *right, double *z, long n);
    /* Solve L' d = d in place. */
    void (*backward)(const double *packed, double *d, long n);
};

#define W 2 /* SSE2, NEON, WebAssembly */
#include "loops.h"
#undef W
#if defined(__x86_64__)
BEGIN_TARGET("avx2")
#define W 4
#include "loops.h"
#undef W
END_TARGET
BEGIN_TARGET("avx512f,avx512dq")
#define W 8
#include "loops.h"
#undef W
END_TARGET
#endif

#define TABLE(w) ((struct loops){JOINED(forward_, w), JOINED(backward_, w)})

/* Fill the table with the loops for vectors of at most so many doubles; return how many they have. */
static int choose_lanes(struct loops *table, int most) {
    int lanes = supported_lanes();
    if (most < lanes) lanes = most;
#if defined(__x86_64__)
    if (lanes >= 8) return *table = TABLE(8), 8;
    if (lanes >= 4) return *table = TABLE(4), 4;
#endif
    return *table = TABLE(2), 2;
}

#endif
#else /* the body for vectors of W doubles */

typedef double NAME(v) __attribute__((vector_size(8 * W), aligned(8)));
#define V NAME(v)
/* Sums have so many parts, whatever the width. */
#define PARTS 8

/* The products of four rows with z, n of them each, n a multiple of 4. */
static inline void NAME(products)(const double *const *rows, const double *z, long n, double *sums) {
    V s[4][PARTS / W];
    long j = 0;
    memset(s, 0, sizeof s);
    for (; j + PARTS <= n; j += PARTS)
        for (int r = 0; r < 4; r++)
            for (int k = 0; k < PARTS / W; k++)
                s[r][k] += *(const V *)(rows[r] + j + k * W) * *(const V *)(z + j + k * W);
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
        NAME(products)(rows, z, i, sums);
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
    if (i < n) NAME(products)(rows, z, i, sums);
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
            *(V *)(d + j) -= d0 * *(const V *)(a_row + j) + d1 * *(const V *)(b_row + j) +
                             d2 * *(const V *)(c_row + j) + d3 * *(const V *)(d_row + j);
        for (; j < i; j++) d[j] -= d0 * a_row[j] + d1 * b_row[j] + d2 * c_row[j] + d3 * d_row[j];
    }
}

#undef V
#undef PARTS
#endif
