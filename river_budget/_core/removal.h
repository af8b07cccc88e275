/* The losses of removals, each formula once.

   Validation examples have scores under a hypothesis of n vectors, and a removal takes the term of one
   vector out of them. Losses are added up example by example, so that all widths give the same bits.
   `loops.h` includes this header, and then once more for each width. */
#ifndef W
#include <math.h>

/* Kernel values of m examples and n vectors (m, stride), and scores and weights of all labels (n_labels, room).

   The loops go through whole groups of 8 vectors, so the stride and the lengths of all arrays by vectors are
   multiples of 8. What such an array holds beyond n is finite, and the labels there are labels of the model. */
struct examples {
    const double *table, *scores;
    const double *weights; /* of labels, for the expected hinge loss; NULL for the 0-1 loss */
    const int64_t *example_labels; /* (m,) */
    /* What each vector adds to the score of its label, and takes from that of its rival (n,). */
    const double *steps;
    const int64_t *labels, *rivals;
    long m, n, stride, room, n_labels;
};

struct removals {
    /* Add the losses after each removal to sums (n,). `scratch` has room for n values, and two for each label. */
    void (*losses)(const struct examples *e, double *restrict sums, double *restrict scratch);
    /* The index of the largest value of a row; -1 if it is not unique or not positive. */
    long (*unique_largest)(const double *row, long n);
};

#else /* the body for vectors of W doubles */

#define SELECT(mask, a, b) ((V)(((I)(a) & (mask)) | ((I)(b) & ~(mask))))
#define LARGER(a, b) SELECT((a) > (b), a, b)
#define INLINE static inline __attribute__((always_inline))

/* The loss of a score f of the second of two labels. For the expected hinge loss, the target is the weight of
   that label; for the 0-1 loss, it is 1 if the example has that label, and -1 otherwise. */
INLINE double NAME(loss)(int is_hinge, double target, double f) {
    double below = 1.0 - f, above = 1.0 + f;
    if (!is_hinge) return target * f <= 0.0 ? 1.0 : 0.0;
    return target * (below > 0.0 ? below : 0.0) + (1.0 - target) * (above > 0.0 ? above : 0.0);
}

/* The losses of two labels, for four examples at a time: the sums are read and written once for all four. */
INLINE void NAME(add_two)(const struct examples *e, double *restrict sums, double *restrict alphas, int is_hinge) {
    const double *restrict scores = e->scores + e->room;
    for (long j = 0; j < e->n; j++) alphas[j] = e->labels[j] ? e->steps[j] : -e->steps[j];
    for (long i = 0; i < e->m; i += 4) {
        const double *restrict a = e->table + i * e->stride, *restrict b = a + e->stride;
        const double *restrict c = b + e->stride, *restrict d = c + e->stride, *f = scores + i;
        double targets[4];
        long size = e->m - i < 4 ? e->m - i : 4;
        for (long k = 0; k < size; k++)
            targets[k] = is_hinge ? e->weights[e->room + i + k] : e->example_labels[i + k] ? 1.0 : -1.0;
        if (size == 4) {
            for (long j = 0; j < e->n; j++) {
                double sum = sums[j] + NAME(loss)(is_hinge, targets[0], f[0] - alphas[j] * a[j]);
                sum += NAME(loss)(is_hinge, targets[1], f[1] - alphas[j] * b[j]);
                sum += NAME(loss)(is_hinge, targets[2], f[2] - alphas[j] * c[j]);
                sums[j] = sum + NAME(loss)(is_hinge, targets[3], f[3] - alphas[j] * d[j]);
            }
        } else {
            for (long k = 0; k < size; k++, a += e->stride)
                for (long j = 0; j < e->n; j++)
                    sums[j] += NAME(loss)(is_hinge, targets[k], f[k] - alphas[j] * a[j]);
        }
    }
}

INLINE V NAME(gather)(const double *values, const int64_t *labels) {
    V gathered;
    for (int lane = 0; lane < W; lane++) gathered[lane] = values[labels[lane]];
    return gathered;
}

/* The losses of more labels. With scores g_c and weights w_c, the expected hinge loss is sum_c w_c max(0, 1 - m_c).
   The margin m_c = (g_c - max_{r != c} g_r) / 2 is at most 0 for all labels but that with the largest score, so the
   loss follows from the two largest scores and the weighted mean score. A removal lowers the score of the vector's
   label p and raises that of its rival q, and the two largest of the other scores are among the largest four of
   all (`top`). For the 0-1 loss, these leave out the label y of the example. */
INLINE void NAME(add_many)(const struct examples *e, double *restrict sums, double *restrict g, int is_hinge) {
    double *restrict w = g + e->n_labels;
    for (long i = 0; i < e->m; i++) {
        const double *restrict row = e->table + i * e->stride;
        double mean = 0.0, top[4] = {-INFINITY, -INFINITY, -INFINITY, -INFINITY};
        int64_t y = e->example_labels[i], top_labels[4] = {-1, -1, -1, -1};
        V s[4], top_weights[3]; /* `top` and the weights of its labels, broadcast */
        for (long c = 0; c < e->n_labels; c++) {
            g[c] = e->scores[c * e->room + i];
            w[c] = is_hinge ? e->weights[c * e->room + i] : 0.0;
            mean += w[c] * g[c];
            if (g[c] <= top[3] || (!is_hinge && c == y)) continue;
            int r = 3; /* its rank among the largest */
            for (; r > 0 && g[c] > top[r - 1]; r--) {
                top[r] = top[r - 1];
                top_labels[r] = top_labels[r - 1];
            }
            top[r] = g[c], top_labels[r] = c;
        }
        for (int r = 0; r < 4; r++) s[r] = BROADCAST(top[r]);
        for (int r = 0; r < 3; r++) top_weights[r] = BROADCAST(top_labels[r] < 0 ? 0.0 : w[top_labels[r]]);
        for (long j = 0; j < e->n; j += W) {
            I p = *(const I *)(e->labels + j), q = *(const I *)(e->rivals + j);
            I is_other[3]; /* whether the removal leaves this one of the largest scores as it is */
            for (int r = 0; r < 3; r++) is_other[r] = (p != top_labels[r]) & (q != top_labels[r]);
            V change = *(const V *)(e->steps + j) * *(const V *)(row + j);
            V lower = NAME(gather)(g, e->labels + j) - change;
            V higher = NAME(gather)(g, e->rivals + j) + change;
            V first = SELECT(is_other[0], s[0], SELECT(is_other[1], s[1], s[2]));
            if (!is_hinge) {
                V own = SELECT(y == p, lower, SELECT(y == q, higher, BROADCAST(g[y])));
                V none = BROADCAST(-INFINITY);
                V rival = LARGER(SELECT(y == p, none, lower), SELECT(y == q, none, higher));
                *(V *)(sums + j) += SELECT(own <= LARGER(rival, first), BROADCAST(1.0), BROADCAST(0.0));
                continue;
            }
            /* The two largest of the other scores, and then of these with the lowered and the raised one. */
            V w_first = SELECT(is_other[0], top_weights[0], SELECT(is_other[1], top_weights[1], top_weights[2]));
            V later = SELECT(is_other[2], s[2], s[3]);
            V second = SELECT(is_other[0], SELECT(is_other[1], s[1], later), SELECT(is_other[1], later, s[3]));
            V w_p = NAME(gather)(w, e->labels + j), w_q = NAME(gather)(w, e->rivals + j);
            second = SELECT(lower > first, first, LARGER(lower, second));
            w_first = SELECT(lower > first, w_p, w_first), first = LARGER(lower, first);
            second = SELECT(higher > first, first, LARGER(higher, second));
            w_first = SELECT(higher > first, w_q, w_first), first = LARGER(higher, first);
            V rest = mean + change * (w_q - w_p) - w_first * first, loss = 1.0 - 0.5 * (first - second);
            *(V *)(sums + j) += (1.0 - w_first) * (1.0 + 0.5 * first) - 0.5 * rest +
                                w_first * LARGER(loss, BROADCAST(0.0));
        }
    }
}

/* `is_hinge` is a constant in each call, so that the compiler makes a body for each loss. */
static void NAME(losses)(const struct examples *e, double *restrict sums, double *restrict scratch) {
    if (e->n_labels == 2 && e->weights) NAME(add_two)(e, sums, scratch, 1);
    if (e->n_labels == 2 && !e->weights) NAME(add_two)(e, sums, scratch, 0);
    if (e->n_labels > 2 && e->weights) NAME(add_many)(e, sums, scratch, 1);
    if (e->n_labels > 2 && !e->weights) NAME(add_many)(e, sums, scratch, 0);
}

static long NAME(unique_largest)(const double *row, long n) {
    V most[4] = {{0}};
    double largest = 0.0;
    long i = 0, n_largest = 0, sum_of_indices = 0; /* the index itself if there is one */
    for (; i + 4 * W <= n; i += 4 * W)
        for (int k = 0; k < 4; k++) {
            V x = *(const V *)(row + i + k * W);
            most[k] = LARGER(x, most[k]);
        }
    for (int k = 0; k < 4; k++)
        for (int lane = 0; lane < W; lane++) largest = most[k][lane] > largest ? most[k][lane] : largest;
    for (; i < n; i++) largest = row[i] > largest ? row[i] : largest;
    for (i = 0; i < n; i++) {
        n_largest += row[i] == largest;
        sum_of_indices += row[i] == largest ? i : 0;
    }
    return n_largest == 1 && largest > 0.0 ? sum_of_indices : -1;
}

#endif
