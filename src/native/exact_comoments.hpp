// Exact co-moments Σw, Σwx, Σwxxᵀ in one pass over rows, as whole numbers.
//
// n rows, d features, g groups of rows, some of which share a matrix of products. Sums are whole
// numbers in the end, so neither the order of rows nor the level shows.
#pragma once
#include "levels.hpp"
#include "product_sums.hpp"
#include "views.hpp"

namespace suffice {

struct ExactComoments {
  // How many places the levels of `ProductSums` have for the products of d features.
  Index (*places)(Index d);

  // Write where the products of each pair of features stand, (d (d + 1) / 2,).
  void (*arrange)(Index d, Index* place);

  // Add complete rows (x, y) to the groups of their codes; `weights` is (n,) or empty.
  //
  // The d columns are those of x (n, p) and behind them those of y (n, t), of which there may be 0.
  //
  // Returns −1, or the first of a chunk of rows that were not added, like those after it, because a
  // cell is missing or too large.
  Index (*add_rows)(Matrix<const double> x, Matrix<const double> y,
                    Vector<const std::int64_t> codes, Vector<const double> weights,
                    ProductSums& state);
};

EVERY_LEVEL(ExactComoments, exact_comoments)

}  // namespace suffice
