// Log densities that are constant in bins, added up over the columns of every row.
#pragma once
#include "support/levels.hpp"
#include "support/views.hpp"

namespace suffice {

struct Piecewise {
  // Add Σⱼ logs[c, b(x[i, j])] to `out` (n, k). The bins of column j are those from `start[j]` on
  // to `start[j + 1]`; b(x) is the last of them that begins, at `low`, not above x, or the first.
  //
  // NaN adds nothing. Returns −1, or the first of some rows one of which holds an infinite number.
  Index (*add)(Strided<const double> x, Vector<const std::int64_t> start, Vector<const double> low,
               Matrix<const double> logs, Strided<double> out);

  // Write the terms of which `add` adds those of a row, (d, k, n); 0 where x is NaN.
  void (*terms)(Strided<const double> x, Vector<const std::int64_t> start, Vector<const double> low,
                Matrix<const double> logs, Cube<double> terms);
};

EVERY_LEVEL(Piecewise, piecewise)

}  // namespace suffice
