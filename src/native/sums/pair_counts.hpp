// How often two columns show a pair of bins: counts by class, and what a row says by such a table.
//
// The bins of all columns stand side by side, M of them. A row shows at most one of each column:
// their places ascend, and −1 is a missing cell. The pair of places v <= w is at w(w + 1)/2 + v.
#pragma once
#include "support/levels.hpp"
#include "support/views.hpp"

namespace suffice {

struct PairCounts {
  // Add w to every pair of bins that a row shows, each bin with itself included, for rows with a
  // class code of 0 or more, as pairs hi + lo: `table` (k, 2, M(M + 1)/2).
  void (*count_weighted)(Matrix<const std::int32_t> places, Vector<const std::int64_t> codes,
                         Vector<const double> weights, Cube<double> table);

  // Write Σ_j terms[c][v_i][v_j] over the bins v that a row shows, for each column i in it whose
  // bin is a parent: `sums` (n, k, d), −∞ for every other column. `terms` is (k, M, M).
  void (*sum_by_parent)(Matrix<const std::int32_t> places, Vector<const bool> parent,
                        Cube<const double> terms, Cube<double> sums);
};

EVERY_LEVEL(PairCounts, pair_counts)

}  // namespace suffice
