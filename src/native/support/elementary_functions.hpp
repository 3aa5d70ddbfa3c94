// exp, log, log(1 + x), log Γ and digamma: the same bits on every processor, below 2 ulp.
//
// Only + − × ÷ and operations on the bits of numbers, in one order, and no fused product: a lane of
// eight and a number alone, every level and every processor give the same result. Rounding must be
// to nearest. A NaN in gives NaN out; every NaN that comes out is the same one.
//
// The polynomials are written by elementary_coefficients.py.
#pragma once
#include "support/double_double.hpp"
#include "support/elementary_coefficients.hpp"

namespace suffice::LEVEL {
namespace {

constexpr double NOT_A_NUMBER = __builtin_nan("");
constexpr double INFINITE = __builtin_inf();
constexpr double LAST_DOUBLE = 0x1.fffffffffffffp1023;
constexpr double FIRST_NORMAL = 0x1p-1022;
constexpr double SHIFT = 0x1.8p52;  // x + SHIFT has the whole number next to x as its last bits

// The bits of a number, as a whole number without sign.
using Word = std::uint64_t;
typedef Word NativeWords __attribute__((vector_size(8 * WIDTH)));

struct LaneWords {
  NativeWords part[PARTS];
};

INLINE LaneWords words(Lanes x) {
  LaneWords r;
  EACH_PART r.part[p] = (NativeWords)x.part[p];
  return r;
}
INLINE Word words(double x) {
  Word r;
  __builtin_memcpy(&r, &x, 8);
  return r;
}

INLINE Lanes number(LaneWords w) {
  Lanes r;
  EACH_PART r.part[p] = (Native)w.part[p];
  return r;
}
INLINE double number(Word w) {
  double r;
  __builtin_memcpy(&r, &w, 8);
  return r;
}

#define WORD_BY_WORD(op)                              \
  INLINE LaneWords operator op(LaneWords a, Word b) { \
    EACH_PART a.part[p] = a.part[p] op b;             \
    return a;                                         \
  }
WORD_BY_WORD(+)
WORD_BY_WORD(-)
WORD_BY_WORD(&)
WORD_BY_WORD(|)
WORD_BY_WORD(<<)
WORD_BY_WORD(>>)
#undef WORD_BY_WORD

INLINE LaneWords operator-(LaneWords a, LaneWords b) {
  EACH_PART a.part[p] = a.part[p] - b.part[p];
  return a;
}

template <class V>
constexpr int count_of = sizeof(V) / sizeof(double);  // NOLINT(bugprone-sizeof-expression)

// The same number in every lane, or the number.
template <class V>
INLINE V all(double x) {
  if constexpr (count_of<V> == 1)
    return x;
  else
    return splat(x);
}

INLINE double choose(double a, double b, double larger, double otherwise) {
  return a > b ? larger : otherwise;
}

// In how many lanes a > b.
INLINE int count_above(double a, double b) { return a > b; }
INLINE int count_above(Lanes a, Lanes b) {
  return static_cast<int>(total(choose(a, b, splat(1.0), splat(0.0))));
}

// y, and NaN where x is NaN.
INLINE double unless_nan(double x, double y) { return x == x ? y : NOT_A_NUMBER; }
INLINE Lanes unless_nan(Lanes x, Lanes y) { return shown(x, y, splat(NOT_A_NUMBER)); }

// c₀ + c₁ x + c₂ x² + …, from the last coefficient on.
template <class V, int N>
INLINE V polynomial(const double (&c)[N], V x) {
  V sum = all<V>(c[N - 1]);
  UNROLL for (int i = N - 2; i >= 0; --i) sum = sum * x + all<V>(c[i]);
  return sum;
}

// The same by even and odd powers: two chains, which need not wait for each other.
template <class V, int N>
INLINE V polynomial_in_halves(const double (&c)[N], V x) {
  const V square = x * x;
  V even = all<V>(c[(N - 1) & ~1]), odd = all<V>(c[(N - 2) | 1]);
  UNROLL for (int i = ((N - 1) & ~1) - 2; i >= 0; i -= 2) even = even * square + all<V>(c[i]);
  UNROLL for (int i = ((N - 2) | 1) - 2; i >= 1; i -= 2) odd = odd * square + all<V>(c[i]);
  return even + x * odd;
}

// q(r) of exp, of degree 10, in four parts: few operations wait for each other (G. Estrin, 1960).
template <class V>
INLINE V exp_polynomial(V r) {
  static_assert(sizeof EXP == 11 * sizeof(double));
  const V r2 = r * r, r4 = r2 * r2, r8 = r4 * r4;
  const auto line = [&](int i) __attribute__((always_inline)) {
    return all<V>(EXP[i]) + r * all<V>(EXP[i + 1]);
  };
  const V first = line(0) + r2 * line(2), second = line(4) + r2 * line(6);
  return (first + r4 * second) + r8 * (line(8) + r2 * all<V>(EXP[10]));
}

// eˣ = 2ⁿ y, y = eʳ with abs(r) ≤ ½ log 2: 1 + (r + r² q(r)). The last bits of `shifted` are n.
template <class V>
struct Exponential {
  V y, shifted;
};

template <class V>
INLINE Exponential<V> exp_parts(V x) {
  const V shifted = x * all<V>(PER_LN2) + all<V>(SHIFT);
  const V n = shifted - all<V>(SHIFT);
  const V high = x - n * all<V>(LN2_HIGH), low = n * all<V>(LN2_LOW);
  const V r = high - low, rest = (high - r) - low;
  return {all<V>(1.0) + (r + (rest + r * r * exp_polynomial(r))), shifted};
}

// eˣ, times two powers of 2, so that the result is rounded once where it is subnormal.
template <class V>
INLINE V exp(V x) {
  const V most = all<V>(710.0), least = all<V>(-746.0);  // ∞ above, 0 below
  const auto [y, shifted] = exp_parts(choose(x, most, most, choose(least, x, least, x)));
  const auto power = words(shifted) - (words(SHIFT) - 2048);  // n + 2048
  const auto half = power >> 1;
  const V first = number((half - 1) << 52);  // 2^(half − 1024)
  const V second = number(((power - half) - 1) << 52);
  return unless_nan(x, y * first * second);
}

// The same bits with fewer operations, where x is from −708 to 709.
template <class V>
INLINE V exp_of_moderate(V x) {
  const auto [y, shifted] = exp_parts(x);
  return y * number((words(shifted) - (words(SHIFT) - 1023)) << 52);
}

// A number as 2ᵏ (1 + f) with 1 + f between √½ and √2; it is above 0 and finite.
template <class V>
struct Reduced {
  V k, f;
};

template <class V>
INLINE Reduced<V> reduced(V x) {
  constexpr Word ROOT_OF_HALF = 0x3fe6a09e667f3bcd;
  const V normal = all<V>(FIRST_NORMAL);
  const V scaled = choose(normal, x, x * all<V>(0x1p54), x);
  const V down = choose(normal, x, all<V>(54.0), all<V>(0.0));
  const auto bits = words(scaled);
  const auto power = (bits - ROOT_OF_HALF + (Word{1024} << 52)) >> 52;  // k + 1024
  const V k = number(power | (Word{0x433} << 52)) - all<V>(0x1p52 + 1024.0);
  const V m = number(bits - ((power - 1024) << 52));
  return {k - down, m - all<V>(1.0)};
}

// What is missing in f − ½f²: log(1 + f) = f − ½f² + s (½f² + z w(z)) with s = f / (2 + f), z = s².
template <class V>
INLINE V log_tail(V f, V half_square) {
  const V s = f / (all<V>(2.0) + f), z = s * s;
  return s * (half_square + z * polynomial_in_halves(LOG, z));
}

// log(2ᵏ (1 + f)) + c for a small c.
template <class V>
INLINE V log_of(Reduced<V> x, V c) {
  const V h = all<V>(0.5) * x.f * x.f;
  const V small = log_tail(x.f, h) + (x.k * all<V>(LN2_LOW) + c);
  return x.k * all<V>(LN2_HIGH) - ((h - small) - x.f);
}

// What stands for a logarithm y of x: ∞ for ∞, −∞ for 0, NaN below and for NaN.
template <class V>
INLINE V log_at_ends(V x, V y) {
  const V zero = all<V>(0.0), none = all<V>(NOT_A_NUMBER);
  const V low = choose(zero, x, none, all<V>(-INFINITE));
  const V high = choose(x, all<V>(LAST_DOUBLE), x, y);
  return unless_nan(x, choose(x, zero, high, low));
}

template <class V>
INLINE V log(V x) {
  return log_at_ends(x, log_of(reduced(x), all<V>(0.0)));
}

// The same bits with fewer operations, where x is above 0 and finite.
template <class V>
INLINE V log_of_positive(V x) {
  return log_of(reduced(x), all<V>(0.0));
}

// log(1 + x) = log u + c/u, where u is 1 + x rounded and c what was rounded off.
template <class V>
INLINE V log1p(V x) {
  const auto [u, c] = two_sum(all<V>(1.0), x);
  const V y = log_at_ends(u, log_of(reduced(u), c / u));
  return choose(magnitude(x), all<V>(0.0), y, unless_nan(x, x));
}

// a · b and what is rounded off, without a fused product; halves of 26 and 27 bits by their bits,
// so that large numbers do not overflow (after T. J. Dekker, 1971).
template <class V>
INLINE Pair<V> split_product(V a, V b) {
  constexpr Word UPPER = ~Word{0x7ffffff};
  const V a_high = number(words(a) & UPPER), b_high = number(words(b) & UPPER);
  const V a_low = a - a_high, b_low = b - b_high, p = a * b;
  return {p, ((a_high * b_high - p) + a_high * b_low + a_low * b_high) + a_low * b_low};
}

template <class V>
INLINE Pair<V> split_product(V a, Pair<V> b) {
  const auto [p, e] = split_product(a, b.hi);
  return quick_two_sum(p, e + a * b.lo);
}

// log x to about 60 bits, of a pair above 0.
template <class V>
INLINE Pair<V> log_pair(Pair<V> x) {
  const auto [k, f] = reduced(x.hi);
  const auto square = split_product(f, f);
  const V h = all<V>(0.5) * square.hi, h_low = all<V>(0.5) * square.lo;
  const auto a = two_sum(k * all<V>(LN2_HIGH), f);
  const auto b = two_sum(a.hi, -h);
  const V small = (log_tail(f, h) - h_low) + (k * all<V>(LN2_LOW) + x.lo / x.hi);
  const auto c = two_sum(b.hi, small);
  return quick_two_sum(c.hi, c.lo + (a.lo + b.lo));
}

// log Γ(2 + z) = z (a + z (b + z p(z))), −⅝ ≤ z ≤ ½.
template <class V>
INLINE Pair<V> lgamma_about_two(V z) {
  const auto b = two_sum(all<V>(LGAMMA_BEND), z * polynomial(LGAMMA, z));
  const auto bend = split_product(z, Pair<V>{b.hi, b.lo + all<V>(LGAMMA_BEND_LOW)});
  const auto a = two_sum(all<V>(LGAMMA_SLOPE), bend.hi);
  const V a_low = a.lo + (bend.lo + all<V>(LGAMMA_SLOPE_LOW));
  return split_product(z, quick_two_sum(a.hi, a_low));
}

// An argument that was moved: log Γ(x) = log Γ(2 + z) + sign · log(product), for x ≤ 8.5.
//
//   x < ½      log Γ(2 + x) − log(x + x²)        z = x
//   x < 1⅜     log Γ(1 + x) − log x              z = x − 1
//   else       log Γ(x − n) + log (x − 1) … (x − n), with x − n below 2.5
template <class V>
struct Moved {
  V z, sign;
  Pair<V> product;
};

template <class V>
INLINE Moved<V> moved_near_two(V x) {
  const V one = all<V>(1.0), zero = all<V>(0.0), step = all<V>(1.5);
  Pair<V> product{one, zero};
  V y = x;
  for (int i = 0; i < 6; ++i) {
    const V next = y - one;
    const V factor = choose(next, step, next, choose(step, next, one, next));
    y = choose(step, next, y, next);
    product = split_product(factor, product);
  }
  const auto square = split_product(x, x);
  const auto small = two_sum(x, square.hi);
  const V under = all<V>(0.5), middle = all<V>(1.375);
  return {choose(under, x, x, choose(middle, x, x - one, y - all<V>(2.0))),
          choose(middle, x, -one, one),
          {choose(under, x, small.hi, choose(middle, x, x, product.hi)),
           choose(under, x, small.lo + square.lo, choose(middle, x, zero, product.lo))}};
}

template <class V>
INLINE V lgamma_small(V x) {
  const auto moved = moved_near_two(x);
  const auto base = lgamma_about_two(moved.z), logarithm = log_pair(moved.product);
  const auto sum = two_sum(moved.sign * logarithm.hi, base.hi);
  return sum.hi + (sum.lo + (moved.sign * logarithm.lo + base.lo));
}

// Stirling: (x − ½)(log x − 1) + ½(log 2π − 1) + p(1/x²)/x.
template <class V>
INLINE V lgamma_large(V x) {
  const auto logarithm = log_pair(Pair<V>{x, all<V>(0.0)});
  const auto t = two_sum(logarithm.hi, all<V>(-1.0));
  const auto near = two_sum(x, all<V>(-0.5));
  const auto main = split_product(near.hi, Pair<V>{t.hi, t.lo + logarithm.lo});
  const V inverse = all<V>(1.0) / x;
  const V series = inverse * polynomial(LGAMMA_SERIES, inverse * inverse);
  const auto sum = two_sum(main.hi, all<V>(LGAMMA_CONSTANT));
  return sum.hi + (series + (sum.lo + (main.lo + near.lo * t.hi) + all<V>(LGAMMA_CONSTANT_LOW)));
}

// log Γ(x) for x ≥ 0; NaN below.
template <class V>
INLINE V lgamma(V x) {
  const V border = all<V>(8.5), inside = all<V>(2.0), zero = all<V>(0.0);
  V y = zero;
  const int large = count_above(x, border);
  if (large > 0) y = lgamma_large(choose(x, border, x, border));
  if (large < count_of<V>) {
    const V near = choose(x, border, inside, choose(x, zero, x, inside));
    y = choose(x, border, y, lgamma_small(near));
  }
  y = choose(x, all<V>(LGAMMA_LAST), all<V>(INFINITE), y);
  const V low = choose(zero, x, all<V>(NOT_A_NUMBER), all<V>(INFINITE));
  return unless_nan(x, choose(x, zero, y, low));
}

// 1/x and what was rounded off.
template <class V>
INLINE Pair<V> inverse(V x) {
  const V q = all<V>(1.0) / x;
  const auto [p, e] = split_product(q, x);
  return {q, ((all<V>(1.0) - p) - e) / x};
}

// ψ(1 + z) about its root: (z − z₀) (g + t p(t)), t = z − ½.
// ψ(x) = ψ(x − n) + 1/(x − 1) + … + 1/(x − n)
template <class V>
INLINE V digamma_small(V x) {
  const V one = all<V>(1.0), zero = all<V>(0.0), two = all<V>(2.0);
  Pair<V> sum{zero, zero};
  V y = x;
  for (int i = 0; i < 6; ++i) {
    const V next = y - one;
    const auto term = inverse(choose(y, two, next, one));
    const auto more = two_sum(sum.hi, term.hi);
    const V low = sum.lo + (more.lo + term.lo);
    sum = {choose(y, two, more.hi, sum.hi), choose(y, two, low, sum.lo)};
    y = choose(y, two, next, y);
  }
  const auto last = inverse(choose(one, x, x, one));  // ψ(x) = ψ(1 + x) − 1/x for x < 1
  const V finite = choose(one, x, last.lo, zero);
  sum = {choose(one, x, -last.hi, sum.hi),
         choose(one, x, choose(all<V>(FIRST_NORMAL), x, zero, -finite), sum.lo)};
  const V z = choose(one, x, x, y - one);
  const auto apart = two_sum(z, all<V>(-DIGAMMA_ROOT));
  const auto root = quick_two_sum(apart.hi, apart.lo - all<V>(DIGAMMA_ROOT_LOW));
  const V t = z - all<V>(0.5);
  const auto g = two_sum(all<V>(DIGAMMA_SLOPE), t * polynomial(DIGAMMA, t));
  const V slope_low = g.lo + all<V>(DIGAMMA_SLOPE_LOW);
  const auto product = split_product(g.hi, root);
  const Pair<V> base{product.hi, product.lo + slope_low * root.hi};
  const auto whole = two_sum(sum.hi, base.hi);
  return whole.hi + (whole.lo + (base.lo + sum.lo));
}

// log x − 1/(2x) − p(1/x²)/x².
template <class V>
INLINE V digamma_large(V x) {
  const auto logarithm = log_pair(Pair<V>{x, all<V>(0.0)});
  const V inverse = all<V>(1.0) / x, square = inverse * inverse;
  const V less = all<V>(0.5) * inverse + square * polynomial(DIGAMMA_SERIES, square);
  return logarithm.hi + (logarithm.lo - less);
}

// ψ(x) = (log Γ)′(x) for x > 0; −∞ at 0, NaN below.
template <class V>
INLINE V digamma(V x) {
  const V border = all<V>(8.0), inside = all<V>(1.0), zero = all<V>(0.0);
  V y = zero;
  const int large = count_above(x, border);
  if (large > 0) y = digamma_large(choose(x, border, x, border));
  if (large < count_of<V>) {
    const V near = choose(x, border, inside, choose(x, zero, x, inside));
    y = choose(x, border, y, digamma_small(near));
  }
  y = choose(x, all<V>(LAST_DOUBLE), x, y);
  const V low = choose(zero, x, all<V>(NOT_A_NUMBER), all<V>(-INFINITE));
  return unless_nan(x, choose(x, all<V>(0x1p-1024), y, low));  // 1/x is infinite below
}

}  // namespace
}  // namespace suffice::LEVEL
