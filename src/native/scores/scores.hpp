// Log-likelihoods of a block under every class, added to scores (n, k), and the best class.
//
// NaN or a missing code adds nothing. A row adds its columns in the same order wherever it stands,
// which gives the same bits.
#pragma once
#include "support/compressed.hpp"
#include "support/levels.hpp"
#include "support/views.hpp"

namespace suffice {

constexpr Index CLASS_TILE = 8;  // classes side by side in a table of events

// Categories: cell (i, j) reads the row `first[j]` + its value less `low[j]` of a table; a value
// outside of `size[j]` reads the row after them.
struct Ranges {
  const std::int64_t *low, *size, *first;
};

// Event counts of compressed rows: Σ x · slope[event, c], where 0 · (−∞) = 0. `slope` is (d, width)
// padded to whole class tiles; other columns than these d are left out.
template <class T, class I>
struct SparseScores {
  using Number = T;
  using Place = I;
  void (*add_sparse_linear)(Compressed<T, I> x, Matrix<const double> slope, Strided<double> out);
};

struct ScoresKernels {
  OfCells<SparseScores> sparse;
  // Student-t: Σⱼ log_scale[c, j] − power[c, j] log(1 + precision[c, j] (x − mean)²), tables
  // (k, d). Returns −1, or the first row that holds a number too large to be squared.
  Index (*add_student)(Strided<const double> x, Matrix<const double> mean,
                       Matrix<const double> precision, Matrix<const double> power,
                       Matrix<const double> log_scale, Strided<double> out);

  // Write the terms of which `add_student` adds those of a row, (d, k, n); 0 where x is NaN.
  void (*student_terms)(Strided<const double> x, Matrix<const double> mean,
                        Matrix<const double> precision, Matrix<const double> power,
                        Matrix<const double> log_scale, Cube<double> terms);
  // Event counts: Σⱼ x[i, j] · slope[c, j], where 0 · (−∞) = 0.
  void (*add_linear)(Strided<const double> x, Matrix<const double> slope, Strided<double> out);
  // Outcomes 0, 1 (−1 = missing): Σⱼ absent[c, j] + values[i, j] · slope[c, j].
  void (*add_binary)(Strided<const std::int8_t> values, Matrix<const double> absent,
                     Matrix<const double> slope, Strided<double> out);
  // Categories; `table` (M, width) has the logarithms of the classes, padded to whole class tiles.
  void (*add_table)(Matrix<const std::int64_t> values, Ranges ranges, Matrix<const double> table,
                    Strided<double> out);
  // The class of the largest score of every row, (n,); of equal scores the first. A row of −∞ gets
  // −1. Returns the number of such rows. The scores of a class lie side by side.
  Index (*best_class)(Strided<const double> scores, Vector<std::int64_t> best);
};
EVERY_LEVEL(ScoresKernels, scores)

}  // namespace suffice
