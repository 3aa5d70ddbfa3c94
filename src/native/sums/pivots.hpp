// Numbers that sums are taken about, so that little is lost when their squares are subtracted.
#pragma once
#include "support/double_double.hpp"
#include "support/memory.hpp"

namespace suffice::LEVEL {
namespace {

constexpr double SQUARES = LARGEST * LARGEST / 4.0;  // of x − p: none of a larger x is below
constexpr double MANTISSA = 0x1p52;                  // steps of a double that fit into a binade
constexpr double NOISE = 0x1p-90;  // what rounding may leave of a sum whose rows are all taken away
constexpr double INFINITE = __builtin_inf();

// The pivot of values that spread so far about their middle, but not one of them.
//
// It is 0 where they spread half as far as they lie from 0: x − 0 is exact. Else it is the next
// multiple of the largest power of two within the spread. Without spread it is the middle, which
// then is each of the values.
INLINE double near(double middle, double spread) {
  if (magnitude(middle) <= 2.0 * spread) return 0.0;
  const double step = ldexp(1.0, exponent(spread) - 1);
  if (spread == 0.0 || magnitude(middle) >= MANTISSA * step) return middle;
  return __builtin_floor(middle / step + 0.5) * step;
}

// Rows of a matrix of doubles, `apart` from each other.
struct Rows {
  const double* at;
  Index apart;

  INLINE const double* operator[](Index i) const { return at + i * apart; }
};

// Choose p for the features (d,) that these rows of one class are the first to show.
//
// It is near the middle of their range, unless that is so far that a difference would not tell
// which values are too large.
inline void choose_pivots(Rows x, const Index* rows, Index many, const double* weight,
                          double* pivot, Index d) {
  for (Index j = 0; j < d; ++j) {
    if (weight[j] > 0.0) continue;
    double low = INFINITE, high = -INFINITE;
    for (Index r = 0; r < many; ++r) {
      const double value = x[rows[r]][j];
      if (magnitude(value) <= LARGEST) low = least(low, value), high = most(high, value);
    }
    pivot[j] = low <= high ? near(low + (high - low) / 2.0, high - low) : 0.0;
    if (magnitude(pivot[j]) > LARGEST / 4.0) pivot[j] = 0.0;
  }
}

// Whether the squares (k, padded) of d features are so small that each number is.
inline bool can_be_squared(const double* square, Index k, Index padded, Index d) {
  bool within = true;
  for (Index c = 0; c < k; ++c)
    for (Index j = 0; j < d; ++j) within &= square[c * padded + j] <= SQUARES;
  return within;
}

// Group n rows by class: `order[start[c]]` to `order[start[c + 1] - 1]` are the rows of class c.
//
// `start` is (k + 2,); its last place is only worked with.
inline void group(const std::int64_t* codes, Index n, Index k, Index* start, Index* order) {
  fill<Index>(start, k + 2, 0);
  for (Index i = 0; i < n; ++i)
    if (codes[i] >= 0) ++start[codes[i] + 2];
  for (Index c = 1; c < k + 2; ++c) start[c] += start[c - 1];
  for (Index i = 0; i < n; ++i)
    if (codes[i] >= 0) order[start[codes[i] + 1]++] = i;
}

// The pair of ab/w; ab itself may be larger than any double.
//
// The product comes before the quotient: an exact one then stays exact, and so do ties.
inline Pair<double> product_over(Pair<double> a, Pair<double> b, Pair<double> w) {
  if (__builtin_isfinite(a.hi * b.hi)) return a * b / w;
  const int up = -exponent(a.hi), down = -exponent(b.hi);
  const Pair<double> p = Pair<double>{ldexp(a.hi, up), ldexp(a.lo, up)} *
                         Pair<double>{ldexp(b.hi, down), ldexp(b.lo, down)} / w;
  return {ldexp(p.hi, -up - down), ldexp(p.lo, -up - down)};
}

}  // namespace
}  // namespace suffice::LEVEL
