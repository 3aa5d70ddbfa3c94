// Log-likelihoods of independent Gaussians: scaled squares of distances from the means.
#pragma once
#include "support/levels.hpp"
#include "support/views.hpp"

namespace suffice {

struct SquaresKernels {
  // Add Σⱼ log_scale[c, j] − (root[c, j] (x[i, j] − mean[c, j]))² to `out` (n, k); all of the class
  // tables are (k, d). NaN adds nothing. Returns −1, or the first of a tile of rows one of which
  // holds a number too large to be squared.
  Index (*add_gaussian)(const Table& x, Matrix<const double> mean, Matrix<const double> root,
                        Matrix<const double> log_scale, Strided<double> out);
};
EVERY_LEVEL(SquaresKernels, squares)

}  // namespace suffice
