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

  // Write the places at which cells of such weights are cut into at most so many parts of about the
  // same weight, ascending. Returns how many: fewer than parts, and than cells.
  Index (*equal_frequency)(Vector<const double> weights, Index parts, Vector<std::int64_t> places);
};

EVERY_LEVEL(Cuts, cuts)

}  // namespace suffice
