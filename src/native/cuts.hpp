// Where a column of cells is cut in two, so that both parts tell most of the class.
#pragma once
#include "levels.hpp"
#include "views.hpp"

namespace suffice {

struct Cuts {
  // The place t, first < t < stop, at which n₁ E₁ + n₂ E₂ is least, the first of equal ones: the
  // entropies E in bits of the cells from `first` to t and from t to `stop`, and their weights n.
  //
  // Row c of `upto` (k, m + 1) holds the weight of class c in all cells before each.
  Index (*best)(Matrix<const double> upto, Index first, Index stop);

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
