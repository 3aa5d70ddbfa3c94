// Products of a matrix whose sums have one order, on every processor.
#pragma once
#include "levels.hpp"
#include "views.hpp"

namespace suffice {

struct GramKernels {
  // Write A x (m,) of A (m, g).
  void (*times)(Matrix<const double> a, Vector<const double> x, Vector<double> out);

  // Add Aᵀ r to `out` (g,).
  void (*add_transposed)(Matrix<const double> a, Vector<const double> r, Vector<double> out);

  // Add Aᵀ diag(v) A to `out` (g, g), which is symmetric.
  void (*add_gram)(Matrix<const double> a, Vector<const double> v, Matrix<double> out);
};

EVERY_LEVEL(GramKernels, gram)

}  // namespace suffice
