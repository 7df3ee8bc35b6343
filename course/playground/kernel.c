// One run of the course's model, small enough for a browser: the live preset's Transformer,
// trained by AdamW on full batches. It computes what grokkit.core computes, in float32.
//
//   x_s     = E[token] + P[position]                 slot s, one for each pair that occurs
//   l_s     = (x_s W_K) . (x_q W_Q) / sqrt(D)        its score for the query, the last position
//   alpha   = softmax of l over the positions of an example
//   hidden  = relu(sum_j alpha_j C_j + b_1)          C_s = x_s W_V W_1
//   logits  = hidden W_2 + b_2
//   loss    = mean over examples of [log(1 + sum_{c != y} exp(z_c - z_y)) + beta KL(oracle||alpha)]
//
// Keys and values depend on the slot alone, so they are computed once per slot. Since only the
// query attends, W_K is needed only as u = W_K q. Examples pass through in blocks that stay in
// the cache: forward, loss and backward of one block, then the next.
//
// Vectors are clang's own (four floats); with -msimd128 they are WebAssembly's, without it the
// compiler takes them apart, which gives the slower kernel for browsers without SIMD.
//
// Matrices are row-major, a vector is a row: y = x W. Class columns are padded with zeros to a
// multiple of 8, rows of a block to a multiple of 4; a padded class has no share in the softmax.

#define D 64        // width of embeddings and values
#define M 256       // hidden units
#define T 5         // positions: a . b . =
#define PMAX 59     // largest modulus
#define CMAX 64     // its classes, padded
#define VMAX (PMAX + 1 + 4)
#define SMAX (4 * PMAX + 4)
#define NMAX (PMAX * PMAX)
#define BLOCK 48    // examples that pass through together

// float for the browser. The tests build the same source natively with -DDOUBLE and hold it
// against Python's float64, where 100 epochs agree to ten digits; in float32, rounding alone
// moves the loss by several per cent within 100 epochs, in Python's runs as well.
#ifdef DOUBLE
#include <math.h>
typedef double real;
typedef long long whole;
#define root sqrt
#else
typedef float real;
typedef int whole;
#define root __builtin_sqrtf
#endif
#define WIDTH (4 * sizeof(real))
typedef real v4 __attribute__((vector_size(WIDTH)));
typedef whole i4 __attribute__((vector_size(WIDTH)));
typedef real u4 __attribute__((vector_size(WIDTH), aligned(sizeof(real))));

#ifdef __wasm__
#define export(name) __attribute__((export_name(#name))) name
#else
#define export(name) name
#endif

static v4 splat(real x) { return (v4){x, x, x, x}; }
static v4 load(const real *p) { return *(const u4 *)p; }
static void store(real *p, v4 x) { *(u4 *)p = x; }
static v4 choose(i4 mask, v4 yes, v4 no) { return (v4)((mask & (i4)yes) | (~mask & (i4)no)); }
static real total(v4 x) { return (x[0] + x[1]) + (x[2] + x[3]); }
static v4 larger(v4 x, v4 y) { return choose(x > y, x, y); }
#ifdef __wasm_simd128__
static v4 root4(v4 x) { return __builtin_wasm_sqrt_f32x4(x); }  // else taken apart: 5 times as slow
#else
static v4 root4(v4 x) { return (v4){root(x[0]), root(x[1]), root(x[2]), root(x[3])}; }
#endif

// --- the run ------------------------------------------------------------------------------

static int p, classes, vocabulary, slots, train_n, test_n;  // classes: padded
static real learning_rate, weight_decay, kl_strength;
static const double beta1 = 0.9, beta2 = 0.999;  // double: in float, 1 - 0.999 is off by 1e-5
static const real eps = (real)1e-8, clip = 1;
static int warmup = 10, step_count;

// Parameters in grokkit's order: token and position embedding, W_Q, W_K, W_V, W_1, b_1, W_2, b_2.
#define SIZE (VMAX * D + T * D + 3 * D * D + D * M + M + M * CMAX + CMAX)
static real weights[SIZE], gradient[SIZE], mean_of[SIZE], square_of[SIZE];
static int at_position, at_q, at_k, at_v, at_1, at_b1, at_2, at_b2, size;

// Data: the slot of every position of every example, and its class.
static int train_slot[NMAX][T], test_slot[NMAX][T], train_class[NMAX], test_class[NMAX];
static int slot_token[SMAX], slot_position[SMAX];
static int informative[T] = {1, 0, 1, 0, 0};

// What the last pass found, for the page.
#define STATS 12
// loss, accuracy, KL, attention on each of 5 positions, then of the train set the mean absolute
// score gradient, and of the test set the accuracy on pairs without a mirror image in training.
static real stats[STATS];
static int mirrored_n;  // the first test examples: those whose mirror image is trained on

real *export(weights_at)(void) { return weights; }
real *export(gradient_at)(void) { return gradient; }
real *export(stats_at)(void) { return stats; }
int *export(train_slots_at)(void) { return &train_slot[0][0]; }
int *export(test_slots_at)(void) { return &test_slot[0][0]; }
int *export(train_classes_at)(void) { return train_class; }
int *export(test_classes_at)(void) { return test_class; }
int *export(slot_tokens_at)(void) { return slot_token; }
int *export(slot_positions_at)(void) { return slot_position; }
int export(padded_classes)(void) { return classes; }
int export(parameters)(void) { return size; }

// Lay out a run; weights, slots, examples and classes are then written by the caller.
void export(begin)(int p_, int vocabulary_, int slots_, int train_, int test_, int mirrored_) {
    p = p_; vocabulary = vocabulary_; slots = slots_; train_n = train_; test_n = test_;
    mirrored_n = mirrored_;
    classes = (p + 7) / 8 * 8;
    at_position = vocabulary * D;
    at_q = at_position + T * D;
    at_k = at_q + D * D;
    at_v = at_k + D * D;
    at_1 = at_v + D * D;
    at_b1 = at_1 + D * M;
    at_2 = at_b1 + M;
    at_b2 = at_2 + M * classes;
    size = at_b2 + classes;
    step_count = 0;
    for (int i = 0; i < SIZE; i++) weights[i] = gradient[i] = mean_of[i] = square_of[i] = 0;
}

// The settings of the optimizer and the prior; they may change while the run goes on.
void export(set)(real rate, real decay, real beta) {
    learning_rate = rate; weight_decay = decay; kl_strength = beta;
}

// --- elementary functions -------------------------------------------------------------------

#ifdef DOUBLE
static v4 exp4(v4 x) { return (v4){exp(x[0]), exp(x[1]), exp(x[2]), exp(x[3])}; }
#else
// exp, to 2 units in the last place: 2^k times a polynomial in what is left of x.
static v4 exp4(v4 x) {
    x = choose(x > splat(88.0f), splat(88.0f), x);
    i4 low = x < splat(-87.0f);
    x = choose(low, splat(-87.0f), x);
    v4 shifter = splat(12582912.0f);  // 1.5 * 2^23: adding it rounds to a whole number
    v4 k = (x * splat(1.44269504f) + shifter) - shifter;
    v4 r = x - k * splat(0.693359375f);
    r = r - k * splat(-2.12194440e-4f);
    v4 y = splat(1.9875691500e-4f);
    y = y * r + splat(1.3981999507e-3f);
    y = y * r + splat(8.3334519073e-3f);
    y = y * r + splat(4.1665795894e-2f);
    y = y * r + splat(1.6666665459e-1f);
    y = y * r + splat(5.0000001201e-1f);
    y = y * (r * r) + r + splat(1.0f);
    i4 power = (__builtin_convertvector(k, i4) + 127) << 23;
    return choose(low, splat(0.0f), y * (v4)power);
}
#endif

// log(1 + x) for x >= 0. The error of rounding 1 + x is given back, so a tiny x keeps its digits.
static double log_double(double x) {
    union { double d; unsigned long long u; } bits = {x};
    int e = (int)(bits.u >> 52) - 1023;
    bits.u = (bits.u & 0xFFFFFFFFFFFFFull) | 0x3FF0000000000000ull;
    double m = bits.d;
    if (m > 1.4142135623730951) { m *= 0.5; e++; }
    double f = (m - 1) / (m + 1), g = f * f, sum = 0;
    for (int k = 15; k >= 1; k -= 2) sum = sum * g + 1.0 / k;
    return e * 0.6931471805599453 + 2 * f * sum;
}
static real log1p_of(real x) {
    double w = 1.0 + (double)x;
    return w == 1.0 ? x : (real)(log_double(w) * ((double)x / (w - 1.0)));
}

static real exp_of(real x) { return exp4(splat(x))[0]; }

// --- one pass ---------------------------------------------------------------------------------

static real x[SMAX][D], value[SMAX][D], cell[SMAX][M], score[SMAX];
static real d_cell[SMAX][M], d_value[SMAX][D], d_x[SMAX][D], d_score[SMAX];
static real query[D], u[D];
static real hidden[BLOCK][M], d_hidden[BLOCK][M], logit[BLOCK][CMAX], alpha[BLOCK][T];
static real turned[CMAX][M];  // W_2, transposed

// Tiles of 4 x 8 sums: with what they take in, they fit 15 registers, which is what browsers leave.
// out[r][c] (+)= sum_k a[r][k] b[k][c]; rows % 4 == 0, columns % 8 == 0.
static void product(int rows, int inner, int columns, const real *a, int a_step, const real *b,
                    int b_step, real *out, int out_step, int add) {
    for (int c = 0; c < columns; c += 8)
        for (int r = 0; r < rows; r += 4) {
            v4 s[4][2];
            for (int i = 0; i < 4; i++)
                for (int j = 0; j < 2; j++)
                    s[i][j] = add ? load(out + (r + i) * out_step + c + 4 * j) : splat(0);
            const real *left = a + r * a_step, *row = b + c;
            for (int k = 0; k < inner; k++, left++, row += b_step) {
                v4 b0 = load(row), b1 = load(row + 4);
                for (int i = 0; i < 4; i++) {
                    v4 l = splat(left[i * a_step]);
                    s[i][0] += l * b0; s[i][1] += l * b1;
                }
            }
            for (int i = 0; i < 4; i++)
                for (int j = 0; j < 2; j++) store(out + (r + i) * out_step + c + 4 * j, s[i][j]);
        }
}

// out[k][c] += sum_r a[r][k] b[r][c]; height % 4 == 0, columns % 8 == 0.
static void outer_product(int rows, int height, int columns, const real *a, int a_step,
                          const real *b, int b_step, real *out, int out_step) {
    for (int c = 0; c < columns; c += 8)
        for (int k = 0; k < height; k += 4) {
            v4 s[4][2];
            for (int i = 0; i < 4; i++)
                for (int j = 0; j < 2; j++) s[i][j] = load(out + (k + i) * out_step + c + 4 * j);
            const real *left = a + k, *row = b + c;
            for (int r = 0; r < rows; r++, left += a_step, row += b_step) {
                v4 b0 = load(row), b1 = load(row + 4);
                for (int i = 0; i < 4; i++) {
                    v4 l = splat(left[i]);
                    s[i][0] += l * b0; s[i][1] += l * b1;
                }
            }
            for (int i = 0; i < 4; i++)
                for (int j = 0; j < 2; j++) store(out + (k + i) * out_step + c + 4 * j, s[i][j]);
        }
}

// What lives on slots: embeddings, scores, values and cells.
static void slots_forward(void) {
    const real *w = weights;
    for (int s = 0; s < slots; s++)
        for (int i = 0; i < D; i++)
            x[s][i] = w[slot_token[s] * D + i] + w[at_position + slot_position[s] * D + i];
    const real *x_q = x[slots - 1];  // the query is the last slot
    for (int j = 0; j < D; j++) query[j] = 0;
    for (int i = 0; i < D; i++)
        for (int j = 0; j < D; j++) query[j] += x_q[i] * w[at_q + i * D + j];
    for (int i = 0; i < D; i++) {
        real sum = 0;
        for (int j = 0; j < D; j++) sum += w[at_k + i * D + j] * query[j];
        u[i] = sum / 8;  // sqrt(D)
    }
    for (int s = 0; s < slots; s++) {
        real sum = 0;
        for (int i = 0; i < D; i++) sum += x[s][i] * u[i];
        score[s] = sum;
    }
    int rows = (slots + 3) / 4 * 4;
    product(rows, D, D, x[0], D, w + at_v, D, value[0], D, 0);
    product(rows, D, M, value[0], D, w + at_1, M, cell[0], M, 0);
}

// One block: attention, hidden layer and logits of its examples; rows beyond n become 0.
static int block_forward(int n, const int (*slot)[T]) {
    const real *w = weights;
    for (int r = 0; r < n; r++) {
        real top = -(real)1e30, sum = 0;
        for (int j = 0; j < T; j++) if (score[slot[r][j]] > top) top = score[slot[r][j]];
        for (int j = 0; j < T; j++) sum += alpha[r][j] = exp_of(score[slot[r][j]] - top);
        v4 share[T];
        const real *from[T];
        for (int j = 0; j < T; j++) {
            share[j] = splat(alpha[r][j] /= sum);
            from[j] = cell[slot[r][j]];
        }
        for (int i = 0; i < M; i += 4) {
            v4 h = load(w + at_b1 + i);
            for (int j = 0; j < T; j++) h += share[j] * load(from[j] + i);
            store(&hidden[r][i], larger(h, splat(0)));
        }
    }
    int rows = (n + 3) / 4 * 4;
    for (int r = n; r < rows; r++) for (int i = 0; i < M; i++) hidden[r][i] = 0;
    for (int r = 0; r < rows; r++)
        for (int c = 0; c < classes; c++) logit[r][c] = w[at_b2 + c];
    product(rows, M, classes, hidden[0], M, w + at_2, classes, logit[0], CMAX, 1);
    return rows;
}

// The loss of a row, and its logits replaced by weight * d loss / d logits. Exact for tiny losses:
// with margins m_c = z_c - z_y the loss is log1p of the sum of exp(m_c), which float32 can hold.
static real row_loss(real *z, int y, real weight, int *right) {
    real own = z[y];
    z[y] = -(real)1e30;
    for (int c = p; c < classes; c++) z[c] = -(real)1e30;
    v4 high = splat(-(real)1e30), sum = splat(0);
    for (int c = 0; c < classes; c += 4) {
        v4 margin = load(z + c) - splat(own);
        store(z + c, margin);
        high = larger(margin, high);
    }
    real largest = high[0];
    for (int i = 1; i < 4; i++) if (high[i] > largest) largest = high[i];
    *right = largest < 0;
    real top = largest > 0 ? largest : 0;
    for (int c = 0; c < classes; c += 4) {
        v4 share = exp4(load(z + c) - splat(top));
        store(z + c, share);
        sum += share;
    }
    real others = total(sum), all = others + exp_of(-top);
    for (int c = 0; c < classes; c += 4) store(z + c, load(z + c) * splat(weight / all));
    z[y] = -weight * others / all;
    return top > 0 ? top + (real)log_double(all) : log1p_of(others);
}

static real kl_of(const real *a) {
    real sum = 0;
    for (int j = 0; j < T; j++)
        if (informative[j]) sum -= (real)0.5 * (real)log_double((a[j] > (real)1e-37 ? a[j] : (real)1e-37) * 2.0);
    return sum;
}

static void note(real loss, int right, real kl, const real *on, int n) {
    stats[0] = loss / n; stats[1] = (real)right / n; stats[2] = kl / n;
    for (int j = 0; j < T; j++) stats[3 + j] = on[j] / n;
}

// Loss, accuracy, KL and attention on the test set, into stats.
void export(test)(void) {
    real loss = 0, kl = 0, on[T] = {0};
    int right = 0, unmirrored = 0, one;
    slots_forward();
    for (int first = 0; first < test_n; first += BLOCK) {
        int n = test_n - first < BLOCK ? test_n - first : BLOCK;
        block_forward(n, test_slot + first);
        for (int r = 0; r < n; r++) {
            loss += row_loss(logit[r], test_class[first + r], 0, &one);
            right += one;
            unmirrored += one && first + r >= mirrored_n;
            kl += kl_of(alpha[r]);
            for (int j = 0; j < T; j++) on[j] += alpha[r][j];
        }
    }
    note(loss, right, kl, on, test_n);
    stats[9] = mirrored_n < test_n ? (real)unmirrored / (test_n - mirrored_n) : 0;
}

// Loss and gradient on the train set; stats are those of the weights before the step.
void export(differentiate)(void) {
    const real *w = weights;
    real *g = gradient;
    real loss = 0, kl = 0, on[T] = {0};
    int right = 0, one;
    slots_forward();
    for (int i = 0; i < size; i++) g[i] = 0;
    for (int s = 0; s < slots; s++) {
        d_score[s] = 0;
        for (int i = 0; i < M; i++) d_cell[s][i] = 0;
    }
    for (int k = 0; k < M; k++)
        for (int c = 0; c < classes; c++) turned[c][k] = w[at_2 + k * classes + c];
    real pulled = 0;
    for (int first = 0; first < train_n; first += BLOCK) {
        int n = train_n - first < BLOCK ? train_n - first : BLOCK;
        const int (*slot)[T] = train_slot + first;
        int rows = block_forward(n, slot);
        for (int r = 0; r < n; r++) {
            loss += row_loss(logit[r], train_class[first + r], (real)1.0 / train_n, &one);
            right += one;
            kl += kl_of(alpha[r]);
            for (int j = 0; j < T; j++) on[j] += alpha[r][j];
            for (int c = 0; c < classes; c++) g[at_b2 + c] += logit[r][c];
        }
        for (int r = n; r < rows; r++) for (int c = 0; c < classes; c++) logit[r][c] = 0;
        outer_product(rows, M, classes, hidden[0], M, logit[0], CMAX, g + at_2, classes);
        product(rows, p, M, logit[0], CMAX, turned[0], M, d_hidden[0], M, 0);
        for (int r = 0; r < n; r++) {
            v4 along[T], share[T];
            const real *from[T];
            real *to[T];
            for (int j = 0; j < T; j++) {
                along[j] = splat(0);
                share[j] = splat(alpha[r][j]);
                from[j] = cell[slot[r][j]];
                to[j] = d_cell[slot[r][j]];
            }
            for (int i = 0; i < M; i += 4) {
                v4 d = choose(load(&hidden[r][i]) > splat(0), load(&d_hidden[r][i]), splat(0));
                store(g + at_b1 + i, load(g + at_b1 + i) + d);
                for (int j = 0; j < T; j++) {
                    along[j] += d * load(from[j] + i);
                    store(to[j] + i, load(to[j] + i) + share[j] * d);
                }
            }
            real d_alpha[T], centre = 0;
            for (int j = 0; j < T; j++) centre += alpha[r][j] * (d_alpha[j] = total(along[j]));
            for (int j = 0; j < T; j++) {
                real d = alpha[r][j] * (d_alpha[j] - centre);
                pulled += d < 0 ? -d : d;
                d += kl_strength / train_n * (alpha[r][j] - (informative[j] ? (real)0.5 : (real)0.0));
                d_score[slot[r][j]] += d;
            }
        }
    }
    // Backward on slots.
    static real turned_1[M][D], turned_v[D][D];
    for (int i = 0; i < D; i++) for (int j = 0; j < M; j++) turned_1[j][i] = w[at_1 + i * M + j];
    for (int i = 0; i < D; i++) for (int j = 0; j < D; j++) turned_v[j][i] = w[at_v + i * D + j];
    int rows = (slots + 3) / 4 * 4;
    product(rows, M, D, d_cell[0], M, turned_1[0], D, d_value[0], D, 0);
    product(rows, D, D, d_value[0], D, turned_v[0], D, d_x[0], D, 0);
    outer_product(slots, D, M, value[0], D, d_cell[0], M, g + at_1, M);
    outer_product(slots, D, D, x[0], D, d_value[0], D, g + at_v, D);
    real z[D] = {0}, d_query[D] = {0};
    for (int s = 0; s < slots; s++)
        for (int i = 0; i < D; i++) {
            z[i] += d_score[s] * x[s][i];
            d_x[s][i] += d_score[s] * u[i];
        }
    for (int i = 0; i < D; i++)
        for (int j = 0; j < D; j++) {
            g[at_k + i * D + j] = z[i] * query[j] / 8;
            d_query[j] += z[i] * w[at_k + i * D + j] / 8;
        }
    for (int i = 0; i < D; i++)
        for (int j = 0; j < D; j++) {
            g[at_q + i * D + j] = x[slots - 1][i] * d_query[j];
            d_x[slots - 1][i] += w[at_q + i * D + j] * d_query[j];
        }
    for (int s = 0; s < slots; s++)
        for (int i = 0; i < D; i++) {
            g[slot_token[s] * D + i] += d_x[s][i];
            g[at_position + slot_position[s] * D + i] += d_x[s][i];
        }
    note(loss, right, kl, on, train_n);
    stats[8] = pulled / T;  // of each example: d has 1 / train_n in it
}

static double one_minus_power(double base, int exponent) {
    double result = 1;
    for (double b = base; exponent; exponent >>= 1, b *= b) if (exponent & 1) result *= b;
    return 1 - result;
}

// One step of AdamW with warm-up and clipping, on the gradient that is there.
void export(update)(void) {
    step_count++;
    double sum = 0;
    for (int i = 0; i < size; i += 4) sum += (double)total(load(gradient + i) * load(gradient + i));
    real scale = clip / (root((real)sum) + (real)1e-6);
    if (scale > 1) scale = 1;
    real rate = learning_rate * (step_count < warmup ? (real)step_count / warmup : 1);
    real keep = 1 - rate * weight_decay;
    real fix1 = (real)(1 / one_minus_power(beta1, step_count));
    real fix2 = (real)(1 / one_minus_power(beta2, step_count));
    real new1 = (real)(1 - beta1), new2 = (real)(1 - beta2);
    for (int i = 0; i < size; i += 4) {
        v4 g = load(gradient + i) * splat(scale);
        v4 m = load(mean_of + i), s = load(square_of + i);
        m = m + (g - m) * splat(new1);
        s = s + (g * g - s) * splat(new2);
        store(mean_of + i, m);
        store(square_of + i, s);
        v4 step = (m * splat(fix1)) / (root4(s * splat(fix2)) + splat(eps));
        store(weights + i, load(weights + i) * splat(keep) - splat(rate) * step);
    }
}

// Train some epochs; stats are those of the train set before the last step.
void export(train)(int epochs) {
    for (int i = 0; i < epochs; i++) { differentiate(); update(); }
}
