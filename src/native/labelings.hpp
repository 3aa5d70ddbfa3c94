// Many labelings of the same rows at once: folds, sums by class and fold, and scores by the models
// of folds.
//
// n rows, d columns, k classes, f folds. P labelings give every row a class, `codes` (P, n), and a
// fold, `folds` (P, n); each row is scored by the model of its own fold, one of P · f. Whatever is
// read of rows is read for all labelings before the next rows.
#pragma once
#include "levels.hpp"
#include "views.hpp"

namespace suffice {

using Bytes = Matrix<const std::uint8_t>;

// Codes and folds of type T.
template <class T>
struct Stratifying {
  // Write f folds of nearly the same share of every class, as scikit-learn's StratifiedKFold does.
  // Label i, where they are sorted by class, in the order in which classes are first seen, goes to
  // fold i mod f: that says how many rows of a class a fold has. They fill the folds in their
  // order.
  void (*stratify)(Matrix<const T> codes, Index classes, Index f, Matrix<T> folds);
};

struct LabelingsKernels : Stratifying<std::uint8_t>, Stratifying<std::int64_t> {
  // Add rows to the sums (P, f · k, m) of their fold and class: all of x (n, m).
  void (*add_rows)(Matrix<const double> x, Bytes codes, Bytes folds, Index classes,
                   Cube<double> sums);
  // Count rows of every fold and class, (P, f · k).
  void (*tally)(Bytes codes, Bytes folds, Index classes, Matrix<double> sizes);
  // Write log P(c) of every row from `first` on to `out` (P, k, rows); `log_prior` is (P · f, k).
  void (*start)(Matrix<const double> log_prior, Index first, Bytes folds, Cube<double> out);
  // Add Σⱼ log_scale − (root (x[j, i] − mean))² of complete rows i from `first` on; x is (d, n),
  // and column j of model g of a class stands in place g · d + j of the tables (k, P · f · d).
  void (*add_squares)(Matrix<const double> x, Index first, Bytes folds, Matrix<const double> mean,
                      Matrix<const double> root, Matrix<const double> log_scale, Cube<double> out);
  // Add Σⱼ table[g, places[i, j], c] of rows i from `first` on; `table` is (P · f, T, width), the
  // width a multiple of 8.
  void (*add_table)(Matrix<const std::int32_t> places, Index first, Bytes folds,
                    Cube<const double> table, Cube<double> out);
  // Count by labeling and fold, (P, f), the rows whose largest score is that of their class. Of
  // equal scores the first is the largest; of −∞ alone, that of class `otherwise`, (P, f).
  void (*hits)(Cube<const double> scores, Index first, Bytes codes, Bytes folds, Bytes otherwise,
               Matrix<double> hits);
};
EVERY_LEVEL(LabelingsKernels, labelings)

}  // namespace suffice
