// Vectors of any length.
#pragma once
#include "support/double_double.hpp"
#include "support/simd.hpp"

namespace suffice::LEVEL {
namespace {

// Add f · x to s, both (d,).
INLINE void add_multiple(double* s, double f, const double* x, Index d) {
  Index j = 0;
  for (const Lanes factor = splat(f); j + LANES <= d; j += LANES)
    store(s + j, load(s + j) + factor * load(x + j));
  for (; j < d; ++j) s[j] += f * x[j];
}

// Whether one of some numbers is larger than a limit; NaN is not.
INLINE bool any_larger(const double* values, Index d, double limit) {
  Lanes largest = splat(0.0);
  Index j = 0;
  for (; j + LANES <= d; j += LANES) {
    const Lanes size = magnitude(load(values + j));
    largest = choose(size, largest, size, largest);
  }
  bool larger = false;
  for (int i = 0; i < LANES; ++i) larger |= lane(largest, i) > limit;
  for (; j < d; ++j) larger |= magnitude(values[j]) > limit;
  return larger;
}

// aᵀb, in four chains: additions need not wait for each other.
INLINE double product(const double* a, const double* b, Index d) {
  constexpr int CHAINS = 4;
  double sum[CHAINS] = {0.0, 0.0, 0.0, 0.0};
  Index j = 0;
  for (; j + CHAINS <= d; j += CHAINS)
    UNROLL for (int q = 0; q < CHAINS; ++q) sum[q] += a[j + q] * b[j + q];
  for (; j < d; ++j) sum[0] += a[j] * b[j];
  return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

}  // namespace
}  // namespace suffice::LEVEL
