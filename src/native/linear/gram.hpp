// Products of a matrix whose sums have one order, on every processor.
#pragma once
#include "support/levels.hpp"
#include "support/views.hpp"

namespace suffice {

struct GramKernels {
  // Write A x (m,) of A (m, g).
  void (*times)(Matrix<const double> a, Vector<const double> x, Vector<double> out);

  // Add Aᵀ r to `out` (g,).
  void (*add_transposed)(Matrix<const double> a, Vector<const double> r, Vector<double> out);

  // Add Σ_i ω_i Cov_i to `out` (g, g), which is symmetric: Cov_i is the covariance of k rows of A
  // (n k, g), from row i k on, that have the probabilities p (n, k). ω are `weights` (n,). Of the
  // rows above the diagonal those from `first`, a multiple of 4, to `stop` are added, and what is
  // symmetric to them: threads that add others write to other cells.
  void (*add_covariances)(Matrix<const double> a, Matrix<const double> p,
                          Vector<const double> weights, Index first, Index stop,
                          Matrix<double> out);

  // Write what g terms say of m rows under k classes, (g k, m), term by term, to rows of `out`
  // (n, k, g): of the ith to that at `place` i. No number is below `lowest`.
  void (*place_terms)(Strided<const double> terms, Vector<const std::int64_t> place, double lowest,
                      Cube<double> out);
};

EVERY_LEVEL(GramKernels, gram)

}  // namespace suffice
