// Posteriors of log joints, one row a lane: the classes of a row are added in their order.
#pragma once
#include "support/levels.hpp"
#include "support/views.hpp"

namespace suffice {

struct Posterior {
  // Write m + log Σ_c exp(a_c − m), m = max_c a_c, of every row (n, k) to `out` (n,).
  void (*log_sum_exp)(Strided<const double> a, double* out);

  // Write a_c − log Σ_c exp(a_c) to `out`, or log P(c) where every a_c is −∞; count those rows.
  Index (*log_normalise)(Strided<const double> a, Vector<const double> log_prior,
                         Strided<double> out);

  // Write exp(a_c − m) / Σ_c exp(a_c − m) over a, or P(c) where every a_c is −∞; count those rows.
  Index (*normalise)(Strided<double> a, Vector<const double> prior);
};

EVERY_LEVEL(Posterior, posterior)

}  // namespace suffice
