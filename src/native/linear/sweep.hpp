// What rows with missing cells are expected to add to the sums of complete rows.
//
// d features. Rows form *cells*: all those that show the same columns o, and lack the others m,
// under the same covariance Σ. A cell holds groups of rows, one for each of its classes. Sweeping Σ
// on the columns o leaves all that is wanted of it:
//
//     −Σ_oo⁻¹   Bᵀ        B = Σ_mo Σ_oo⁻¹   the regression of the missing columns on those shown
//       B       C         C = Σ_mm − B Σ_om  the covariance that it leaves
//
// and the product of the pivots is the determinant of Σ_oo.
//
// Source: R. J. A. Little and D. B. Rubin, Statistical Analysis with Missing Data, 3rd ed. (2019),
// sections 7.4 and 11.2.
#pragma once
#include "support/levels.hpp"
#include "support/views.hpp"

namespace suffice {

// Cell i shows the columns `observed[i]` (d,), has the groups from `start[i]` to `start[i + 1]`,
// the covariance `matrix[i]`, and the scatter of its groups, each about its own mean, at
// `products[place[i]]`; −1 where that is 0.
struct SweepCells {
  Matrix<const bool> observed;
  const std::int64_t *start, *matrix, *place;
  Cube<const double> products;
};

struct SweepKernels {
  // Fill in the missing columns of groups of rows, and add what their cells scatter.
  //
  // Group g is of class `code[g]`, has the total `weight[g]` and the mean `x[g]` (d,), to whose
  // missing columns the expected ones are written. A S Aᵀ + nC with A = [I; B] is added to the
  // scatter (s, d, d) of the covariance, and the log-likelihood of each cell is written.
  void (*expect)(SweepCells cells, const std::int64_t* code, const double* weight,
                 Matrix<const double> mean, Cube<const double> covariance, Matrix<double> x,
                 Cube<double> scatter, double* log_likelihood);

  // Add w (x − μ)(x − μ)ᵀ of rows x (g, d), with the mean (k, d) of the class of each, to `scatter`
  // (s, d, d): to that of its class, or to the only one.
  void (*add_scatter)(Matrix<const double> x, const std::int64_t* code, const double* weight,
                      Matrix<const double> mean, Cube<double> scatter);
};
EVERY_LEVEL(SweepKernels, sweep)

}  // namespace suffice
