/* The scores of labels from their coefficients and a kernel row. See `lanes.h` and `loops.h` for the widths. */
#ifndef W

#ifndef RIVER_BUDGET_EXPANSION_H
#define RIVER_BUDGET_EXPANSION_H
#include "lanes.h"

struct expansion_loops {
    /* The inner product of two vectors, n of whose elements are read, a multiple of 8. */
    double (*dot)(const double *a, const double *b, long n);
    /* The place of the least of n different numbers. */
    long (*least)(const int64_t *numbers, long n);
};

BEGIN_LOOPS
#define W 2 /* SSE2, NEON, WebAssembly */
#include "expansion.h"
#undef W
END_LOOPS
#if defined(__x86_64__)
BEGIN_TARGET("avx2")
#define W 4
#include "expansion.h"
#undef W
END_TARGET
BEGIN_TARGET("avx512f,avx512dq")
#define W 8
#include "expansion.h"
#undef W
END_TARGET
#endif

#define EXPANSION_LOOPS(w) ((struct expansion_loops){JOINED(dot_, w), JOINED(least_, w)})

static int choose_expansion_lanes(struct expansion_loops *table, int most) {
    int lanes = supported_lanes();
    if (most < lanes) lanes = most;
#if defined(__x86_64__)
    if (lanes >= 8) return *table = EXPANSION_LOOPS(8), 8;
    if (lanes >= 4) return *table = EXPANSION_LOOPS(4), 4;
#endif
    return *table = EXPANSION_LOOPS(2), 2;
}

#endif
#else /* the body for vectors of W doubles */

typedef double NAME(v) __attribute__((vector_size(8 * W), aligned(8)));
#define V NAME(v)
/* A sum has two times so many parts, whatever the width. */
#define PARTS 8

static double NAME(dot)(const double *a, const double *b, long n) {
    V s[2 * PARTS / W];
    double t[2 * PARTS];
    long i = 0;
    memset(s, 0, sizeof s);
    for (; i + 2 * PARTS <= n; i += 2 * PARTS)
        for (int k = 0; k < 2 * PARTS / W; k++) s[k] += *(const V *)(a + i + k * W) * *(const V *)(b + i + k * W);
    if (i < n)
        for (int k = 0; k < PARTS / W; k++) s[k] += *(const V *)(a + i + k * W) * *(const V *)(b + i + k * W);
    memcpy(t, s, sizeof t);
    for (int k = PARTS; k; k /= 2)
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

#undef V
#undef PARTS
#endif
