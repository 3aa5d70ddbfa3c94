// exp, log, log(1 + x), log Γ and digamma of arrays: the same bits on every processor.
#pragma once
#include "support/levels.hpp"
#include "support/views.hpp"

namespace suffice {

struct Elementary {
  // Write f(x) to `out`, both of one shape, in any order; they may be the same.
  using Function = void (*)(Strided<const double> x, Strided<double> out);
  Function exp, log, log1p;
  Function lgamma, digamma;  // of x > 0
};

EVERY_LEVEL(Elementary, elementary)

}  // namespace suffice
