/* The losses of removals, each formula once.

   Validation examples have scores under a hypothesis of n vectors, and a removal takes the term of one
   vector out of them. Losses are added up example after example, so all widths give the same bits.
   `loops.h` includes this header, and once more for each width. */
#ifndef W
#include <math.h>

/* Kernel values of m examples and n vectors (m, stride), and scores and weights of all labels (n_labels, room).

   The loops go through whole groups of 8 vectors, so the stride and the lengths of all arrays by vectors are
   multiples of that; what is beyond n is finite, and its labels exist. */
struct examples {
    const double *table, *scores;
    const double *weights;  /* of labels, for the expected hinge loss; NULL for the 0-1 loss */
    const int64_t *columns; /* the labels of the examples (m,) */
    /* What each vector adds to the score of its label and takes from that of its rival (n,). */
    const double *steps;
    const int64_t *labels, *rivals;
    long m, n, stride, room, n_labels;
};

struct removals {
    /* Add the losses after each removal to sums (n,); g has room for n values and two a label. */
    void (*losses)(const struct examples *e, double *restrict sums, double *restrict g);
    /* The index of the largest value of a row; -1 if it is not unique or not positive. */
    long (*unique_largest)(const double *row, long n);
};

#else /* the body for vectors of W doubles */

#define SELECT(mask, a, b) ((V)(((I)(a) & (mask)) | ((I)(b) & ~(mask))))
#define LARGER(a, b) SELECT((a) > (b), a, b)
#define ALL(x) ((V){0} + (x))
#define INLINE static inline __attribute__((always_inline))

/* A loss of a score f of the second of two labels; x is the weight of that label, or 1 or -1 by the label. */
INLINE double NAME(loss)(int is_hinge, double x, double f) {
    double below = 1.0 - f, above = 1.0 + f;
    if (!is_hinge) return x * f <= 0.0 ? 1.0 : 0.0;
    return x * (below > 0.0 ? below : 0.0) + (1.0 - x) * (above > 0.0 ? above : 0.0);
}

/* Four examples at a time, so that the sums are read and written once for all of them. */
INLINE void NAME(add_two)(const struct examples *e, double *restrict sums, double *restrict alphas, int is_hinge) {
    const double *restrict scores = e->scores + e->room;
    for (long j = 0; j < e->n; j++) alphas[j] = e->labels[j] ? e->steps[j] : -e->steps[j];
    for (long i = 0; i < e->m; i += 4) {
        const double *restrict a = e->table + i * e->stride, *restrict b = a + e->stride;
        const double *restrict c = b + e->stride, *restrict d = c + e->stride, *f = scores + i;
        double x[4];
        long size = e->m - i < 4 ? e->m - i : 4;
        for (long k = 0; k < size; k++)
            x[k] = is_hinge ? e->weights[e->room + i + k] : e->columns[i + k] ? 1.0 : -1.0;
        for (long j = 0; size == 4 && j < e->n; j++) {
            double s = sums[j] + NAME(loss)(is_hinge, x[0], f[0] - alphas[j] * a[j]);
            s += NAME(loss)(is_hinge, x[1], f[1] - alphas[j] * b[j]);
            s += NAME(loss)(is_hinge, x[2], f[2] - alphas[j] * c[j]);
            sums[j] = s + NAME(loss)(is_hinge, x[3], f[3] - alphas[j] * d[j]);
        }
        for (long k = 0; size < 4 && k < size; k++, a += e->stride)
            for (long j = 0; j < e->n; j++) sums[j] += NAME(loss)(is_hinge, x[k], f[k] - alphas[j] * a[j]);
    }
}

INLINE V NAME(gather)(const double *values, const int64_t *labels) {
    V taken;
    for (int l = 0; l < W; l++) taken[l] = values[labels[l]];
    return taken;
}

/* The expected loss is sum_c w_c max(0, 1 - m_c). The margin m_c = (g_c - max_{r != c} g_r) / 2 is at most 0
   for all labels but the first one, so it needs only the two largest scores and the mean score. A removal
   lowers the score of p and raises that of q, so the two largest of the others are among the largest four.
   For the 0-1 loss, these are without the label of the example. */
INLINE void NAME(add_many)(const struct examples *e, double *restrict sums, double *restrict g, int is_hinge) {
    double *restrict w = g + e->n_labels;
    for (long i = 0; i < e->m; i++) {
        const double *restrict k = e->table + i * e->stride;
        double mean = 0.0, top[4] = {-INFINITY, -INFINITY, -INFINITY, -INFINITY};
        int64_t y = e->columns[i], label[4] = {-1, -1, -1, -1};
        V s[4], ws[3];
        for (long c = 0; c < e->n_labels; c++) {
            g[c] = e->scores[c * e->room + i];
            w[c] = is_hinge ? e->weights[c * e->room + i] : 0.0;
            mean += w[c] * g[c];
            if (g[c] <= top[3] || (!is_hinge && c == y)) continue;
            int r = 3;
            for (; r > 0 && g[c] > top[r - 1]; r--) top[r] = top[r - 1], label[r] = label[r - 1];
            top[r] = g[c], label[r] = c;
        }
        for (int r = 0; r < 4; r++) s[r] = ALL(top[r]);
        for (int r = 0; r < 3; r++) ws[r] = ALL(label[r] < 0 ? 0.0 : w[label[r]]);
        for (long j = 0; j < e->n; j += W) {
            I p = *(const I *)(e->labels + j), q = *(const I *)(e->rivals + j), is_free[3];
            for (int r = 0; r < 3; r++) is_free[r] = (p != label[r]) & (q != label[r]);
            V change = *(const V *)(e->steps + j) * *(const V *)(k + j);
            V lower = NAME(gather)(g, e->labels + j) - change;
            V higher = NAME(gather)(g, e->rivals + j) + change;
            V first = SELECT(is_free[0], s[0], SELECT(is_free[1], s[1], s[2]));
            if (!is_hinge) {
                V own = SELECT(y == p, lower, SELECT(y == q, higher, ALL(g[y])));
                V rival = LARGER(SELECT(y == p, ALL(-INFINITY), lower), SELECT(y == q, ALL(-INFINITY), higher));
                *(V *)(sums + j) += SELECT(own <= LARGER(rival, first), ALL(1.0), ALL(0.0));
                continue;
            }
            V w_first = SELECT(is_free[0], ws[0], SELECT(is_free[1], ws[1], ws[2]));
            V later = SELECT(is_free[2], s[2], s[3]);
            V second = SELECT(is_free[0], SELECT(is_free[1], s[1], later), SELECT(is_free[1], later, s[3]));
            V w_p = NAME(gather)(w, e->labels + j), w_q = NAME(gather)(w, e->rivals + j);
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

/* A body for each loss, which the compiler makes of these. */
static void NAME(losses)(const struct examples *e, double *restrict sums, double *restrict g) {
    if (e->n_labels == 2 && e->weights) NAME(add_two)(e, sums, g, 1);
    if (e->n_labels == 2 && !e->weights) NAME(add_two)(e, sums, g, 0);
    if (e->n_labels > 2 && e->weights) NAME(add_many)(e, sums, g, 1);
    if (e->n_labels > 2 && !e->weights) NAME(add_many)(e, sums, g, 0);
}

static long NAME(unique_largest)(const double *row, long n) {
    V most[4] = {{0}};
    double largest = 0.0;
    long i = 0, hits = 0, places = 0;
    for (; i + 4 * W <= n; i += 4 * W)
        for (int k = 0; k < 4; k++) {
            V x = *(const V *)(row + i + k * W);
            most[k] = LARGER(x, most[k]);
        }
    for (int k = 0; k < 4; k++)
        for (int l = 0; l < W; l++) largest = most[k][l] > largest ? most[k][l] : largest;
    for (; i < n; i++) largest = row[i] > largest ? row[i] : largest;
    for (i = 0; i < n; i++) hits += row[i] == largest, places += row[i] == largest ? i : 0;
    return hits == 1 && largest > 0.0 ? places : -1;
}

#endif
