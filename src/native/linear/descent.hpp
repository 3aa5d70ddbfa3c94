// Gradient descent on sums over rows: gradients, and steps after every few rows.
//
// Of a table (n, ≥ p) the first p columns are read. With centres and inverse units (p,) a row is
// standardised as it is read,
//
//     z = (constant, (x − m)/s)      t = V z
//
// with coefficients v (m, 1 + p) and `constant` 1 or 0. Rows are taken in a given order, by one
// thread.
#pragma once
#include "support/levels.hpp"
#include "support/views.hpp"

namespace suffice {

// What a descent reads. Either the targets are numbers (n, m), and the loss their squared errors,
// or they are class codes (n,), and it is the logistic loss.
struct DescentRows {
  Matrix<const double> table, targets;
  const std::int64_t* codes;  // null where there are targets
  const double *weights, *center, *inverse;
};

// Buffer for a row z (1 + p,), whose first number is the constant, and for scores t (m,).
struct DescentBuffers {
  double *z, *t;
};

struct DescentSteps {
  Index size;             // rows of a step
  const double* penalty;  // (1 + p,)
  double rate, momentum;
  bool nesterov;
};

struct DescentKernels {
  // Add Σ ω ℓ to `loss` and Σ ω ∂ℓ/∂t zᵀ to `g` (m, 1 + p), over the rows in `order`.
  void (*add_gradient)(DescentRows rows, Vector<const std::int64_t> order, DescentBuffers buffers,
                       Matrix<const double> v, Matrix<double> g, double* loss);
  // Step after every `size` rows of `order`: v ← v + d with d ← βd − ηg, in place. Nesterov's step
  // is βd − ηg with that d. The `loss` added is that of each row before its step; v after every
  // step is added to `path`. All of v, d and `path` are (m, 1 + p).
  void (*descend)(DescentRows rows, Vector<const std::int64_t> order, DescentBuffers buffers,
                  DescentSteps steps, Matrix<double> v, Matrix<double> velocity, double* loss,
                  Matrix<double> path);
};
EVERY_LEVEL(DescentKernels, descent)

}  // namespace suffice
