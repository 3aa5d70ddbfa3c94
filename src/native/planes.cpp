#include "planes.hpp"

#include <cstring>

#include "memory.hpp"

namespace suffice {

constexpr Index BITS = 64;

static std::uint64_t* zeros(Index limbs) {
  return static_cast<std::uint64_t*>(reserve(limbs * sizeof(std::uint64_t)));
}

static std::uint64_t sign_of(std::uint64_t limb) { return limb >> 63 ? ~std::uint64_t{0} : 0; }

Planes::~Planes() { give_back(at_); }

void Planes::add(Index cell, std::int64_t value, Index exponent) {
  if (!value) return;
  if (!count_) low_ = exponent >> 6;
  Index q = (exponent >> 6) - low_;
  const int shift = static_cast<int>(exponent & 63);
  // The number takes two limbs; one more holds what many of them add up to.
  if (q < 0 || q + 3 > count_) {
    widen(q < 0 ? -q : 0, q + 3 > count_ ? q + 3 - count_ : 0);
    q = (exponent >> 6) - low_;
  }
  const auto bits = static_cast<std::uint64_t>(value);
  const std::uint64_t sign = sign_of(bits);
  const std::uint64_t next = shift ? bits >> (BITS - shift) | sign << shift : sign;
  std::uint64_t* limb = plane(q) + cell;
  *limb += bits << shift;
  std::uint64_t carry = *limb < bits << shift;
  *(limb += cells_) += next;
  std::uint64_t over = *limb < next;
  *limb += carry;
  carry = over | (*limb < carry);
  // What is left to add is 2⁶⁴ⁿ(carry + sign): nothing, or 1, or −1.
  for (++q; carry != (sign & 1) && ++q < count_;) {
    limb += cells_;
    const std::uint64_t before = *limb;
    *limb += sign + carry;
    carry = sign ? before != 0 : *limb == 0;
  }
}

void Planes::grow(Index cells) {
  std::uint64_t* wider = zeros(count_ * cells);
  for (Index q = 0; q < count_; ++q)
    std::memcpy(wider + q * cells, plane(q), cells_ * sizeof(std::uint64_t));
  give_back(at_);
  at_ = wider, cells_ = cells;
}

void Planes::widen(Index below, Index above) {
  std::uint64_t* wider = zeros((below + count_ + above) * cells_);
  if (count_) std::memcpy(wider + below * cells_, at_, count_ * cells_ * sizeof(std::uint64_t));
  for (Index q = below + count_; count_ && q < below + count_ + above; ++q)
    for (Index i = 0; i < cells_; ++i) wider[q * cells_ + i] = sign_of(wider[(q - 1) * cells_ + i]);
  give_back(at_);
  at_ = wider, count_ += below + above, low_ -= below;
}

}  // namespace suffice
