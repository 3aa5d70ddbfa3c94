// Gaussian kernels at the numbers of a column, added up.
#pragma once
#include "levels.hpp"
#include "views.hpp"

namespace suffice {

struct Densities {
  // Write Σ_q n_cq N(x_i; x_q, h_c²), (k, b), of every class c, which has n_cq numbers at x_q.
  void (*sum_kernels)(Vector<const double> x, Matrix<const double> count,
                      Vector<const double> bandwidth, Matrix<double> sums);
};

EVERY_LEVEL(Densities, densities)

}  // namespace suffice
