// The bits of a column of Arrow.
#pragma once
#include "sums/counts.hpp"
#include "bindings/arrays.hpp"

namespace suffice::bindings {

using Bits = Array<const std::uint8_t, 1>;

inline Validity validity_of(const Bits& bits, Index first, Index n) {
  require(first >= 0 && (bits.shape(0) == 0 || first + n <= 8 * bits.shape(0)),
          "valid has fewer bits than there are cells");
  return {bits, first};
}

}  // namespace suffice::bindings
