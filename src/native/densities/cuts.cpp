#include "densities/cuts.hpp"

#include "support/elementary_functions.hpp"
#include "support/interrupts.hpp"
#include "support/memory.hpp"

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
    bits = bits + p * log_of_positive(choose(p, zero, p, one));
  }
  return n * (zero - bits) / splat(LOG_2);
}

// log₂ x, off by less than 2⁻³³, of a number above 0: a third of the work, which need not give the
// same bits everywhere.
INLINE Lanes rough_log2(Lanes x) {
  const auto [k, f] = reduced(x);
  Lanes log;
  EACH_PART {
    constexpr int LAST = sizeof ROUGH_LOG2 / sizeof(double) - 1;
    static_assert(LAST % 2);
    const Native x1 = f.part[p], x2 = x1 * x1;
    Native odd = native(ROUGH_LOG2[LAST]), even = native(ROUGH_LOG2[LAST - 1]);
    UNROLL for (int i = LAST - 2; i > 0; i -= 2) {
      odd = add_product(odd, x2, native(ROUGH_LOG2[i]));
      even = add_product(even, x2, native(ROUGH_LOG2[i - 1]));
    }
    log.part[p] = add_product(add_product(odd, x1, even), x1, k.part[p]);
  }
  return log;
}

// n E = n log₂ n − Σ_c n_c log₂ n_c, off by less than 2⁻³² n.
template <class Weight>
INLINE Lanes roughly_described(Index k, Weight weight) {
  const Lanes zero = splat(0.0), one = splat(1.0);
  const auto product = [&](Lanes n) { return n * rough_log2(choose(n, zero, n, one)); };
  Lanes n = zero, bits = zero;
  for (Index c = 0; c < k; ++c) {
    const Lanes own = weight(c);
    n = n + own;
    bits = bits - product(own);
  }
  return bits + product(n);
}

// The weights of class c in the cells from `first` to t, and from there to `stop`, of eight t.
class Parts {
  Matrix<const double> upto_;
  Index first_, stop_;

 public:
  INLINE Parts(Matrix<const double> upto, Index first, Index stop)
      : upto_(upto), first_(first), stop_(stop) {}
  INLINE Lanes before(Index c, Index t) const {
    const double* const row = upto_.at + c * upto_.shape[1];
    if (t + LANES <= stop_) return load(row + t);
    double some[LANES];
    for (Index i = 0; i < LANES; ++i) some[i] = row[least(t + i, stop_)];
    return load(some);
  }
  template <class Described>
  INLINE Lanes left_over(Index t, const Described& described) const {
    const auto left = [&](Index c) { return before(c, t) - splat(upto_(c, first_)); };
    const auto right = [&](Index c) { return splat(upto_(c, stop_)) - before(c, t); };
    return described(left) + described(right);
  }
};

// The place t, first < t < stop, at which n₁ E₁ + n₂ E₂ is least, the first of equal ones: the
// entropies E in bits of the cells from `first` to t and from t to `stop`, and their weights n. Row
// c of `upto` (k, m + 1) holds the weight of class c in all cells before each.
//
// Rough values rule out most places; the others are compared by values that are the same
// everywhere.
Index best(Matrix<const double> upto, Index first, Index stop) {
  constexpr Index FEW = 8 * LANES;
  const Index k = upto.shape[0], places = stop - first - 1;
  const Parts parts(upto, first, stop);
  const Buffer<double> rough(places > FEW ? places + LANES : 0);
  double highest = INFINITE;
  if (places > FEW) {
    double n = 0.0;
    for (Index c = 0; c < k; ++c) n += upto(c, stop) - upto(c, first);
    for (Index i = 0; i < places; i += LANES)
      store(rough + i,
            parts.left_over(first + 1 + i, [&](auto weight) __attribute__((always_inline)) {
              return roughly_described(k, weight);
            }));
    for (Index i = 0; i < places; ++i) highest = least(highest, rough[i]);
    highest += 0x1p-30 * n;  // four times what each of two is off by
  }
  Index found = first;
  double lowest = INFINITE;
  for (Index i = 0; i < places; i += LANES) {
    const Index many = least<Index>(LANES, places - i), t = first + 1 + i;
    bool possible = places <= FEW;
    for (Index l = 0; l < many && !possible; ++l) possible = rough[i + l] <= highest;
    if (!possible) continue;
    double rest[LANES];
    store(rest, parts.left_over(t, [&](auto weight) __attribute__((always_inline)) {
      return described(k, weight);
    }));
    for (Index l = 0; l < many; ++l)
      if (rest[l] < lowest) {
        lowest = rest[l];
        found = t + l;
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

extern const Cuts cuts{every};

}  // namespace suffice::LEVEL
