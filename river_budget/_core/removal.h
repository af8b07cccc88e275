/* The losses of removals, each formula once.

   Validation examples have scores under a hypothesis of n vectors, and a removal takes the term of one
   vector out of them. Losses are added up example after example, so all widths give the same bits. */
#ifndef W

#ifndef RIVER_BUDGET_REMOVAL_H
#define RIVER_BUDGET_REMOVAL_H
#include <math.h>
#include "lanes.h"

/* Kernel values of m examples and n vectors (m, stride), and scores and weights of all labels (n_labels, room).

   The loops go through whole groups of 8 vectors, so the stride and the lengths of all arrays by vectors are
   multiples of that; what is beyond n is finite, and its labels exist. */
struct examples {
    const double *table, *scores, *weights;
    const int64_t *columns; /* the labels of the examples (m,) */
    /* What each vector adds to the score of its label and takes from that of its rival (n,). */
    const double *steps, *alphas; /* alpha is the step with the sign of the label, if there are two */
    const int64_t *labels, *rivals;
    long m, n, stride, room, n_labels;
};

#define LOSSES const struct examples *e, double *restrict sums, double *restrict g
typedef void (*Losses)(LOSSES);

struct removals {
    /* Add the losses after each removal to (n,): the 0-1 loss, or the hinge loss expected by the weights; for
       two labels, and for any number of them. g has room for two values a label. */
    Losses errors[2], losses[2];
    /* The index of the largest value of a row; -1 if it is not unique or not positive. */
    long (*unique_largest)(const double *row, long n);
};

#define BODY "removal.h"
#include "targets.h"
#if defined(__x86_64__)
BEGIN_TARGET("avx512f,avx512dq,avx512vl,prefer-vector-width=512")
#define W 8
#include "removal.h"
#undef W
END_TARGET
#endif

#define REMOVALS(w)                                                             \
    ((struct removals){{JOINED(errors_of_two_, w), JOINED(errors_of_many_, w)}, \
                       {JOINED(losses_of_two_, w), JOINED(losses_of_many_, w)}, \
                       JOINED(unique_largest_, w)})

/* Fill the table with the loops for vectors of at most so many doubles. */
static void choose_removals(struct removals *table, int most) {
    int lanes = supported_lanes();
    if (most < lanes) lanes = most;
    *table = REMOVALS(2);
#if defined(__x86_64__)
    if (lanes >= 4) *table = REMOVALS(4);
    if (lanes >= 8) *table = REMOVALS(8);
#endif
}

#endif
#else /* the body for vectors of W doubles */

typedef int64_t NAME(i) __attribute__((vector_size(8 * W), aligned(8)));
typedef double NAME(v) __attribute__((vector_size(8 * W), aligned(8)));
#define V NAME(v)
#define I NAME(i)

static inline double NAME(error)(double sign, double value, double alpha, double k) {
    return sign * (value - alpha * k) <= 0.0 ? 1.0 : 0.0;
}

static inline double NAME(hinge)(double w, double value, double alpha, double k) {
    double f = value - alpha * k, below = 1.0 - f, above = 1.0 + f;
    return w * (below > 0.0 ? below : 0.0) + (1.0 - w) * (above > 0.0 ? above : 0.0);
}

/* Add up a loss of two labels; EXTRA is what it depends on beside the value of an example. Four examples
   at a time, so that the sums are read and written once for all of them. */
#define TWO_LABELS(LOSS, EXTRA)                                                                  \
    const double *restrict alphas = e->alphas, *restrict values = e->scores + e->room;           \
    long n = e->n, i = 0;                                                                        \
    for (; i + 4 <= e->m; i += 4) {                                                              \
        const double *restrict a = e->table + i * e->stride, *restrict b = a + e->stride;        \
        const double *restrict c = b + e->stride, *restrict d = c + e->stride;                   \
        double x0 = EXTRA(i), x1 = EXTRA(i + 1), x2 = EXTRA(i + 2), x3 = EXTRA(i + 3);           \
        double f0 = values[i], f1 = values[i + 1], f2 = values[i + 2], f3 = values[i + 3];       \
        for (long j = 0; j < n; j++) {                                                           \
            double s = sums[j] + LOSS(x0, f0, alphas[j], a[j]);                                  \
            s += LOSS(x1, f1, alphas[j], b[j]);                                                  \
            s += LOSS(x2, f2, alphas[j], c[j]);                                                  \
            sums[j] = s + LOSS(x3, f3, alphas[j], d[j]);                                         \
        }                                                                                        \
    }                                                                                            \
    for (; i < e->m; i++) {                                                                      \
        const double *restrict a = e->table + i * e->stride;                                     \
        double x = EXTRA(i), f = values[i];                                                      \
        for (long j = 0; j < n; j++) sums[j] += LOSS(x, f, alphas[j], a[j]);                     \
    }

#define SIGN(i) (e->columns[i] ? 1.0 : -1.0)
#define WEIGHT(i) (weights[i])

static void NAME(errors_of_two)(LOSSES) {
    TWO_LABELS(NAME(error), SIGN)
}

static void NAME(losses_of_two)(LOSSES) {
    const double *restrict weights = e->weights + e->room;
    TWO_LABELS(NAME(hinge), WEIGHT)
}

/* The largest scores of an example (n_labels,) but that of one label, in descending order. */
struct NAME(largest) {
    double score[4];
    int64_t label[4];
};

static struct NAME(largest) NAME(find_largest)(const double *g, long n_labels, long skipped) {
    struct NAME(largest) top = {{-INFINITY, -INFINITY, -INFINITY, -INFINITY}, {-1, -1, -1, -1}};
    for (long c = 0; c < n_labels; c++) {
        if (c == skipped || g[c] <= top.score[3]) continue;
        int k = 3;
        for (; k > 0 && g[c] > top.score[k - 1]; k--)
            top.score[k] = top.score[k - 1], top.label[k] = top.label[k - 1];
        top.score[k] = g[c], top.label[k] = c;
    }
    return top;
}

#define SELECT(mask, a, b) ((V)(((I)(a) & (mask)) | ((I)(b) & ~(mask))))
#define LARGER(a, b) SELECT((a) > (b), a, b)
#define ALL(x) ((V){0} + (x))

static inline V NAME(gather)(const double *values, const int64_t *labels) {
    V taken;
    for (int l = 0; l < W; l++) taken[l] = values[labels[l]];
    return taken;
}

/* The change by W removals, which lower g_p and raise g_q, so the two largest of the other scores are among
   the largest four. `is_free` tells for each of these whether it is another one. */
#define REMOVED(j)                                                            \
    I p = *(const I *)(e->labels + j), q = *(const I *)(e->rivals + j);       \
    V change = *(const V *)(e->steps + j) * *(const V *)(k + j);              \
    V lower = NAME(gather)(g, e->labels + j) - change;                        \
    V higher = NAME(gather)(g, e->rivals + j) + change;                       \
    I is_free[3];                                                             \
    for (int c = 0; c < 3; c++) is_free[c] = (p != top.label[c]) & (q != top.label[c]);

static void NAME(errors_of_many)(LOSSES) {
    for (long i = 0; i < e->m; i++) {
        const double *restrict k = e->table + i * e->stride;
        int64_t y = e->columns[i];
        for (long c = 0; c < e->n_labels; c++) g[c] = e->scores[c * e->room + i];
        struct NAME(largest) top = NAME(find_largest)(g, e->n_labels, y);
        V s0 = ALL(top.score[0]), s1 = ALL(top.score[1]), s2 = ALL(top.score[2]);
        for (long j = 0; j < e->n; j += W) {
            REMOVED(j)
            V own = SELECT(y == p, lower, SELECT(y == q, higher, ALL(g[y])));
            V rival = SELECT(is_free[0], s0, SELECT(is_free[1], s1, s2));
            rival = LARGER(rival, SELECT(y == p, ALL(-INFINITY), lower));
            rival = LARGER(rival, SELECT(y == q, ALL(-INFINITY), higher));
            *(V *)(sums + j) += SELECT(own <= rival, ALL(1.0), ALL(0.0));
        }
    }
}

/* The loss is sum_c w_c max(0, 1 - m_c). The margin m_c = (g_c - max_{r != c} g_r) / 2 is at most 0 for
   all labels but the first one, so it needs only the two largest scores and the mean score. */
static void NAME(losses_of_many)(LOSSES) {
    double *restrict w = g + e->n_labels;
    for (long i = 0; i < e->m; i++) {
        const double *restrict k = e->table + i * e->stride;
        double mean = 0.0;
        for (long c = 0; c < e->n_labels; c++) {
            g[c] = e->scores[c * e->room + i], w[c] = e->weights[c * e->room + i];
            mean += w[c] * g[c];
        }
        struct NAME(largest) top = NAME(find_largest)(g, e->n_labels, -1);
        V s[4], ws[3];
        for (int c = 0; c < 4; c++) s[c] = ALL(top.score[c]);
        for (int c = 0; c < 3; c++) ws[c] = ALL(top.label[c] < 0 ? 0.0 : w[top.label[c]]);
        for (long j = 0; j < e->n; j += W) {
            REMOVED(j)
            V w_p = NAME(gather)(w, e->labels + j), w_q = NAME(gather)(w, e->rivals + j);
            V first = SELECT(is_free[0], s[0], SELECT(is_free[1], s[1], s[2]));
            V w_first = SELECT(is_free[0], ws[0], SELECT(is_free[1], ws[1], ws[2]));
            V later = SELECT(is_free[2], s[2], s[3]);
            V second = SELECT(is_free[0], SELECT(is_free[1], s[1], later), SELECT(is_free[1], later, s[3]));
            second = SELECT(lower > first, first, LARGER(lower, second));
            w_first = SELECT(lower > first, w_p, w_first), first = LARGER(lower, first);
            second = SELECT(higher > first, first, LARGER(higher, second));
            w_first = SELECT(higher > first, w_q, w_first), first = LARGER(higher, first);
            V rest = mean + change * (w_q - w_p) - w_first * first, loss = 1.0 - 0.5 * (first - second);
            *(V *)(sums + j) += (1.0 - w_first) * (1.0 + 0.5 * first) - 0.5 * rest +
                                w_first * LARGER(loss, ALL(0.0));
        }
    }
}

static long NAME(unique_largest)(const double *row, long n) {
    V most[4] = {{0}};
    double largest = 0.0;
    long i = 0, found = -1;
    for (; i + 4 * W <= n; i += 4 * W)
        for (int k = 0; k < 4; k++) {
            V x = *(const V *)(row + i + k * W);
            I above = x > most[k];
            most[k] = (V)(((I)x & above) | ((I)most[k] & ~above));
        }
    for (int k = 0; k < 4; k++)
        for (int l = 0; l < W; l++) largest = most[k][l] > largest ? most[k][l] : largest;
    for (; i < n; i++) largest = row[i] > largest ? row[i] : largest;
    if (largest == 0.0) return -1;
    for (i = 0; i < n; i += 16) {
        long stop = i + 16 < n ? i + 16 : n, hits = 0;
        for (long k = i; k < stop; k++) hits += row[k] == largest;
        if (!hits) continue;
        if (hits > 1 || found >= 0) return -1;
        for (found = i; row[found] != largest;) found++;
    }
    return found;
}

#undef V
#undef I
#undef ALL
#undef LARGER
#undef SELECT
#undef REMOVED
#undef TWO_LABELS
#undef SIGN
#undef WEIGHT
#endif
