// Mahalanobis distances of rows from k means, under a covariance of each class or one of all.
//
// n rows, d features, s covariances: s = 1 or k. W (s, d, d) is lower triangular and whitens:
// Σ⁻¹ = WᵀW. With an origin o near the means, `shift` (k, d) holds W(μ − o), so that
//
//     (x − μ)ᵀ Σ⁻¹ (x − μ) = |W(x − o) − W(μ − o)|².
#pragma once
#include "support/levels.hpp"
#include "support/views.hpp"

namespace suffice {

struct DistancesKernels {
  // Add −½|…|² + log_scale to the scores `out` (n, k) of tiles of rows that have no missing cell,
  // and mark their rows as `done` (n,). Returns −1, or the first of a tile of rows that holds a
  // number too large to be squared.
  Index (*add_complete)(Strided<const double> x, Matrix<const double> origin,
                        Cube<const double> whitening, Matrix<const double> shift,
                        const double* log_scale, Vector<bool> done, Strided<double> out);
  // Write the distances (n, k) of rows in the columns that they show, from means `mean` +
  // `mean_lo`. Rows of one pattern stand together. `log_determinant` and `rank` (n, s) are those of
  // the covariances of these columns.
  void (*add_marginal)(Strided<const double> x, Matrix<const double> mean,
                       Matrix<const double> mean_lo, Cube<const double> covariance,
                       Matrix<double> distance, Matrix<double> log_determinant,
                       Matrix<double> rank);
};
EVERY_LEVEL(DistancesKernels, distances)

}  // namespace suffice
