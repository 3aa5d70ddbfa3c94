// Columns into rows: cells of one column, which lie side by side, each to its row of a matrix.
//
// And whole numbers into doubles.
#pragma once
#include "counts.hpp"

namespace suffice {

template <class T>
struct ColumnsOf {
  // Write numbers to column j of `rows` (n, d), NaN where a cell is null.
  void (*place)(Vector<const T> values, Validity valid, Matrix<double> rows, Index j);
};

template <class T>
struct DoublesOf {
  // Copy whole numbers (n, d) to doubles (n, d); returns whether all lie between two bounds.
  bool (*to_doubles)(Matrix<const T> values, T lowest, T highest, Matrix<double> numbers);
};

struct ColumnsToRows {
  // Copy doubles (n, d) whose columns are contiguous to `rows` (n, d), which are.
  void (*to_rows)(Strided<const double> x, Matrix<double> rows);
};

struct Columns : ColumnsOf<double>,
                 ColumnsOf<std::int64_t>,
                 DoublesOf<std::int64_t>,
                 DoublesOf<std::uint64_t>,
                 ColumnsToRows {};

EVERY_LEVEL(Columns, columns)

}  // namespace suffice
