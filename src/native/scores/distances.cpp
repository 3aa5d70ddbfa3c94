#include "scores/distances.hpp"

#include "support/elementary_functions.hpp"
#include "support/interrupts.hpp"
#include "scores/row_tiles.hpp"
#include "support/vectors.hpp"

namespace suffice::LEVEL {
namespace {

constexpr double NEGLIGIBLE = 1e-13;  // what rounding leaves of the variance of a dependent column

enum class Cells { usable, missing, too_large };

Cells looked_at(Strided<const double> x, Index first, Index rows) {
  bool missing = false, large = false;
  for (Index i = first; i < first + rows; ++i)
    for (Index j = 0; j < x.columns; ++j) {
      missing |= x(i, j) != x(i, j);
      large |= magnitude(x(i, j)) > LARGEST;
    }
  return large ? Cells::too_large : missing ? Cells::missing : Cells::usable;
}

// Write ROWS rows of W v, from row i on, the last twice if there are fewer; v are 8 · GROUPS rows.
template <int ROWS, int GROUPS>
INLINE void whiten_rows(Matrix<const double> w, Index i, const double* v, double* white) {
  const Index d = w.shape[0];
  const double* row[ROWS];
  Lanes sum[ROWS][GROUPS];
  UNROLL for (int q = 0; q < ROWS; ++q) {
    row[q] = w.at + least(i + q, d - 1) * d;
    UNROLL for (int r = 0; r < GROUPS; ++r) sum[q][r] = splat(0.0);
  }
  for (Index j = 0; j < least(i + ROWS, d); ++j) {
    Lanes cell[GROUPS];
    UNROLL for (int r = 0; r < GROUPS; ++r) cell[r] = load(v + j * ABREAST + r * LANES);
    UNROLL for (int q = 0; q < ROWS; ++q) {
      const Lanes a = splat(row[q][j]);
      UNROLL for (int r = 0; r < GROUPS; ++r) sum[q][r] = fma(a, cell[r], sum[q][r]);
    }
  }
  UNROLL for (int q = 0; q < ROWS; ++q) {
    double* to = white + least(i + q, d - 1) * ABREAST;
    UNROLL for (int r = 0; r < GROUPS; ++r) store(to + r * LANES, sum[q][r]);
  }
}

// Write W v of 16 rows v, columns (d, 16); W is lower triangular. Four rows of W share what is
// loaded, and their sums stay in registers.
void whiten(Matrix<const double> w, const double* v, double* white) {
  const Index d = w.shape[0];
  Index i = 0;
  for (; i + 4 <= d; i += 4)
    if constexpr (WIDTH == LANES) {
      whiten_rows<4, 2>(w, i, v, white);
    } else {
      whiten_rows<4, 1>(w, i, v, white);
      whiten_rows<4, 1>(w, i, v + LANES, white + LANES);
    }
  for (; i < d; i += 2) whiten_rows<2, 2>(w, i, v, white);
}

// Write log_scale − ½ Σᵢ (yᵢ − shiftᵢ)² of 16 rows y, columns (d, 16).
void write_scores(const double* y, Vector<const double> shift, double log_scale, double* to) {
  Lanes a = splat(0.0), b = a;
  for (Index i = 0; i < shift.shape[0]; ++i) {
    const Lanes u = splat(shift[i]);
    const Lanes y0 = load(y + i * ABREAST) - u, y1 = load(y + i * ABREAST + LANES) - u;
    a = fma(y0, y0, a), b = fma(y1, y1, b);
  }
  const Lanes scale = splat(log_scale), half = splat(0.5);
  store(to, scale - half * a), store(to + LANES, scale - half * b);
}

// Classes that share the covariance m of s.
struct Classes {
  Index from, to;

  Classes(Index m, Index s, Index k) : from(s == 1 ? 0 : m), to(s == 1 ? k : m + 1) {}
};

Index add_complete(Strided<const double> x, Matrix<const double> origin,
                   Cube<const double> whitening, Matrix<const double> shift,
                   const double* log_scale, Vector<bool> done, Strided<double> out) {
  const Index s = whitening.shape[0], k = shift.shape[0], d = x.columns;
  const Buffer<double> tile(d * TALL), white(d * ABREAST), scored(ABREAST);
  Work work;
  for (Index first = 0; first < x.rows; first += TALL) {
    const Index rows = least(TALL, x.rows - first);
    for (Index m = 0; m < s; ++m) {
      if (!(write_tile(x, first, rows, origin.part(m).at, tile) <= LARGEST)) {
        const Cells cells = looked_at(x, first, rows);
        if (cells == Cells::too_large) return first;
        if (cells == Cells::missing) break;
      }
      fill(&done[first], rows, true);
      const Classes classes(m, s, k);
      for (Index i = 0; i < rows; i += ABREAST) {
        whiten(whitening.part(m), tile + place_of(i, 0, d), white);
        work.done(d * (d + classes.to - classes.from));
        for (Index c = classes.from; c < classes.to; ++c) {
          write_scores(white, shift.part(c), log_scale[c], scored);
          add_scores(out, first + i, c, scored, least(ABREAST, rows - i));
        }
      }
    }
  }
  return -1;
}

// The covariance of some columns of a row, factored: L Lᵀ. Columns that others determine are left
// out.
class Factor {
  Buffer<double> upper_;  // Lᵀ, row by row, so that a column of L is side by side
  Buffer<double> diagonal_, rest_;
  Buffer<Index> used_;
  Index d_, rank_ = 0;
  Work work_;

 public:
  explicit Factor(Index d) : upper_(d * d), diagonal_(d), rest_(d), used_(d), d_(d) {}

  INLINE double rank() const { return static_cast<double>(rank_); }

  // Factor the covariance of the observed columns; return its log-determinant.
  double factor(Matrix<const double> covariance, const bool* observed) {
    double log_determinant = 0.0;
    rank_ = 0;
    for (Index j = 0; j < d_; ++j) {
      if (!observed[j]) continue;
      const double left = write_column(covariance, j);
      work_.done(rank_ * rank_);
      if (!(left > NEGLIGIBLE * covariance(j, j))) continue;
      for (Index i = 0; i < rank_; ++i) upper_[i * d_ + rank_] = rest_[i];
      diagonal_[rank_] = __builtin_sqrt(left);
      used_[rank_++] = j;
      log_determinant += log(left);
    }
    return log_determinant;
  }

  // |L⁻¹ (x − mean − low)|² over the columns that are used.
  double squared_distance(Strided<const double> x, Index row, const double* mean,
                          const double* low) const {
    double sum = 0.0;
    for (Index i = 0; i < rank_; ++i) {
      const Index j = used_[i];
      rest_[i] = (x(row, j) - mean[j]) - low[j];
    }
    for (Index i = 0; i < rank_; ++i) {
      eliminate(i);
      sum += rest_[i] * rest_[i];
    }
    return sum;
  }

 private:
  // Divide the number i of `rest_` by the diagonal, and take its part out of those after it.
  INLINE void eliminate(Index i) const {
    rest_[i] /= diagonal_[i];
    add_multiple(rest_ + i + 1, -rest_[i], upper_ + i * d_ + i + 1, rank_ - i - 1);
  }

  // Write what L has in the row of column j to `rest_`; return the variance that is left.
  double write_column(Matrix<const double> covariance, Index j) const {
    double left = covariance(j, j);
    for (Index i = 0; i < rank_; ++i) rest_[i] = covariance(j, used_[i]);
    for (Index i = 0; i < rank_; ++i) {
      eliminate(i);
      left -= rest_[i] * rest_[i];
    }
    return left;
  }
};

// Note which columns a row shows; return whether they are those of the row before.
bool same_pattern(Strided<const double> x, Index row, bool* observed) {
  bool same = row > 0;
  for (Index j = 0; j < x.columns; ++j) {
    const bool shown = x(row, j) == x(row, j);
    same &= shown == observed[j];
    observed[j] = shown;
  }
  return same;
}

void add_marginal(Strided<const double> x, Matrix<const double> mean, Matrix<const double> mean_lo,
                  Cube<const double> covariance, Matrix<double> distance,
                  Matrix<double> log_determinant, Matrix<double> rank) {
  const Index s = covariance.shape[0];
  const Buffer<bool> observed(x.columns);
  Work work;
  for (Index m = 0; m < s; ++m) {
    Factor factor(x.columns);
    const Classes classes(m, s, mean.shape[0]);
    double of_pattern = 0.0;
    for (Index i = 0; i < x.rows; ++i) {
      if (!same_pattern(x, i, observed)) of_pattern = factor.factor(covariance.part(m), observed);
      log_determinant(i, m) = of_pattern, rank(i, m) = factor.rank();
      for (Index c = classes.from; c < classes.to; ++c)
        distance(i, c) = factor.squared_distance(x, i, mean.part(c).at, mean_lo.part(c).at);
      work.done((classes.to - classes.from) * x.columns * x.columns);
    }
  }
}

}  // namespace

extern const DistancesKernels distances{add_complete, add_marginal};

}  // namespace suffice::LEVEL
