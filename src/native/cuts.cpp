#include "cuts.hpp"

#include "elementary_functions.hpp"
#include "interrupts.hpp"
#include "memory.hpp"

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

// Whether cutting cells at t is worth its description: criterion and names of U. M. Fayyad and K.
// B. Irani (1993), for which lane 0 has all cells, 1 and 2 the parts.
bool shortens(Matrix<const double> upto, Index first, Index t, Index stop) {
  constexpr Index MOST_CLASSES = 600;  // 3^k is a double
  const Index k = upto.shape[0];
  const Lanes zero = splat(0.0), one = splat(1.0);
  const auto weight = [&](Index c) {
    const double before = upto(c, first), cut = upto(c, t), after = upto(c, stop);
    const double parts[LANES] = {after - before, cut - before, after - cut};
    return load(parts);
  };
  Lanes n = zero, classes = zero, bits = zero;
  for (Index c = 0; c < k; ++c) {
    n = n + weight(c);
    classes = classes + choose(weight(c), zero, one, zero);
  }
  const double rows = lane(n, 0);
  if (rows <= 1.0 || lane(classes, 0) >= MOST_CLASSES) return false;
  const Lanes divisor = choose(n, zero, n, one);
  for (Index c = 0; c < k; ++c) {
    const Lanes p = weight(c) / divisor;
    bits = bits + p * log(choose(p, zero, p, one));
  }
  const Lanes entropy = (zero - bits) / splat(LOG_2), of_rows = n * entropy;
  const Lanes of_classes = classes * entropy;
  const double gain = lane(entropy, 0) - (lane(of_rows, 1) + lane(of_rows, 2)) / rows;
  const double told = lane(of_classes, 0) - lane(of_classes, 1) - lane(of_classes, 2);
  double labellings = 1.0;
  for (Index c = 0; c < static_cast<Index>(lane(classes, 0)); ++c) labellings *= 3.0;
  const double numbers[LANES] = {rows - 1.0, labellings - 2.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0};
  const Lanes described_by = log(load(numbers)) / splat(LOG_2);
  return rows * gain > lane(described_by, 0) + lane(described_by, 1) - told;
}

Index every(Matrix<const double> count, Vector<std::int64_t> places) {
  struct Part {
    Index first, stop;
  };
  const Index k = count.shape[0], m = count.shape[1];
  const Buffer<double> before(k * (m + 1));  // Σ of all cells before each
  const Matrix<const double> upto{before, {k, m + 1}};
  for (Index i = 0; i < m; ++i)
    for (Index c = 0; c < k; ++c) before[c * (m + 1) + i + 1] = upto(c, i) + count(c, i);
  const Buffer<Part> waiting(m + 1);  // parts do not overlap
  Work work;
  Index found = 0, parts = 0;
  if (m) waiting[parts++] = {0, m};
  while (parts) {
    const auto [first, stop] = waiting[--parts];
    const Index t = best(upto, first, stop);
    work.done(8 * upto.shape[0] * (stop - first));
    if (t == first || !shortens(upto, first, t, stop)) continue;
    places[found++] = t;
    waiting[parts++] = {first, t}, waiting[parts++] = {t, stop};
  }
  return found;
}

}  // namespace

extern const Cuts cuts{best, every};

}  // namespace suffice::LEVEL
