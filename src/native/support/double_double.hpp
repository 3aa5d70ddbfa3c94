// Error-free transformations and double-double arithmetic, of numbers or of lanes.
//
// The formulas are those of `suffice/numerics/error_free.py`, but for the product, which is fused:
// where nothing under- or overflows both are exact, and a test holds one against the other.
#pragma once
#include "support/simd.hpp"

namespace suffice::LEVEL {
namespace {

constexpr double LARGEST = 1e150;    // the square of a difference of larger numbers may overflow
constexpr double SMALLEST = 1e-140;  // the square of a smaller difference may lose digits

// hi + lo
template <class V>
struct Pair {
  V hi, lo;
};

// fl(a + b) and its error (Knuth).
template <class V>
INLINE Pair<V> two_sum(V a, V b) {
  const V s = a + b;
  const V z = s - a;
  return {s, (a - (s - z)) + (b - z)};
}

// fl(a + b) and its error, for |a| >= |b| (Dekker).
template <class V>
INLINE Pair<V> quick_two_sum(V a, V b) {
  const V s = a + b;
  return {s, b - (s - a)};
}

// fl(a · b) and its error.
template <class V>
INLINE Pair<V> two_product(V a, V b) {
  const V p = a * b;
  return {p, fma(a, b, -p)};
}

// Relative error at most 2^-104.
template <class V>
INLINE Pair<V> operator+(Pair<V> a, Pair<V> b) {
  auto [s, e] = two_sum(a.hi, b.hi);
  const auto [t, f] = two_sum(a.lo, b.lo);
  const Pair<V> sum = quick_two_sum(s, e + t);
  return quick_two_sum(sum.hi, sum.lo + f);
}

template <class V>
INLINE Pair<V> operator-(Pair<V> a) {
  return {-a.hi, -a.lo};
}

// Relative error at most 2^-102.
template <class V>
INLINE Pair<V> operator*(Pair<V> a, Pair<V> b) {
  const auto [p, e] = two_product(a.hi, b.hi);
  return quick_two_sum(p, e + (a.hi * b.lo + a.lo * b.hi));
}

// Long division, two digits of the quotient and a remainder.
template <class V>
INLINE Pair<V> operator/(Pair<V> a, Pair<V> b) {
  const V first = a.hi / b.hi;
  Pair<V> left = a + -(b * Pair<V>{first, 0.0 * first});
  const V second = left.hi / b.hi;
  left = left + -(b * Pair<V>{second, 0.0 * second});
  const auto [q, e] = quick_two_sum(first, second);
  return quick_two_sum(q, e + left.hi / b.hi);
}

INLINE double ldexp(double x, int power) { return __builtin_ldexp(x, power); }

// e with 2^(e-1) <= |x| < 2^e.
INLINE int exponent(double x) {
  int e;
  (void)__builtin_frexp(x, &e);
  return e;
}

INLINE double magnitude(double x) { return __builtin_fabs(x); }

}  // namespace
}  // namespace suffice::LEVEL
