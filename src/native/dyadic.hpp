// Exact dyadic numbers, m · 2^e with whole m: one of them, and tables of them.
#pragma once
#include <vector>

#include "planes.hpp"

namespace suffice {

// Limbs of 64 bits, the lowest first; the highest is not 0.
using Limbs = std::vector<std::uint64_t>;

// ±Σ limb_q · 2^(64q + exponent)
struct Dyadic {
  Limbs digits;
  bool negative = false;
  Index exponent = 0;

  bool zero() const { return digits.empty(); }
  static Dyadic of(double x);
};

// ±digits · 2^exponent, of 53 digits at most.
struct Digits {
  std::uint64_t digits;
  Index exponent;
  bool negative;

  explicit Digits(double x);
};

// Add a number of up to 124 bits to a cell.
void add_digits(Planes& table, Index cell, unsigned __int128 digits, bool negative, Index exponent);

Dyadic operator+(const Dyadic& a, const Dyadic& b);
Dyadic operator-(const Dyadic& a, const Dyadic& b);
Dyadic operator*(const Dyadic& a, const Dyadic& b);

// The double next to a/b, the even one of two; b > 0.
double quotient(const Dyadic& a, const Dyadic& b);

// The double next to a number.
double rounded(const Dyadic& a);

// A table of numbers that is only read: planes of cells, as `Planes` has them.
struct DyadicTable {
  const std::uint64_t* at;
  Index planes, cells, low;

  std::uint64_t sign(Index cell) const {
    return planes && at[(planes - 1) * cells + cell] >> 63 ? ~std::uint64_t{0} : 0;
  }
  // Limb q, counted from 2⁰: what is below is zeros, and what is above the sign.
  std::uint64_t limb(Index q, Index cell) const {
    return q < low ? 0 : q < low + planes ? at[(q - low) * cells + cell] : sign(cell);
  }
  Dyadic number(Index cell) const;
};

// Write a ± b, cell by cell, to planes (out_planes, cells) that begin at 2^(64 out_low).
void add(DyadicTable a, DyadicTable b, bool minus, std::uint64_t* out, Index out_planes,
         Index out_low);

// Add class c, of k with d columns each, to class `place[c]` of planes (out_planes, out_k, d).
void gather(DyadicTable a, const std::int64_t* place, Index k, std::uint64_t* out, Index out_planes,
            Index out_k, Index out_low);

// Whether doubles are finite and lie within planes that begin at 2^(64 out_low).
bool can_be_set(const double* numbers, Index cells, Index out_planes, Index out_low);

// Write doubles to planes of zeros.
void set(const double* numbers, Index cells, std::uint64_t* out, Index out_planes, Index out_low);

// The planes that are needed, from `first` to `stop`: below them are zeros, above them signs.
void trim(const std::uint64_t* at, Index planes, Index cells, Index* first, Index* stop);

}  // namespace suffice
