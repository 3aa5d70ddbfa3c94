#include "linear/sweep.hpp"

#include "support/elementary_functions.hpp"
#include "support/interrupts.hpp"
#include "support/memory.hpp"
#include "support/vectors.hpp"

namespace suffice::LEVEL {
namespace {

constexpr double LOG_2PI = 0x1.d67f1c864beb4p+0;  // log(2π), rounded

// Sweep a symmetric matrix (d, d) on column i, in place, or with a sign of −1 take that back;
// return the pivot.
double sweep_column(Matrix<double> a, Index i, double* row, double sign = 1.0) {
  const Index d = a.shape[0];
  const double pivot = a(i, i);
  for (Index j = 0; j < d; ++j) row[j] = a(i, j) / pivot;
  for (Index j = 0; j < d; ++j) {
    if (j == i) continue;
    add_multiple(&a(j, 0), -a(i, j), row, d);
    a(j, i) = sign * row[j];
  }
  for (Index j = 0; j < d; ++j) a(i, j) = sign * row[j];
  a(i, i) = -1.0 / pivot;
  return pivot;
}

// Some columns, in their order.
class Columns {
  Buffer<Index> places_;
  Index many_ = 0;

 public:
  explicit Columns(Index d) : places_(d) {}

  INLINE void clear() { many_ = 0; }
  INLINE void append(Index j) { places_[many_++] = j; }
  INLINE const Index* begin() const { return places_; }
  INLINE const Index* end() const { return places_ + many_; }
  INLINE Index many() const { return many_; }
};

// Covariances (s, d, d), swept on the columns that a cell shows: on each of these, or on all that
// any cell shows, of which those that this one lacks are taken back, where they are fewer. That
// loses digits where one of them nearly follows from the others.
class Covariances {
  static constexpr double LEAST = 1e-4;  // of a variance, that the others leave

  Cube<const double> given_;
  Columns all_;
  Buffer<double> swept_, log_determinant_, row_;
  Buffer<bool> is_swept_;

 public:
  Covariances(Cube<const double> given, Matrix<const bool> observed)
      : given_(given), all_(given.shape[1]), swept_(given.size()), log_determinant_(given.shape[0]),
        row_(given.shape[1]), is_swept_(given.shape[0]) {
    const Index s = given.shape[0], d = given.shape[1];
    Work work;
    for (Index j = 0; j < d; ++j) {
      bool is_shown = false;
      for (Index i = 0; i < observed.shape[0]; ++i) is_shown |= observed(i, j);
      if (is_shown) all_.append(j);
    }
    if (observed.shape[0] <= s) return;
    for (Index c = 0; c < s; ++c) {
      const Matrix<double> a = {swept_ + c * d * d, {d, d}};
      copy(a.at, given.part(c).at, d * d);
      is_swept_[c] = true;
      for (Index j : all_) {
        log_determinant_[c] += log(sweep_column(a, j, row_));
        work.done(d * d / 2);
      }
      for (Index j : all_) is_swept_[c] &= -1.0 / a(j, j) > LEAST * given(c, j, j);
    }
  }

  // Write the one of a cell; return log |Σ_oo|.
  double write(Index c, const bool* observed, const Columns& shown, Matrix<double> a, Work& work) {
    const Index d = a.shape[0], lost = all_.many() - shown.many();
    const bool back = is_swept_[c] && lost < shown.many();
    copy(a.at, back ? swept_ + c * d * d : given_.part(c).at, d * d);
    work.done(least(lost, shown.many()) * d * d / 2);
    double log_determinant = back ? log_determinant_[c] : 0.0;
    for (Index j : all_)
      if (back && !observed[j])
        log_determinant += log(-sweep_column(a, j, row_, -1.0));
      else if (!back && observed[j])
        log_determinant += log(sweep_column(a, j, row_));
    return log_determinant;
  }
};

// Add A S Aᵀ with A = [I; B] to `scatter` (d, d), S being `products`; return tr Σ_oo⁻¹ S.
double add_expected(Matrix<const double> a, Matrix<const double> products, const Columns& shown,
                    const Columns& lost, double* row, Matrix<double> scatter, Work& work) {
  const Index d = a.shape[0];
  double trace = 0.0;
  for (Index i : shown)
    for (Index j : shown) {
      scatter(i, j) += products(i, j);
      trace -= products(i, j) * a(i, j);
    }
  for (Index j : lost) {
    work.done(shown.many() * (d + 2 * lost.many()));
    fill(row, d, 0.0);  // a row of B S
    for (Index i : shown) add_multiple(row, a(j, i), &products(i, 0), d);
    for (Index i : shown) {
      scatter(i, j) += row[i];
      scatter(j, i) += row[i];
      for (Index h : lost) scatter(j, h) += row[i] * a(i, h);
    }
  }
  return trace;
}

// Fill in the missing columns of a group; return `distance` with that of the group from its mean.
double fill_in(Matrix<const double> a, const Columns& shown, const Columns& lost,
               const double* mean, double weight, double* x, double* r, double* y,
               double distance) {
  const Index d = a.shape[0];
  // y = [−Σ_oo⁻¹; B] (x − μ), so that both the distance and x̂ follow from it.
  fill(y, d, 0.0);
  for (Index j : shown) {
    r[j] = x[j] - mean[j];
    add_multiple(y, r[j], &a(j, 0), d);
  }
  for (Index j : shown) distance -= weight * r[j] * y[j];
  for (Index j : lost) x[j] = mean[j] + y[j];
  return distance;
}

void expect(SweepCells cells, const std::int64_t* code, const double* weight,
            Matrix<const double> mean, Cube<const double> covariance, Matrix<double> x,
            Cube<double> scatter, double* log_likelihood) {
  const Index d = x.shape[1];
  const Buffer<double> swept(d * d), row(d), r(d), y(d);
  Work work;
  const Matrix<double> a = {swept, {d, d}};
  Columns shown(d), lost(d);
  Covariances covariances(covariance, cells.observed);
  for (Index i = 0; i < cells.observed.shape[0]; ++i) {
    shown.clear(), lost.clear();
    for (Index j = 0; j < d; ++j) (cells.observed(i, j) ? shown : lost).append(j);
    const Matrix<double> to = scatter.part(cells.matrix[i]);
    const bool* const observed = &cells.observed(i, 0);
    const double log_determinant = covariances.write(cells.matrix[i], observed, shown, a, work);
    double n = 0.0, distance = 0.0;
    if (cells.place[i] >= 0)
      distance += add_expected(a, cells.products.part(cells.place[i]), shown, lost, row, to, work);
    for (Index g = cells.start[i]; g < cells.start[i + 1]; ++g) {
      distance = fill_in(a, shown, lost, &mean(code[g], 0), weight[g], &x(g, 0), r, y, distance);
      n += weight[g];
      work.done(shown.many() * d);
    }
    for (Index j : lost)
      for (Index h : lost) to(j, h) += n * a(j, h);
    log_likelihood[i] =
        -0.5 * (n * (static_cast<double>(shown.many()) * LOG_2PI + log_determinant) + distance);
  }
}

void add_scatter(Matrix<const double> x, const std::int64_t* code, const double* weight,
                 Matrix<const double> mean, Cube<double> scatter) {
  const Index d = x.shape[1];
  const Buffer<double> deviation(d);
  Work work;
  for (Index g = 0; g < x.shape[0]; ++g) {
    work.done(d * d / 2);
    for (Index j = 0; j < d; ++j) deviation[j] = x(g, j) - mean(code[g], j);
    const Matrix<double> to = scatter.part(scatter.shape[0] == 1 ? 0 : code[g]);
    for (Index j = 0; j < d; ++j) add_multiple(&to(j, 0), weight[g] * deviation[j], deviation, d);
  }
}

}  // namespace

extern const SweepKernels sweep{expect, add_scatter};

}  // namespace suffice::LEVEL
