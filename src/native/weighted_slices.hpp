// Exact sums of rows with weights, eight columns at a time (see `slices.hpp`).
//
// Slices b of a weight, a of a cell and c of its square have 24 bits and units that are 2²⁴ apart,
// so bᵢaⱼ and bᵢcⱼ add up without rounding wherever i + j is the same. Numbers are multiplied by a
// power of two first, that of their window: then no product of slices underflows.
#pragma once
#include "slices.hpp"

namespace suffice::LEVEL {
namespace {

constexpr int TOGETHER = 32;                             // rows whose products lanes hold
constexpr int MOST_GATHERED = 1 << 25;                   // how often lanes go into levels
constexpr double LARGEST_SQUARE = 0x1p46;                // of a first slice
constexpr double ROUNDER = 0x1.8p52, HALVER = 0x1.8p78;  // cut a number at 1, and at 2²⁶

// 2^(−24i)
constexpr double unit_of(int i) {
  double unit = 1.0;
  for (; i > 0; --i) unit *= 0x1p-24;
  for (; i < 0; ++i) unit *= 0x1p24;
  return unit;
}

// Cut x at a bit: return what is above it, and leave the rest.
INLINE Native cut(Native& x, Native at) {
  const Native above = (at + x) - at;
  x -= above;
  return above;
}

// The slices of K squares: x² = c₀ 2²⁴ + c₁ + c₂ 2⁻²⁴ + …, where x = a₀ + a₁ + …
template <int K>
INLINE void square(const Native (&a)[K], Native (&c)[2 * K]) {
  Native carry = native(0.0);
  UNROLL for (int s = 2 * K - 2; s >= 0; --s) {
    UNROLL for (int i = s < K ? 0 : s - K + 1; 2 * i < s; ++i) carry =
        add_product(a[i] + a[i], a[s - i], carry);
    if (s % 2 == 0) carry = add_product(a[s / 2], a[s / 2], carry);
    c[s + 1] = carry;
    carry = cut(c[s + 1], native(ROUNDER * unit_of(s - 1)));
  }
  c[0] = carry;
}

// Add a lane to a level whose unit is `unit`.
inline void gather(const double* lane, double unit, WeightedLot::Level& level) {
  for (int j = 0; j < LANES; j += WIDTH) {
    Native low = native_load(lane + j);
    const Native high = cut(low, native(HALVER * unit));
    native_store(level.high + j, native_load(level.high + j) + high);
    native_store(level.low + j, native_load(level.low + j) + low);
  }
}

// Add up to 32 rows to a lot; false if they do not fit. Slices of weights are (J, `size`).
template <int K, int J>
bool add_weighted_members(Members of, const double* slices, Index size, WeightedLot& lot) {
  constexpr int S = K + J - 1, Q = 2 * K + J - 1;
  double weight[J][LANES], sums[S][LANES], squares[Q][LANES];
  bool fits = true;
  for (int part = 0; part < LANES; part += WIDTH) {
    Native w[J], s[S], q[Q], largest = native(0.0);
    UNROLL for (int i = 0; i < J; ++i) w[i] = native(0.0);
    UNROLL for (int i = 0; i < S; ++i) s[i] = native(0.0);
    UNROLL for (int i = 0; i < Q; ++i) q[i] = native(0.0);
    const Native down = native_load(lot.down + part), up = native_load(lot.up + part);
    NativeBits left{};
    for (Index r = 0; r < of.many; ++r) {
      const Index row = of.rows[r];
      Native x = native_load(of.at + row * of.apart + part);
      const NativeBits shows = x == x;
      x = (Native)((NativeBits)x & shows);
      Native rest = x * down;
      left |= (NativeBits)(rest * up) ^ (NativeBits)x;
      Native a[K], c[2 * K];
      UNROLL for (int i = 0; i < K; ++i) a[i] = cut(rest, native(ROUNDER * unit_of(i)));
      left |= (NativeBits)rest;
      const Native first = a[0] * a[0];
      largest = first > largest ? first : largest;
      square<K>(a, c);
      UNROLL for (int j = 0; j < J; ++j) {
        const Native b = native(slices[j * size + row]);
        w[j] += (Native)((NativeBits)b & shows);
        UNROLL for (int i = 0; i < K; ++i) s[i + j] = add_product(a[i], b, s[i + j]);
        UNROLL for (int i = 0; i < 2 * K; ++i) q[i + j] = add_product(c[i], b, q[i + j]);
      }
    }
    const NativeBits bad = ~(largest <= native(LARGEST_SQUARE)) | left << 1;
    for (int j = 0; j < WIDTH; ++j) fits &= bad[j] == 0;
    UNROLL for (int i = 0; i < J; ++i) native_store(weight[i] + part, w[i]);
    UNROLL for (int i = 0; i < S; ++i) native_store(sums[i] + part, s[i]);
    UNROLL for (int i = 0; i < Q; ++i) native_store(squares[i] + part, q[i]);
  }
  if (!fits) return false;
  for (int i = 0; i < J; ++i) gather(weight[i], unit_of(i), lot.weight[i]);
  for (int i = 0; i < S; ++i) gather(sums[i], unit_of(i), lot.sums[i]);
  for (int i = 0; i < Q; ++i) gather(squares[i], unit_of(i - 1), lot.squares[i]);
  ++lot.gathered;
  return true;
}

using AddWeighted = bool (*)(Members, const double*, Index, WeightedLot&);

template <int J>
AddWeighted weighted_adder_of(int slices) {
  constexpr AddWeighted adders[] = {add_weighted_members<1, J>, add_weighted_members<2, J>,
                                    add_weighted_members<3, J>, add_weighted_members<4, J>};
  return adders[slices - 1];
}

inline bool add_to(WeightedLot& lot, Members of, const double* slices, Index size, int many) {
  if (!lot.slices) return false;
  const AddWeighted add = many == 1   ? weighted_adder_of<1>(lot.slices)
                          : many == 2 ? weighted_adder_of<2>(lot.slices)
                                      : weighted_adder_of<3>(lot.slices);
  return add(of, slices, size, lot);
}

}  // namespace
}  // namespace suffice::LEVEL
