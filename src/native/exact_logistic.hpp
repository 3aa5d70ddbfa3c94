// Sums of the logistic loss, its gradient and its Hessian that no order of rows changes.
//
// Every term is at most 1 by the choice of scales, powers of 2 that are fixed for a whole fit, and
// is cut at fixed places: sums of what is cut off are whole multiples of a unit, which doubles add
// without rounding. What one term gives depends on its row alone, and sums of parts add up to the
// sum of all.
#pragma once
#include "levels.hpp"
#include "views.hpp"

namespace suffice {

// One exact sum: Σ of its parts, each a whole multiple of a unit of its own.
constexpr int SUM_PARTS = 4;  // the coarse level above and below its middle, and the fine one

// Rows z = scale · (1, x − origin), at most 1, with what each counts. `weights` (n,) are w, or null
// for all 1; f are `class_weights` (k,), with w f at most 1.
struct ScaledRows {
  Matrix<const double> x;
  Vector<const double> origin, scale;
  Vector<const std::int64_t> codes;
  const double* weights;
  Vector<const double> class_weights;
};

// Σ w f ℓ · `loss_scale` (SUM_PARTS,); of every class, Σ w · `weight_scale` and Σ w cᵀz ·
// `checksum_scale` (SUM_PARTS, k); Σ w f ∂ℓ/∂t_a z (SUM_PARTS, m, 1 + d).
struct ExactSums {
  double loss_scale, weight_scale, checksum_scale;
  double* loss;
  Matrix<double> weight, checksum;
  Cube<double> gradient;
};

struct ExactLogisticKernels {
  // Add what rows say of m coefficient vectors; `directions` (m + 1, 1 + d) are these and then c.
  void (*add_gradient)(ScaledRows rows, Matrix<const double> directions, ExactSums sums);

  // Add Σ r_a z to `gradient` (SUM_PARTS, m, D), of rows z (n, D) and r (n, m), each at most 1.
  void (*add_products)(Matrix<const double> r, Matrix<const double> z, Cube<double> gradient);

  // Add Σ v z zᵀ to `hessian` (SUM_PARTS, D, D), of which the upper triangle counts; v (n,).
  void (*add_squares)(Vector<const double> v, Matrix<const double> z, Cube<double> hessian);

  // Add Σ v_a (n, m) to `sums` (SUM_PARTS, m); each is at most 1.
  void (*add_columns)(Matrix<const double> v, Matrix<double> sums);

  // Lower `least` (d,) and raise `largest` to the cells of rows whose code is 0 or more.
  void (*widen)(Matrix<const double> x, Vector<const std::int64_t> codes, double* least,
                double* largest);
};
EVERY_LEVEL(ExactLogisticKernels, exact_logistic)

}  // namespace suffice
