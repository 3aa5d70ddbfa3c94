// Exact class-wise moments Σw, Σw(x − p), Σw(x − p)² in one pass over rows.
//
// n rows, d features, k classes. `pivot[c, j]` is a number near the values of feature j in class c,
// see `near`; `sums[c, :, j]` holds S₁, S₁ˡᵒ, S₂, S₂ˡᵒ, the pairs of Σw(x − p) and Σw(x − p)²;
// `weight[c, :, j]` holds the pair of Σw over the observed cells. NaN is a missing cell; a row with
// a negative class code is left out.
#pragma once
#include "support/levels.hpp"
#include "support/views.hpp"

namespace suffice {

// The sums of k classes over d features: (k, 2, d), (k, d) and (k, 4, d).
template <class T>
struct MomentState {
  Cube<T> weight;
  Matrix<T> pivot;
  Cube<T> sums;
};

struct Moments {
  // Add the rows of x (n, d) to their classes, each with weight one.
  //
  // Returns −1, or the first of a tile of rows that holds a number too large to be squared.
  Index (*add_rows)(const Table& x, Vector<const std::int64_t> codes, MomentState<double> state);

  // Add the rows of x (n, d) to their classes with weights (n,).
  //
  // Returns −1, or the row that holds a number too large to be squared.
  Index (*add_weighted_rows)(Matrix<const double> x, Vector<const std::int64_t> codes,
                             Vector<const double> weights, MomentState<double> state);

  // Add (sign = 1) or take away (sign = −1) other moments, in place.
  //
  // Returns −1, or the flat index c · d + j of a cell that would be left with a negative sum.
  Index (*merge)(MomentState<double> state, MomentState<const double> other, double sign);

  // Add the moments of the classes after the first to those of one class, in place.
  void (*merge_classes)(MomentState<double> state, MomentState<const double> other);

  // Write x̄ and Σw(x − x̄)², (k, d); zeros where W = 0. `mean_lo` is what rounding took off the
  // mean, where that is much by the measure of the spread.
  void (*mean_and_scatter)(MomentState<const double> state, Matrix<double> mean,
                           Matrix<double> mean_lo, Matrix<double> scatter);

  // Move the pivots, in place, to where mean and scatter alone decide, see `near` in pivots.hpp.
  void (*recentre)(MomentState<double> state);
};

EVERY_LEVEL(Moments, moments)

}  // namespace suffice
