// Exact class-wise moments Σw, Σwx, Σwx² in one pass over rows.
//
// n rows, d features, k classes. NaN is a missing cell; a row with a negative class code is left
// out. Sums are whole numbers in the end, so neither the order of rows nor the level shows.
#pragma once
#include "levels.hpp"
#include "moment_sums.hpp"
#include "views.hpp"

namespace suffice {

struct ExactMoments {
  // Add the rows of x (n, d) to their classes, each with weight one.
  //
  // Returns −1, or the first of a tile of rows that holds a number too large to be squared.
  Index (*add_rows)(Matrix<const double> x, Vector<const std::int64_t> codes, MomentSums& state);

  // Add the rows of x (n, d) to their classes with weights (n,).
  //
  // Returns −1, or the row that holds a number too large to be squared.
  Index (*add_weighted_rows)(Matrix<const double> x, Vector<const std::int64_t> codes,
                             Vector<const double> weights, MomentSums& state);
};

EVERY_LEVEL(ExactMoments, exact_moments)

}  // namespace suffice
