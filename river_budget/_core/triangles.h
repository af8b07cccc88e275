/* Symmetric matrices as lower triangles, with their last changes kept apart.

   A triangle is stored in blocks of 4 x 4 elements, row of blocks by row of blocks; those on the diagonal are
   whole. So a matrix grows by a row without moving its elements, and is read from its start to its end. All
   elements beyond the rows in use are 0. Vectors have elements up to a multiple of 4, which are 0 from n on.
   `loops.h` includes this header, and then once more for each width. */
#ifndef W
#if defined(__x86_64__)
#include <immintrin.h>
#endif

/* Terms are added to the blocks in groups of so many, and an update of a matrix adds at most 3 of them. */
#define GROUP 4
#define MOST_TERMS (GROUP - 1 + 3)

/* Terms are added to about so many elements, as many as a cache holds, before these are multiplied. */
enum { MOST_ELEMENTS = 2500 };

/* A matrix: its blocks, and the terms sign x x' that are still to be added to them. Terms at places 2k and
   2k + 1 are added to each other first, so that nothing is lost where large ones cancel. */
struct triangle {
    long width;       /* of vectors: more than the rows of any matrix, and a multiple of 4 */
    double *blocks;
    double *diagonal; /* a copy of that of the blocks (width,) */
    double *terms;    /* vectors x (MOST_TERMS, width) */
    double *signs;    /* 1 or -1; 0: there is no term (MOST_TERMS,) */
    long n_terms;
};

typedef double four __attribute__((vector_size(32), aligned(8)));
#define FOUR(p) (*(four *)(p))
#define CONST_FOUR(p) (*(const four *)(p))
typedef double eight __attribute__((vector_size(64), aligned(8)));

/* The offset of the first block of the rows 4 g to 4 g + 3. */
static inline long blocks_before(long g) { return 8 * g * (g + 1); }

/* Add a term sign x x', or two, sign (x x' - y y'). Return x, which y follows: the caller fills in both. */
static double *new_terms(struct triangle *m, long n_new, double sign) {
    long k = n_new == 2 ? m->n_terms / 2 * 2 : m->n_terms;
    double *x = m->terms + k * m->width;
    if (n_new == 2) { /* A pair begins at an even place, so a term that is alone there moves behind it. */
        memcpy(x + 2 * m->width, x, m->width * sizeof *x);
        m->signs[k + 2] = m->signs[k];
        m->signs[k + 1] = -sign;
    }
    m->signs[k] = sign;
    m->n_terms += n_new;
    return memset(x, 0, n_new * m->width * sizeof *x);
}

#else /* the body for vectors of W doubles */

static inline double NAME(total)(four t) { return (t[0] + t[2]) + (t[1] + t[3]); }

static double NAME(inner)(const double *a, const double *b, long n) {
    four even = {0}, odd = {0};
    long j = 0;
    for (; j + 4 < n; j += 8) {
        even += CONST_FOUR(a + j) * CONST_FOUR(b + j);
        odd += CONST_FOUR(a + j + 4) * CONST_FOUR(b + j + 4);
    }
    if (j < n) even += CONST_FOUR(a + j) * CONST_FOUR(b + j);
    return NAME(total)(even + odd);
}

static void NAME(add_multiple)(double *a, double factor, const double *b, long n) {
    for (long j = 0; j < n; j += 4) FOUR(a + j) += factor * CONST_FOUR(b + j);
}

/* Add the products of the terms of a matrix and a vector, given their inner products with it, and then zeros. */
static void NAME(add_terms)(const struct triangle *m, const double *dots, double *product, long n) {
    for (long k = 0; k < m->n_terms; k += 2) {
        const double *x = m->terms + k * m->width, *y = x + m->width;
        double s = m->signs[k] * dots[k], t = m->signs[k + 1] * dots[k + 1];
        for (long j = 0; j < n; j += 4) FOUR(product + j) += s * CONST_FOUR(x + j) + t * CONST_FOUR(y + j);
    }
}

static void NAME(get_diagonal)(const struct triangle *m, double *diagonal, long n) {
    memcpy(diagonal, m->diagonal, n * sizeof *diagonal);
    for (long k = 0; k < m->n_terms; k += 2) {
        const double *x = m->terms + k * m->width, *y = x + m->width;
        double s = m->signs[k], t = m->signs[k + 1];
        for (long j = 0; j < n; j++) diagonal[j] += s * x[j] * x[j] + t * y[j] * y[j];
    }
}

static void NAME(take_column)(struct triangle *m, long j, double *column, long n) {
    double dots[MOST_TERMS] = {0};
    long h = j / 4, r = j % 4;
    double *block = m->blocks + blocks_before(h);
    for (long g = 0; g <= h; g++, block += 16)
        for (long i = 0; i < 4; i++) column[4 * g + i] = block[4 * r + i], block[4 * r + i] = 0.0;
    for (long i = 0; i < 4; i++) block[4 * i + r - 16] = 0.0;
    for (long g = h + 1; 4 * g < n; g++) {
        block = m->blocks + blocks_before(g) + 16 * h + r;
        for (long i = 0; i < 4; i++) column[4 * g + i] = block[4 * i], block[4 * i] = 0.0;
    }
    m->diagonal[j] = 0.0;
    for (long k = 0; k < m->n_terms; k++) dots[k] = m->terms[k * m->width + j];
    NAME(add_terms)(m, dots, column, n);
    for (long k = 0; k < m->n_terms; k++) m->terms[k * m->width + j] = 0.0;
}

/* Rows of a block in one vector, a number for each of them, and four numbers for all. */
#if W == 8 /* two rows; without intrinsics, GCC makes two instructions of the last one */
#define ROWS eight
#define OF_ROWS(p) ((eight){(p)[0], (p)[0], (p)[0], (p)[0], (p)[1], (p)[1], (p)[1], (p)[1]})
#define ALL_ROWS(p) ((eight)_mm512_broadcast_f64x4(_mm256_loadu_pd(p)))
#else
#define ROWS four
#define OF_ROWS(p) ((p)[0] - (four){0})
#define ALL_ROWS(p) CONST_FOUR(p)
#endif
enum { NAME(n_rows) = sizeof(ROWS) / sizeof(four) };

/* Add the first terms, `GROUP` of them, to four rows from r on, of which the first block is given. */
static inline void NAME(add_to_rows)(const struct triangle *m, double *block, long r) {
    const double *w = m->terms, *x = w + m->width, *y = x + m->width, *z = y + m->width;
    ROWS factors[4][GROUP];
    for (int i = 0; i < 4; i += NAME(n_rows))
        for (int k = 0; k < GROUP; k++) factors[i][k] = m->signs[k] * OF_ROWS(w + k * m->width + r + i);
    PRAGMA(GCC unroll 2)
    for (long j = 0; j <= r; j += 4, block += 16) {
        ROWS w_j = ALL_ROWS(w + j), x_j = ALL_ROWS(x + j), y_j = ALL_ROWS(y + j), z_j = ALL_ROWS(z + j);
        for (int i = 0; i < 4; i += NAME(n_rows))
            *(ROWS *)(block + 4 * i) += (factors[i][0] * w_j + factors[i][1] * x_j) +
                                        (factors[i][2] * y_j + factors[i][3] * z_j);
    }
}
#undef ROWS
#undef OF_ROWS
#undef ALL_ROWS

static void NAME(multiply)(struct triangle *m, const double *x, double *product, long n) {
    double dots[MOST_TERMS] = {0}, *settled = m->blocks;
    const double *block = m->blocks;
    int is_due = m->n_terms >= GROUP;
    for (long i = 0; i < n; i += 4, block += 16) {
        if (is_due && block == settled) /* The terms are added to the next rows. */
            for (long g = i; g < n && settled - block < MOST_ELEMENTS; settled += 4 * g + 16, g += 4) {
                NAME(add_to_rows)(m, settled, g);
                for (long r = 0; r < 4; r++) m->diagonal[g + r] = settled[4 * g + 5 * r];
            }
        /* Blocks before the diagonal are multiplied as rows and as columns. */
        double s = x[i], t = x[i + 1], u = x[i + 2], v = x[i + 3];
        four p = {0}, q = {0}, r = {0}, w = {0};
        PRAGMA(GCC unroll 2)
        for (long j = 0; j < i; j += 4, block += 16) {
            four x_j = CONST_FOUR(x + j), a = CONST_FOUR(block), c = CONST_FOUR(block + 8);
            p += a * x_j, r += c * x_j;
            a = a * s + c * u;
            four b = CONST_FOUR(block + 4), d = CONST_FOUR(block + 12);
            q += b * x_j, w += d * x_j;
            FOUR(product + j) += a + (b * t + d * v);
        }
        four sums = {NAME(total)(p), NAME(total)(q), NAME(total)(r), NAME(total)(w)};
        FOUR(product + i) = sums + ((CONST_FOUR(block) * s + CONST_FOUR(block + 8) * u) +
                                    (CONST_FOUR(block + 4) * t + CONST_FOUR(block + 12) * v));
    }
    if (is_due) {
        m->n_terms -= GROUP;
        for (long k = 0; k < MOST_TERMS; k++) m->signs[k] = k < m->n_terms ? m->signs[k + GROUP] : 0.0;
        memmove(m->terms, m->terms + GROUP * m->width, m->n_terms * m->width * sizeof *m->terms);
    }
    for (long k = 0; k < m->n_terms; k++) dots[k] = NAME(inner)(m->terms + k * m->width, x, n);
    NAME(add_terms)(m, dots, product, n);
}

static void NAME(add_squares)(
    double *restrict squares, double root, const double *mean, double change, const double *c, long n) {
    for (long k = 0; k < n; k++) {
        double value = root * mean[k] + change * c[k];
        squares[k] += value * value;
    }
}

static void NAME(add_scores)(double *restrict scores, double share, const double *squares, const double *prior,
                             double scale, const double *variances, double r, const double *c, long n) {
    for (long k = 0; k < n; k++)
        scores[k] += share * squares[k] / (prior[k] + scale * variances[k] + r * c[k] * c[k]);
}

static void NAME(add_change)(double *restrict mean, double change, const double *c, double share,
                             const double *p, double root, long n) {
    for (long k = 0; k < n; k++) mean[k] += (change * c[k] - share * p[k]) / root;
}

#endif
