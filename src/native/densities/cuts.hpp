// Where a column of cells is cut in two, so that both parts tell most of the class.
#pragma once
#include "support/levels.hpp"
#include "support/views.hpp"

namespace suffice {

struct Cuts {
  // Write all places at which m cells with the weights (k, m) are cut in two, and their parts in
  // turn, as long as that shortens the description of the data; in any order, at most m − 1.
  // Returns how many.
  Index (*every)(Matrix<const double> count, Vector<std::int64_t> places);
};

EVERY_LEVEL(Cuts, cuts)

}  // namespace suffice
