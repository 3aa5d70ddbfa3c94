// Where the slices of a lot lie: a window of bits that numbers have to lie within.
#pragma once
#include "double_double.hpp"
#include "slices.hpp"

namespace suffice::LEVEL {
namespace {

// Squares do not underflow, and no lane holds a number that is too large to be squared.
constexpr int LOWEST_UNIT = -440, HIGHEST_UNIT = 471;
constexpr int GROWTH = 6;     // bits kept free above numbers of few bits
constexpr Index SELDOM = 16;  // one in so many numbers may lie outside
constexpr Index RARE = 64;    // or, where another slice would do, one in so many

// The bits of a number: it is below 2^high, and a multiple of 2^low.
struct Span {
  int high, low;
};

INLINE Span span_of(double x) {
  const auto bits = __builtin_bit_cast(std::uint64_t, x);
  const int field = static_cast<int>(bits >> 52 & 0x7ff);
  const std::uint64_t fraction = bits & 0xfffffffffffff,
                      digits = field ? fraction | 1ull << 52 : fraction;
  const int last = (field ? field : 1) - 1075;
  return {last + 64 - __builtin_clzll(digits), last + __builtin_ctzll(digits)};
}

// Whether x ≠ 0 lies within `slices` slices, the first of that unit.
INLINE bool covers(int unit, int slices, Span x) {
  return x.high <= unit + SLICE - 1 && x.low >= unit - SLICE * (slices - 1);
}

// Numbers that are `apart` from each other.
struct Column {
  const double* at;
  Index apart, many;

  INLINE double operator[](Index i) const { return at[i * apart]; }
};

// How many numbers of a column, some of them 0 or missing, do not.
inline Index uncovered(Column column, int unit, int slices) {
  Index count = 0;
  for (Index r = 0; r < column.many; ++r) {
    const double x = column[r];
    count += x == x && x != 0.0 && !covers(unit, slices, span_of(x));
  }
  return count;
}

inline int within_bounds(int unit) { return most(LOWEST_UNIT, least(HIGHEST_UNIT, unit)); }

// The window for a column: as few slices as hold all but rare numbers, or those that hold most.
inline int choose_slices(Column column, int most_slices, int* unit) {
  Span all{-2000, 2000};
  for (Index r = 0; r < column.many; ++r)
    if (column[r] == column[r] && column[r] != 0.0) {
      const Span span = span_of(column[r]);
      all = {most(all.high, span.high), least(all.low, span.low)};
    }
  if (all.low > all.high) return *unit = 0, 1;
  for (int slices = 1; slices <= most_slices; ++slices) {
    const int spare = SLICE * slices - 1 - (all.high - all.low);
    const int above = spare > 0 && slices < 3 ? least(spare / 2, GROWTH) : 0;
    *unit = within_bounds(all.high - (SLICE - 1) + above);
    if (uncovered(column, *unit, slices) * RARE <= column.many) return slices;
  }
  Index best = column.many + 1;
  for (int high = all.high; high > all.low; high -= SLICE) {
    const int tried = within_bounds(high - (SLICE - 1));
    const Index left = uncovered(column, tried, most_slices);
    if (left < best) best = left, *unit = tried;
  }
  return most_slices;
}

// Begin the lanes of column j at their biases.
inline void open(Lot& lot, int j, int unit) {
  lot.unit[j] = unit;
  lot.down[j] = ldexp(1.0, -unit);
  lot.limit[j] = ldexp(1.0, 2 * unit + 53);
  for (int i = 0; i < MOST_SLICES; ++i)
    lot.sums[i][j] = lot.bias[i][j] = ldexp(1.5, unit - SLICE * i + 52);
}

inline void open(WeightedLot& lot, int j, int unit) {
  lot.unit[j] = unit;
  lot.down[j] = ldexp(1.0, -unit), lot.up[j] = ldexp(1.0, unit);
}

// Whether the windows of a lot lie well for the numbers (many, 8).
template <class AnyLot>
bool well_placed(const AnyLot& lot, const double* x, Index many) {
  bool well = lot.slices > 0;
  for (int j = 0; j < LANES && well; ++j)
    well = uncovered({x + j, LANES, many}, lot.unit[j], lot.slices) * SELDOM <= many;
  return well;
}

// Place the windows of a settled lot for the numbers (many, 8), where they do not lie well.
template <class AnyLot>
void place(AnyLot& lot, const double* x, Index many) {
  const int before = lot.slices;
  for (int j = 0; j < LANES; ++j) {
    const Column column{x + j, LANES, many};
    if (before && uncovered(column, lot.unit[j], before) * SELDOM <= many) continue;
    int unit = 0;
    lot.slices = most(lot.slices, choose_slices(column, MOST_SLICES, &unit));
    open(lot, j, unit);
  }
}

}  // namespace
}  // namespace suffice::LEVEL
