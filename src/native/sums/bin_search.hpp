// The bins of a column that numbers lie in, eight numbers at a time.
#pragma once
#include "support/memory.hpp"
#include "support/simd.hpp"

namespace suffice::LEVEL {
namespace {

constexpr Index FEW_BINS = 64;  // of which each is looked at: this takes less than halving

// Write the bins of eight numbers, and `none` for NaN; return a bit for every infinite one.
INLINE NativeBits find_bins(const double* x, const double* low, Index first, Index bins, Index none,
                            std::int64_t* to) {
  typedef std::int64_t InMemory __attribute__((vector_size(8 * WIDTH), aligned(8), may_alias));
  NativeBits infinite{};
  EACH_PART {
    const Native value = native_load(x + WIDTH * p);
    NativeBits bin = NativeBits{} + first;
    if (bins <= FEW_BINS)
      for (Index q = 1; q < bins; ++q) bin -= (NativeBits)(native(low[first + q]) <= value);
    else
      for (int l = 0; l < WIDTH; ++l)
        for (Index left = bins; left > 1; left -= left / 2)
          bin[l] += low[bin[l] + left / 2] <= value[l] ? left / 2 : 0;
    infinite |= (NativeBits)(magnitude(value) == native(__builtin_inf()));
    *reinterpret_cast<InMemory*>(to + WIDTH * p) = value == value ? bin : NativeBits{} + none;
  }
  return infinite;
}

// Eight numbers of a column, of which `many` are there.
INLINE void read_column(Strided<const double> x, Index i, Index j, Index many, double* to) {
  for (Index r = 0; r < LANES; ++r) to[r] = x(i + least(r, many - 1), j);
}

}  // namespace
}  // namespace suffice::LEVEL
