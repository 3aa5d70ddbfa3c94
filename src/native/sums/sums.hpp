// Sums of arrays of pairs, in one pass without temporaries.
#pragma once
#include "support/levels.hpp"
#include "support/views.hpp"

namespace suffice {

struct Sums {
  // Write the pairs (a + a_lo) + sign · (b + b_lo) to `hi` and `lo`, all (n,).
  void (*add_pairs)(Vector<const double> a, Vector<const double> a_lo, Vector<const double> b,
                    Vector<const double> b_lo, double sign, Vector<double> hi, Vector<double> lo);

  // Make the pairs (k, m) hold the rounded value first, in place.
  //
  // Errors that are all zero are not written to: pages of zeros take no memory before they are.
  void (*normalise)(Strided<double> hi, Strided<double> lo);

  // Write the pairs (m, 2, n) times a factor to `out`.
  void (*scale)(Cube<const double> pairs, double factor, Cube<double> out);
};

EVERY_LEVEL(Sums, sums)

}  // namespace suffice
