// Numbers of any column into doubles, and columns into rows.
#pragma once
#include "sums/counts.hpp"

namespace suffice {

template <class T>
struct ColumnsOf {
  // Copy numbers to doubles (n,), NaN where a cell is null.
  void (*read)(Vector<const T> values, Validity valid, Vector<double> numbers);
};

template <class T>
struct DoublesOf {
  // Copy whole numbers (n, d) to doubles (n, d); returns whether all lie between two bounds.
  bool (*to_doubles)(Matrix<const T> values, T lowest, T highest, Matrix<double> numbers);
};

struct ColumnsToRows {
  // Copy doubles (n, d) whose columns are contiguous to some columns (n, d) of contiguous rows.
  void (*to_rows)(Strided<const double> x, Strided<double> rows);
};

struct Columns : ColumnsOf<double>,
                 ColumnsOf<std::int64_t>,
                 DoublesOf<std::int64_t>,
                 DoublesOf<std::uint64_t>,
                 ColumnsToRows {};

EVERY_LEVEL(Columns, columns)

}  // namespace suffice
