// Exact sums of rows, eight columns at a time: numbers are cut into slices whose products add up
// without rounding (Demmel and Nguyen, 2015, for sums; Ozaki, Ogita, Oishi and Rump, 2012, for
// products).
//
// Slices have units 2²⁴ apart. A lane S that begins at 1.5 · 2⁵² units cuts what is added to it:
// a = (S + x) − S is x rounded to the unit, and x − a is left for the next slice, at most half a
// unit. So |aᵢ| ≤ 2²³ but for the first slice, and 128 products of them stay below 2⁵³. Whether
// those of the first did is seen afterwards, at Σa₀², which bounds the others by the inequality of
// Cauchy and Schwarz. If so, and nothing is left of any x, all sums are exact.
#pragma once
#include "memory.hpp"
#include "moment_sums.hpp"
#include "simd.hpp"

namespace suffice::LEVEL {
namespace {

constexpr int HOLD = 128;      // rows whose products lanes hold
constexpr int SLICE = 24;      // bits of a slice
constexpr int GATHERED = 512;  // how often lanes go into integers of 64 bits

static_assert(PANEL == LANES);

// Some rows of one class, from the first column of a panel on.
struct Members {
  const double* at;
  Index apart;
  const Index* rows;
  Index many;
};

// Add rows to a lot; false if they do not fit. Meanwhile numbers `ahead` are asked for.
template <int K, bool gaps>
bool add_members(Members of, Lot& lot, const double* ahead) {
  constexpr int P = K * (K + 1) / 2;
  double sums[K][LANES], products[P][LANES], missing[LANES];
  bool fits = true;
  for (int part = 0; part < LANES; part += WIDTH) {
    Native s[K], q[P], absent = native_load(lot.missing + part);
    UNROLL for (int i = 0; i < K; ++i) s[i] = native_load(lot.sums[i] + part);
    UNROLL for (int p = 0; p < P; ++p) q[p] = native_load(lot.products[p] + part);
    NativeBits left{};
    for (Index r = 0; r < of.many; ++r) {
      if (!part) prefetch(ahead), ahead += LANES;
      Native rest = native_load(of.at + of.rows[r] * of.apart + part);
      if constexpr (gaps) {
        const NativeBits shows = rest == rest;
        absent += (Native)(~shows & (NativeBits)native(1.0));
        rest = (Native)((NativeBits)rest & shows);
      }
      Native a[K];
      UNROLL for (int i = 0; i < K; ++i) {
        const Native sum = s[i] + rest;
        a[i] = sum - s[i];
        s[i] = sum;
        rest -= a[i];
      }
      left |= (NativeBits)rest;
      int p = 0;
      UNROLL for (int i = 0; i < K; ++i) UNROLL for (int m = i; m < K; ++m, ++p) q[p] =
          add_product(a[i], a[m], q[p]);
    }
    const NativeBits bad = ~(q[0] <= native_load(lot.limit + part)) | left << 1;
    for (int j = 0; j < WIDTH; ++j) fits &= bad[j] == 0;
    UNROLL for (int i = 0; i < K; ++i) native_store(sums[i] + part, s[i]);
    UNROLL for (int p = 0; p < P; ++p) native_store(products[p] + part, q[p]);
    native_store(missing + part, absent);
  }
  if (!fits) return false;
  copy(lot.sums[0], sums[0], K * LANES);
  copy(lot.products[0], products[0], P * LANES);
  if constexpr (gaps) copy(lot.missing, missing, LANES);
  lot.held += static_cast<int>(of.many), lot.rows += of.many;
  return true;
}

using Add = bool (*)(Members, Lot&, const double*);

template <bool gaps>
Add adder_of(int slices) {
  constexpr Add adders[] = {add_members<1, gaps>, add_members<2, gaps>, add_members<3, gaps>,
                            add_members<4, gaps>};
  return adders[slices - 1];
}

inline bool add_to(Lot& lot, Members of, const double* ahead) {
  if (!lot.slices) return false;
  const Add add = lot.gaps ? adder_of<true>(lot.slices) : adder_of<false>(lot.slices);
  return add(of, lot, ahead);
}

}  // namespace
}  // namespace suffice::LEVEL
