// Exact co-moments Σw, Σw(x − p), Σw(x − p)(x − p)ᵀ in one pass over rows.
//
// n rows, d features. Rows belong to g groups, each with a pivot p (g, d) and the pairs `weight`
// (g, 2) and `sums` (g, 2, d). `products` (m, 2, d, d) holds the pairs of the upper triangles,
// which group i shares with all groups of the same `product_index[i]`; where that is −1, they are 0
// and not stored.
#pragma once
#include "support/levels.hpp"
#include "support/views.hpp"

namespace suffice {

template <class T>
struct ComomentSums {
  Matrix<T> weight;
  Matrix<T> pivot;
  Cube<T> sums;
};

template <class T>
struct ComomentState : ComomentSums<T> {
  Vector<const std::int64_t> product_index;
  View<T, 4> products;
};

struct Comoments {
  // Add complete rows (x, y) to the groups of their codes; `weights` is (n,) or empty.
  //
  // The d columns are those of x (n, p) and behind them those of y (n, t), of which there may be 0.
  // Groups of one matrix stand side by side. Products are exact.
  //
  // Returns −1, or the first of a chunk of rows that were not added, like those after it, because a
  // cell is missing or too large.
  Index (*add_rows)(Matrix<const double> x, Matrix<const double> y,
                    Vector<const std::int64_t> codes, Vector<const double> weights,
                    ComomentState<double> state);

  // Add rows (n, d) to their groups, all new, one by one; a missing cell adds nothing.
  //
  // The pivot of a group without products is its only row.
  void (*add_scattered_rows)(Matrix<const double> x, Vector<const std::int64_t> groups,
                             Vector<const double> weights, ComomentState<double> state);

  // Add (sign = 1) or take away (sign = −1) other groups, in place; group i goes to `place[i]`.
  //
  // Returns −1, or the group that would be left with a negative weight.
  Index (*merge)(ComomentState<double> state, ComomentSums<const double> other,
                 Vector<const std::int64_t> place, double sign);

  // After rows were taken away: of values that are all equal, leave a scatter of exactly 0.
  //
  // `before` (m, d) are the sums of squares that there were. Returns −1, or a feature whose scatter
  // would be negative.
  Index (*settle)(ComomentState<double> state, Matrix<const double> before);

  // Move the pivots, in place, to where means and scatters alone decide, see `near`.
  void (*recentre)(ComomentState<double> state);

  // Write the pairs (2, g, d) of the means x̄.
  void (*mean)(ComomentSums<const double> of, Cube<double> out);

  // Write the pairs (m, 2, d, d) of Σw(x − x̄)(x − x̄)ᵀ = P − Σ SSᵀ/W over the groups.
  void (*scatter)(Matrix<const double> weight, Cube<const double> sums,
                  Vector<const std::int64_t> product_index, View<const double, 4> products,
                  View<double, 4> out);
};

EVERY_LEVEL(Comoments, comoments)

}  // namespace suffice
