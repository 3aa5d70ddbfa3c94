#include "cuts.hpp"

#include "elementary_functions.hpp"

namespace suffice::LEVEL {
namespace {

constexpr double LOG_2 = 0x1.62e42fefa39efp-1;

// n E of the differences between two columns of cumulated weights, 0 without weight: in eight
// columns at a time, each added up in the order of the classes.
template <class Weight>
INLINE Lanes described(Index k, Weight weight) {
  const Lanes zero = splat(0.0), one = splat(1.0);
  Lanes n = zero, bits = zero;
  for (Index c = 0; c < k; ++c) n = n + weight(c);
  const Lanes divisor = choose(n, zero, n, one);
  for (Index c = 0; c < k; ++c) {
    const Lanes p = weight(c) / divisor;
    bits = bits + p * log(choose(p, zero, p, one));
  }
  return n * (zero - bits) / splat(LOG_2);
}

Index best(Matrix<const double> upto, Index first, Index stop) {
  const Index k = upto.shape[0], width = upto.shape[1];
  Index found = first;
  double least = INFINITE;
  for (Index t = first + 1; t < stop; t += LANES) {
    const Index many = stop - t < LANES ? stop - t : LANES;
    const auto at = [&](Index c) {
      const double* const row = upto.at + c * width;
      if (many == LANES) return load(row + t);
      double some[LANES];
      for (Index i = 0; i < LANES; ++i) some[i] = row[i < many ? t + i : stop];
      return load(some);
    };
    const Lanes left = described(k, [&](Index c) { return at(c) - splat(upto(c, first)); });
    const Lanes right = described(k, [&](Index c) { return splat(upto(c, stop)) - at(c); });
    double rest[LANES];
    store(rest, left + right);
    for (Index i = 0; i < many; ++i)
      if (rest[i] < least) {
        least = rest[i];
        found = t + i;
      }
  }
  return found;
}

}  // namespace

extern const Cuts cuts{best};

}  // namespace suffice::LEVEL
