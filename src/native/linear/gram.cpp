#include "linear/gram.hpp"

#include "support/interrupts.hpp"
#include "support/memory.hpp"
#include "support/simd.hpp"

namespace suffice::LEVEL {
namespace {

constexpr Index SUMS = 8;  // of every scalar product

void times(Matrix<const double> a, Vector<const double> x, Vector<double> out) {
  const Index m = a.shape[0], g = a.shape[1], whole = g - g % SUMS;
  Work work;
  for (Index i = 0; i < m; ++i) {
    work.done(g);
    const double* const row = a.at + i * g;
    double sums[SUMS] = {};
    for (Index j = 0; j < whole; j += SUMS)
      for (Index l = 0; l < SUMS; ++l) sums[l] += row[j + l] * x[j + l];
    for (Index j = whole; j < g; ++j) sums[j - whole] += row[j] * x[j];
    for (Index half = SUMS / 2; half; half /= 2)
      for (Index l = 0; l < half; ++l) sums[l] += sums[l + half];
    out[i] = sums[0];
  }
}

void add_transposed(Matrix<const double> a, Vector<const double> r, Vector<double> out) {
  const Index m = a.shape[0], g = a.shape[1];
  Work work;
  for (Index i = 0; i < m; ++i) {
    work.done(g);
    for (Index j = 0; j < g; ++j) out[j] += r[i] * a(i, j);
  }
}

// Adds v vᵀ of vectors v (g,) to a symmetric matrix, above its diagonal: an element takes its
// products in the order of the vectors.
class Squares {
  static constexpr Index WIDE = WIDTH == LANES ? 2 * LANES : LANES;  // columns added up at a time,
  static constexpr Index TALL = WIDTH > 2 ? 4 : 2;                   // in so many rows
  Index g_, first_, stop_, panels_, waiting_ = 0;
  Buffer<double> vectors_;  // (panels, VECTORS, WIDE)
  Buffer<double> sums_;     // (whole TALL, whole WIDE)
  Work work_;

  static constexpr Index whole(Index n, Index of) { return (n + of - 1) / of; }
  double* panel(Index q) const { return vectors_ + q * VECTORS * WIDE; }
  Index across() const { return panels_ * WIDE; }

  INLINE void add_tile(Index i, Index q) const {
    constexpr Index MANY = WIDE / LANES;
    Lanes sum[TALL][MANY];
    double* const to = sums_ + i * across() + q * WIDE;
    UNROLL for (Index r = 0; r < TALL; ++r) UNROLL for (Index s = 0; s < MANY; ++s) sum[r][s] =
        load(to + r * across() + s * LANES);
    const double *v = panel(q), *f = panel(i / WIDE) + i % WIDE;
    for (Index t = 0; t < waiting_; ++t, v += WIDE, f += WIDE) {
      Lanes part[MANY];
      UNROLL for (Index s = 0; s < MANY; ++s) part[s] = load(v + s * LANES);
      UNROLL for (Index r = 0; r < TALL; ++r) {
        const Lanes factor = splat(f[r]);
        UNROLL for (Index s = 0; s < MANY; ++s) sum[r][s] += factor * part[s];
      }
    }
    UNROLL for (Index r = 0; r < TALL; ++r) UNROLL for (Index s = 0; s < MANY; ++s)
        store(to + r * across() + s * LANES, sum[r][s]);
  }

 public:
  static constexpr Index VECTORS = 64;  // that wait until they are added together

  Squares(Index g, Index first, Index stop)
      : g_(g), first_(first), stop_(stop), panels_(whole(g, WIDE)),
        vectors_(panels_ * VECTORS * WIDE), sums_(whole(g, TALL) * TALL * panels_ * WIDE) {}

  // Where eight numbers of the next vector belong, from the jth on.
  INLINE double* place(Index j) const { return panel(j / WIDE) + waiting_ * WIDE + j % WIDE; }

  INLINE void next() {
    if (++waiting_ == VECTORS) settle();
  }

  void settle() {
    for (Index i = first_; i < stop_; i += TALL) {
      for (Index q = i / WIDE; q < panels_; ++q) add_tile(i, q);
      work_.done((waiting_ + TALL) * (g_ - i));
    }
    waiting_ = 0;
  }

  void add_to(Matrix<double> out) {
    settle();
    for (Index i = first_; i < stop_; ++i) {
      work_.done(8 * (g_ - i));
      for (Index j = i; j < g_; ++j) out(j, i) = out(i, j) += sums_[i * across() + j];
    }
  }
};

// A covariance of k vectors ℓ is a sum of k − 1 squares: of each ℓ_c less the mean of those after
// it, times p_c s/(p_c + s), where s is the probability of those after it.
void add_covariances(Matrix<const double> a, Matrix<const double> p, Vector<const double> weights,
                     Index first, Index stop, Matrix<double> out) {
  const Index n = p.shape[0], k = p.shape[1], g = a.shape[1], whole = g - g % LANES;
  Squares squares(g, first, stop);
  const Buffer<double> later(g + LANES);  // Σ p ℓ of the vectors after one
  double vector[LANES];
  Work work;
  for (Index i = 0; i < n; ++i) {
    work.done(k * g);
    const double* row = &a((i + 1) * k - 1, 0);
    double s = p(i, k - 1);
    for (Index j = 0; j < g; ++j) later[j] = s * row[j];
    for (Index c = k - 2; c >= 0; --c) {
      row -= g;
      const double own = p(i, c), both = own + s, share = own * (s / both);
      if (share > 0.0) {  // NaN where both are 0
        const double factor = __builtin_sqrt(weights[i] * share);
        const Lanes f = splat(factor), per_s = splat(s);
        for (Index j = 0; j < whole; j += LANES)
          store(squares.place(j), f * (load(row + j) - load(later + j) / per_s));
        if (whole < g) {
          fill(vector, LANES, 0.0);
          for (Index j = whole; j < g; ++j) vector[j - whole] = factor * (row[j] - later[j] / s);
          store(squares.place(whole), load(vector));
        }
        squares.next();
      }
      s = both;
      for (Index j = 0; j < g; ++j) later[j] += own * row[j];
    }
  }
  squares.add_to(out);
}

void place_terms(Strided<const double> terms, Vector<const std::int64_t> place, double lowest,
                 Cube<double> out) {
  const Index k = out.shape[1], g = out.shape[2], m = place.size(), apart = k * terms.down;
  const Lanes bound = splat(lowest);
  Work work;
  for (Index i = 0; i < m; i += LANES)
    for (Index c = 0; c < k; ++c) {
      for (Index j = 0; j < g; j += LANES) {
        const double* const from = &terms(j * k + c, i);
        if (m - i >= LANES && g - j >= LANES && terms.across == 1) {
          Lanes rows[LANES];
          UNROLL for (Index q = 0; q < LANES; ++q) rows[q] = load(from + q * apart);
          transpose(rows);
          UNROLL for (Index q = 0; q < LANES; ++q)
              store(&out(place[i + q], c, j), choose(rows[q], bound, rows[q], bound));
          continue;
        }
        for (Index q = 0; q < least<Index>(LANES, m - i); ++q)
          for (Index l = 0; l < least<Index>(LANES, g - j); ++l)
            out(place[i + q], c, j + l) = most(lowest, from[l * apart + q * terms.across]);
      }
      work.done(2 * LANES * g);
    }
}

}  // namespace

extern const GramKernels gram{times, add_transposed, add_covariances, place_terms};

}  // namespace suffice::LEVEL
