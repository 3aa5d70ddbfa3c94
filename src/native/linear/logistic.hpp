// Sums of the logistic loss and of its gradient over rows, dense or compressed.
#pragma once
#include "support/compressed.hpp"
#include "support/levels.hpp"

namespace suffice {

// What one pass over rows z says of m coefficient vectors: Σ w and Σ w cᵀz of every class (k,), and
// Σ w f_y ∂ℓ/∂t_a z. `weights` (n,) are w, or null for all 1; f are `class_weights` (k,).
struct LogisticSums {
  const double* weights;
  Vector<const double> class_weights;
  double *weight, *checksum;
  Matrix<double> gradient;
};

template <class T, class I>
struct SparseLogistic {
  using Number = T;
  using Place = I;

  // The same for compressed rows, z = (1, x). `directions` and the gradient (1 + d, width) have a
  // row for every column of x: m coefficients and c, or m sums, padded to whole lanes. Rows
  // whose code is −1 are left out.
  double (*add_sparse_gradient)(Compressed<T, I> x, Matrix<const double> directions,
                                Vector<const std::int64_t> codes, LogisticSums sums);
  // The same, and the Hessian ((1 + d)², pairs): a row for each two columns, and a column for each
  // two classes b ≤ a, row by row of that triangle, padded to whole lanes if there are several.
  // Each pair of cells of a row, in different columns, is added in one of its two places.
  double (*add_sparse_hessian)(Compressed<T, I> x, Matrix<const double> directions,
                               Vector<const std::int64_t> codes, LogisticSums sums,
                               Matrix<double> hessian);
};

struct LogisticKernels {
  OfCells<SparseLogistic> sparse;
  // Return Σ w f_y ℓ of dense rows, and add the rest to the sums: z = (1, x − origin).
  // `directions` (m + 1, 1 + d) are the coefficients and then c; `codes` (n,) the classes.
  double (*add_gradient)(Matrix<const double> x, Vector<const double> origin,
                         Matrix<const double> directions, Vector<const std::int64_t> codes,
                         LogisticSums sums);
  // Write ℓ (n,), ∂ℓ/∂t, p and 1 − p (n, m) of scores t (n, m); m = 1 for two classes.
  void (*loss_derivatives)(Matrix<const double> t, Vector<const std::int64_t> codes, double* loss,
                           Matrix<double> residual, Matrix<double> p, Matrix<double> other);
};
EVERY_LEVEL(LogisticKernels, logistic)

}  // namespace suffice
