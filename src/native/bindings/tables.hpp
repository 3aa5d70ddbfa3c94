// Tables of exact numbers as arguments.
#pragma once
#include "bindings/arrays.hpp"
#include "dyadic.hpp"

namespace suffice::bindings {

using Limbs3 = Array<const std::uint64_t, 3>;
using WrittenLimbs = Array<std::uint64_t, 3>;

// Where planes of sums of doubles can begin.
inline void require_low(Index low) {
  require(low >= -1024 && low <= 1024,
          "planes must begin between 2^(-64 * 1024) and 2^(64 * 1024)");
}

inline DyadicTable table_of(const Limbs3& limbs, Index low) {
  require_low(low);
  return {limbs.at(), limbs.shape(0), limbs.shape(1) * limbs.shape(2), low};
}

}  // namespace suffice::bindings
