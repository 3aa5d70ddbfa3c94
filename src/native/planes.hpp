// Tables of exact dyadic numbers: fixed-point integers as wide as what is added asks for.
//
// Cell i of a table is Σ_q plane q, cell i · 2^(64(low + q)): limbs of 64 bits in two's complement,
// the lowest plane first. Planes are added below and above as numbers need them.
#pragma once
#include "views.hpp"

namespace suffice {

class Planes {
  Index cells_, low_ = 0, count_ = 0;
  std::uint64_t* at_ = nullptr;

 public:
  explicit Planes(Index cells) : cells_(cells) {}
  ~Planes();
  Planes(const Planes&) = delete;
  Planes& operator=(const Planes&) = delete;

  // Add value · 2^exponent to a cell. Fewer than 2^60 numbers are added.
  void add(Index cell, std::int64_t value, Index exponent);

  // Make room for more cells, zeros; those that are there stay the first.
  void grow(Index cells);

  Index low() const { return low_; }
  Index count() const { return count_; }
  Index cells() const { return cells_; }
  std::uint64_t* plane(Index q) const { return at_ + q * cells_; }

 private:
  void widen(Index below, Index above);
};

}  // namespace suffice
