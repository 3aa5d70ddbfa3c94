#include "dyadic.hpp"

#include "interrupts.hpp"

#include <bit>

namespace suffice {

using Limb = std::uint64_t;
using Double = unsigned __int128;

static void drop_zeros(Limbs& digits) {
  while (!digits.empty() && !digits.back()) digits.pop_back();
}

static int compare(const Limbs& a, const Limbs& b) {
  if (a.size() != b.size()) return a.size() < b.size() ? -1 : 1;
  for (std::size_t q = a.size(); q-- > 0;)
    if (a[q] != b[q]) return a[q] < b[q] ? -1 : 1;
  return 0;
}

static Limbs sum(const Limbs& a, const Limbs& b) {
  const Limbs &longer = a.size() < b.size() ? b : a, &shorter = a.size() < b.size() ? a : b;
  Limbs out(longer);
  Limb carry = 0;
  for (std::size_t q = 0; q < out.size(); ++q) {
    const Double s = Double{out[q]} + (q < shorter.size() ? shorter[q] : 0) + carry;
    out[q] = static_cast<Limb>(s), carry = static_cast<Limb>(s >> 64);
  }
  if (carry) out.push_back(carry);
  return out;
}

// a − b, for a ≥ b.
static Limbs difference(const Limbs& a, const Limbs& b) {
  Limbs out(a);
  Limb borrow = 0;
  for (std::size_t q = 0; q < out.size(); ++q) {
    const Double s = Double{out[q]} - (q < b.size() ? b[q] : 0) - borrow;
    out[q] = static_cast<Limb>(s), borrow = static_cast<Limb>(s >> 64) & 1;
  }
  drop_zeros(out);
  return out;
}

// a · 2^bits, for bits ≥ 0.
static Limbs shifted(const Limbs& a, Index bits) {
  if (a.empty() || !bits) return a;
  const int shift = static_cast<int>(bits & 63);
  Limbs out(bits >> 6, 0);
  Limb carried = 0;
  for (const Limb limb : a) {
    out.push_back(limb << shift | carried);
    carried = shift ? limb >> (64 - shift) : 0;
  }
  if (carried) out.push_back(carried);
  return out;
}

static Index length(const Limbs& a) {
  return a.empty() ? 0 : static_cast<Index>(a.size()) * 64 - std::countl_zero(a.back());
}

Digits::Digits(double x) : negative(x < 0.0) {
  int power;
  digits = static_cast<Limb>(__builtin_ldexp(__builtin_frexp(__builtin_fabs(x), &power), 53));
  exponent = power - 53;
}

Dyadic Dyadic::of(double x) {
  if (x == 0.0) return {};
  const Digits of(x);
  return {{of.digits}, of.negative, of.exponent};
}

void add_digits(Planes& table, Index cell, Double digits, bool negative, Index exponent) {
  const auto low = static_cast<std::int64_t>(digits & ((Limb{1} << 62) - 1));
  const auto high = static_cast<std::int64_t>(digits >> 62);
  table.add(cell, negative ? -low : low, exponent);
  table.add(cell, negative ? -high : high, exponent + 62);
}

static Dyadic signed_sum(const Dyadic& a, const Dyadic& b, bool minus) {
  if (b.zero()) return a;
  const bool negative = b.negative != minus;
  if (a.zero()) return {b.digits, negative, b.exponent};
  const Index low = a.exponent < b.exponent ? a.exponent : b.exponent;
  const Limbs x = shifted(a.digits, a.exponent - low), y = shifted(b.digits, b.exponent - low);
  if (a.negative == negative) return {sum(x, y), negative, low};
  return compare(x, y) < 0 ? Dyadic{difference(y, x), negative, low}
                           : Dyadic{difference(x, y), a.negative, low};
}

Dyadic operator+(const Dyadic& a, const Dyadic& b) { return signed_sum(a, b, false); }
Dyadic operator-(const Dyadic& a, const Dyadic& b) { return signed_sum(a, b, true); }

Dyadic operator*(const Dyadic& a, const Dyadic& b) {
  Limbs out(a.digits.size() + b.digits.size(), 0);
  for (std::size_t i = 0; i < a.digits.size(); ++i) {
    Limb carry = 0;
    for (std::size_t j = 0; j < b.digits.size(); ++j) {
      const Double s = Double{a.digits[i]} * b.digits[j] + out[i + j] + carry;
      out[i + j] = static_cast<Limb>(s), carry = static_cast<Limb>(s >> 64);
    }
    out[i + b.digits.size()] = carry;
  }
  drop_zeros(out);
  return {out, a.negative != b.negative, a.exponent + b.exponent};
}

// (2q + sticky) · 2^(exponent − 1) next to a double; q has 55 bits or more, or is all there is.
static double rounded(Limb q, bool more, Index exponent, bool negative) {
  const Index bits = 64 - std::countl_zero(q), least = -1074 - exponent;
  const Index drop = bits - 53 > least ? bits - 53 : least;
  double digits = static_cast<double>(q);
  if (drop > 0) {
    const Limb kept = drop > 63 ? 0 : q >> drop;
    const Limb left = drop > 63 ? q : q & ((Limb{1} << drop) - 1);
    const Limb half = drop > 64 ? ~Limb{0} : Limb{1} << (drop - 1);
    const bool up = left > half || (left == half && drop <= 64 && (more || (kept & 1)));
    digits = static_cast<double>(kept + up), exponent += drop;
  }
  const double size = __builtin_ldexp(digits, static_cast<int>(exponent < 4096 ? exponent : 4096));
  return negative ? -size : size;
}

// The highest 64 bits as a double, and its exponent.
static double leading(const Limbs& a, Index* exponent) {
  const Index bits = length(a), drop = bits - 64;
  *exponent = drop;
  if (drop < 0) return *exponent = 0, static_cast<double>(a[0]);
  const std::size_t q = drop >> 6;
  const int shift = static_cast<int>(drop & 63);
  const Limb top = shift ? a[q] >> shift | a[q + 1] << (64 - shift) : a[q];
  return static_cast<double>(top);
}

double quotient(const Dyadic& a, const Dyadic& b) {
  if (a.zero()) return 0.0;
  const Index shift = 56 - (length(a.digits) - length(b.digits));
  Dyadic left{shift > 0 ? shifted(a.digits, shift) : a.digits, false, 0};
  const Dyadic by{shift < 0 ? shifted(b.digits, -shift) : b.digits, false, 0};
  Index of_left, of_by;
  const double divisor = leading(by.digits, &of_by);
  std::int64_t q = 0;
  // Each step leaves 2⁻⁵⁰ of what was there.
  while (!left.zero()) {
    const double high = leading(left.digits, &of_left);
    const double estimate = __builtin_ldexp(high / divisor, static_cast<int>(of_left - of_by));
    const auto digit = static_cast<std::int64_t>(estimate);
    if (!digit) break;
    const Dyadic taken = Dyadic{{static_cast<Limb>(digit)}, left.negative, 0} * by;
    q += left.negative ? -digit : digit;
    left = left - taken;
  }
  if (left.negative && !left.zero()) --q, left = left + by;
  if (compare(left.digits, by.digits) >= 0) ++q, left = left - by;
  return rounded(static_cast<Limb>(q), !left.zero(), a.exponent - b.exponent - shift, a.negative);
}

double rounded(const Dyadic& a) {
  if (a.zero()) return 0.0;
  const std::size_t n = a.digits.size();
  const int shift = std::countl_zero(a.digits[n - 1]);
  const Limb next = n > 1 ? a.digits[n - 2] : 0;
  const Limb top = shift ? a.digits[n - 1] << shift | next >> (64 - shift) : a.digits[n - 1];
  bool more = n > 1 && next << shift != 0;
  for (std::size_t q = 0; q + 2 < n; ++q) more |= a.digits[q] != 0;
  return rounded(top, more, a.exponent + 64 * static_cast<Index>(n - 1) - shift, a.negative);
}

Dyadic DyadicTable::number(Index cell) const {
  Dyadic out{{}, sign(cell) != 0, 64 * low};
  Index first = 0;
  while (first < planes && !at[first * cells + cell]) ++first;
  out.exponent += 64 * first;
  out.digits.reserve(planes - first);
  Limb carry = out.negative;
  for (Index q = first; q < planes; ++q) {
    const Limb limb = at[q * cells + cell];
    out.digits.push_back(out.negative ? ~limb + carry : limb);
    carry &= limb == 0;
  }
  drop_zeros(out.digits);
  return out;
}

void add(DyadicTable a, DyadicTable b, bool minus, Limb* out, Index out_planes, Index out_low) {
  const Limb flip = minus ? ~Limb{0} : 0;
  std::vector<Limb> carry(a.cells, minus);
  LEVEL::Work work;
  for (Index q = 0; q < out_planes; ++q)
    for (Index i = 0; i < a.cells; ++i) {
      work.done(4);
      const Double s = Double{a.limb(out_low + q, i)} + (b.limb(out_low + q, i) ^ flip) + carry[i];
      out[q * a.cells + i] = static_cast<Limb>(s), carry[i] = static_cast<Limb>(s >> 64);
    }
}

void gather(DyadicTable a, const std::int64_t* place, Index k, Limb* out, Index out_planes,
            Index out_k, Index out_low) {
  const Index d = k ? a.cells / k : 0;
  LEVEL::Work work;
  for (Index c = 0; c < k; ++c)
    for (Index j = 0; j < d; ++j) {
      work.done(8 * out_planes);
      Limb carry = 0;
      for (Index q = 0; q < out_planes; ++q) {
        Limb& to = out[(q * out_k + place[c]) * d + j];
        const Double s = Double{a.limb(out_low + q, c * d + j)} + to + carry;
        to = static_cast<Limb>(s), carry = static_cast<Limb>(s >> 64);
      }
    }
}

bool can_be_set(const double* numbers, Index cells, Index out_planes, Index out_low) {
  for (Index i = 0; i < cells; ++i) {
    if (!__builtin_isfinite(numbers[i])) return false;
    const Dyadic x = Dyadic::of(numbers[i]);
    if (x.zero()) continue;
    const Index first = (x.exponent >> 6) - out_low;
    if (first < 0 || first + 2 > out_planes) return false;
  }
  return true;
}

void set(const double* numbers, Index cells, Limb* out, Index out_planes, Index out_low) {
  LEVEL::Work work;
  for (Index i = 0; i < cells; ++i) {
    work.done(32);
    const Dyadic x = Dyadic::of(numbers[i]);
    if (x.zero()) continue;
    const Index place = x.exponent - 64 * out_low;
    const Double digits = Double{x.digits[0]} << (place & 63);
    Limb limb[2] = {static_cast<Limb>(digits), static_cast<Limb>(digits >> 64)}, carry = x.negative;
    for (Index q = place >> 6; q < out_planes; ++q) {
      const Index at = q - (place >> 6);
      const Limb bits = at < 2 ? limb[at] : 0;
      out[q * cells + i] = x.negative ? ~bits + carry : bits;
      carry &= bits == 0;
    }
  }
}

void trim(const Limb* at, Index planes, Index cells, Index* first, Index* stop) {
  const auto is_zero = [&](Index q) {
    for (Index i = 0; i < cells; ++i)
      if (at[q * cells + i]) return false;
    return true;
  };
  const auto is_sign = [&](Index q) {
    for (Index i = 0; i < cells; ++i) {
      const Limb below = at[(q - 1) * cells + i];
      if (at[q * cells + i] != (below >> 63 ? ~Limb{0} : 0)) return false;
    }
    return true;
  };
  *first = 0, *stop = planes;
  while (*first < *stop && is_zero(*first)) ++*first;
  while (*stop - *first > 1 && is_sign(*stop - 1)) --*stop;
}

}  // namespace suffice
