#include "sums/sums.hpp"

#include "support/double_double.hpp"
#include "support/interrupts.hpp"
#include "support/memory.hpp"

namespace suffice::LEVEL {
namespace {

void add_pairs(Vector<const double> a, Vector<const double> a_lo, Vector<const double> b,
               Vector<const double> b_lo, double sign, Vector<double> hi, Vector<double> lo) {
  constexpr Index STRIP = 4096;
  Work work;
  for (Index first = 0; first < a.size(); first += STRIP) {
    for (Index i = first; i < least(first + STRIP, a.size()); ++i) {
      const auto sum = Pair<double>{a[i], a_lo[i]} + Pair<double>{sign * b[i], sign * b_lo[i]};
      hi[i] = sum.hi, lo[i] = sum.lo;
    }
    work.done(8 * STRIP);
  }
}

void normalise(Strided<double> hi, Strided<double> lo) {
  for (Index c = 0; c < hi.rows; ++c) {
    bool rounded = false;
    for (Index j = 0; j < hi.columns; ++j) rounded |= lo(c, j) != 0.0;
    if (!rounded) continue;
    for (Index j = 0; j < hi.columns; ++j) {
      const auto sum = two_sum(hi(c, j), lo(c, j));
      hi(c, j) = sum.hi, lo(c, j) = sum.lo;
    }
  }
}

void scale(Cube<const double> pairs, double factor, Cube<double> out) {
  Work work;
  for (Index i = 0; i < pairs.shape[0]; ++i)
    for (Index j = 0; j < pairs.shape[2]; ++j) {
      work.done(8);
      const auto product = two_sum(pairs(i, 0, j), pairs(i, 1, j)) * Pair<double>{factor, 0.0};
      out(i, 0, j) = product.hi, out(i, 1, j) = product.lo;
    }
}

}  // namespace

extern const Sums sums{add_pairs, normalise, scale};

}  // namespace suffice::LEVEL
