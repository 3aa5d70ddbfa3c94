// Linear functions of rows.
#pragma once
#include "support/levels.hpp"
#include "support/views.hpp"

namespace suffice {

struct LinearKernels {
  // Add (x − o)ᵀ slope_c + constant_c, of slopes (k, d), to `out` (n, k) of complete rows, which
  // are marked as `done` (n,). Returns −1, or the first of a tile of rows one of which holds a
  // number too large to be squared.
  Index (*add_complete)(const Table& x, Vector<const double> origin, Matrix<const double> slope,
                        Vector<const double> constant, Vector<bool> done, Strided<double> out);
  // Write the same to `out` (n, k), of any rows. Where a cell is no finite number, the results of
  // its row are none.
  void (*write)(const Table& x, Vector<const double> origin, Matrix<const double> slope,
                Vector<const double> constant, Strided<double> out);
};
EVERY_LEVEL(LinearKernels, linear)

}  // namespace suffice
