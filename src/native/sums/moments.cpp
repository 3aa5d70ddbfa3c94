// Rows of weight one are taken in tiles, grouped by class, and centred: v + e = x − p. A sum S is
// kept with a bias larger than all that will be added to it. So S is never the smaller operand, its
// last place never moves, and what rounding takes off is exact: v − ((S + v) − S) of a number, and
// fma(v, v, S − (S + v²)) of a square. The bias comes off before it ceases to dominate. (Demmel and
// Nguyen, Parallel reproducible summation, IEEE Trans. Comput. 64, 2015; here the remainder is
// kept.)
//
// Whether it still dominates is seen afterwards: the new sums stand beside the old ones, which are
// given up only if Σv² is within its bound. NaN and numbers too large to be squared are not.
#include "sums/moments.hpp"

#include "support/interrupts.hpp"
#include "sums/moment_cells.hpp"
#include "sums/pivots.hpp"
#include "support/tile_reader.hpp"

namespace suffice::LEVEL {
namespace {

constexpr Index TILE_CELLS = 12'288;
constexpr Index ROOM = 4'096;  // rows that a bias makes room for, at most
constexpr Index FEW = 256;     // rows that are added while a class is gone to, about

Index padded_to_lanes(Index d) { return (d + LANES - 1) / LANES * LANES; }

// Whether a row that has a class holds a number too large to be squared.
bool any_too_large(Rows x, const std::int64_t* codes, Index n, Index d) {
  bool large = false;
  for (Index i = 0; i < n; ++i)
    if (codes[i] >= 0)
      for (Index j = 0; j < d; ++j) large |= magnitude(x[i][j]) > LARGEST;
  return large;
}

// Whether every number of a is at most that of b; NaN is not.
bool below(const double* a, const double* b, Index d) {
  bool within = true;
  for (Index j = 0; j < d; ++j) within &= a[j] <= b[j];
  return within;
}

// Add v + e and v² + 2ve of some rows to the biased sums `from` (4, padded), and write them `to`.
//
// e is 0 unless `rounded`; e² is below the last place. Meanwhile numbers `ahead` are asked for.
template <bool rounded>
void add_members(Rows v, const double* e, const Index* members, Index many, Index padded,
                 const double* from, double* to, const double* ahead) {
  for (Index j = 0; j < padded; j += LANES) {
    Lanes s = load(from + j), s_lo = load(from + padded + j);
    Lanes q = load(from + 2 * padded + j), q_lo = load(from + 3 * padded + j);
    for (Index r = 0; r < many; ++r, ahead += LANES) {
      prefetch(ahead);
      const Lanes value = load(v[members[r]] + j);
      const auto sum = quick_two_sum(s, value);
      s = sum.hi, s_lo += sum.lo;
      const Lanes square = fma(value, value, q);
      q_lo += fma(value, value, q - square);
      q = square;
      if constexpr (rounded) {
        const Lanes error = load(e + members[r] * v.apart + j);
        s_lo += error;
        q_lo = fma(value + value, error, q_lo);
      }
    }
    store(to + j, s), store(to + padded + j, s_lo);
    store(to + 2 * padded + j, q), store(to + 3 * padded + j, q_lo);
  }
}

// Add the biased sums (4, padded) of a class to its pairs (4, d).
void unbias(const double* biased, const double* bias, Index padded, double* sums, Index d) {
  for (Index s = 0; s < 4; s += 2)
    for (Index j = 0; j < d; ++j) {
      const auto sum = two_sum(sums[s * d + j], biased[s * padded + j] - bias[s * padded + j]);
      sums[s * d + j] = sum.hi;
      sums[(s + 1) * d + j] += sum.lo + biased[(s + 1) * padded + j];
    }
}

// Make room for more rows like these, whose squares add up to `square`.
//
// As long as Σv² ≤ bound and n ≤ room, |Σv| ≤ √(n · bound) (Cauchy and Schwarz). The biased Σv²
// must not exceed `limit`; where the bound says nothing of what can be squared, it always does.
void choose_bias(const double* square, double rows, double room, Index padded, double* bias,
                 double* limit, Index d) {
  for (Index j = 0; j < d; ++j) {
    const double bound = square[j] * (room / rows);
    double &sum = bias[j], &squares = bias[2 * padded + j];
    sum = squares = 0.0;
    if (bound > 0.0) {
      sum = ldexp(1.5, exponent(__builtin_sqrt(room * bound)) + 2);
      squares = ldexp(1.5, exponent(bound) + 2);
    }
    limit[j] = bound <= SQUARES ? squares + bound : -INFINITE;
  }
}

// What is known of a class while rows are added to it.
struct Class {
  Index side, room;  // which of the two sums hold, and for how many more rows their bias does
  double rows;
  bool shown;  // whether every feature has a value
};

// The work of add_rows: places for a tile, and biased sums of every class on two sides.
class Adder {
  const MomentState<double> state;
  const Index k, d, padded, size;
  Buffer<Index> start, order;
  Buffer<double> last, v, e, biased, bias, limit, square, missing, p, seen;
  Buffer<Class> classes;
  bool plain = true;  // rows are added as they are: no pivot, no gap
  // Of the tile: its rows as they lie, then centred if need be; whether a difference was rounded.
  Rows part{}, values{};
  const std::int64_t* codes = nullptr;
  Index many = 0;
  bool centred = false, rounded = false;
  Work work;

 public:
  Adder(MomentState<double> state)
      : state(state), k(state.pivot.shape[0]), d(state.pivot.shape[1]), padded(padded_to_lanes(d)),
        size(most<Index>(16, TILE_CELLS / most<Index>(1, padded))), start(k + 2), order(size),
        last(size * padded), v(size * padded), e(size * padded), biased(k * 8 * padded),
        bias(k * 4 * padded), limit(k * d), square(k * padded), missing(k * padded), p(k * padded),
        seen(d), classes(k) {
    fill(limit + 0, k * d, -INFINITE);
    for (Index c = 0; c < k; ++c) {
      copy<double>(p + c * padded, state.pivot.part(c).at, d);
      plain &= !any_nonzero(p + c * padded, d);
    }
  }

  Index add(const Table& x, const std::int64_t* all_codes) {
    const Index n = x.rows;
    const bool doubles =
        x.type == suffice::Number::float64 && x.down == d && (x.across == 1 || d == 1);
    const auto* in_place = doubles ? static_cast<const double*>(x.at) : nullptr;
    for (Index first = 0; first < n; first += size) {
      codes = all_codes + first, many = least(size, n - first);
      take(x, first, in_place);
      const double* ahead = in_place ? in_place + (first + size) * d : last + 0;
      for (Index c = 0; c < k; ++c)
        if (start[c + 1] > start[c] && !add_class(c, n - first, ahead + start[c] * padded))
          return first;
    }
    finish();
    return -1;
  }

 private:
  // Look at a tile of rows: group them, choose pivots, centre them if need be.
  void take(const Table& x, Index first, const double* in_place) {
    // The last vector of a row reads into the next.
    if (in_place && (x.rows - first - size) * d >= LANES)
      part = {in_place + first * d, d};
    else {
      converters.rows[static_cast<int>(x.type)](x, first, many, padded, last);
      part = {last, padded};
    }
    group(codes, many, k, start, order);
    for (Index c = 0; c < k; ++c) {
      const Index rows = start[c + 1] - start[c];
      if (!rows || classes[c].shown) continue;
      see(c);
      choose_pivots(part, order + start[c], rows, seen, p + c * padded, d);
      plain &= !any_nonzero(p + c * padded, d);
    }
    values = part, centred = rounded = false;
    if (!plain) centre();
  }

  // Write the weight of each feature (d,) of a class so far; return whether each has some.
  bool see(Index c) {
    bool shown = true;
    for (Index j = 0; j < d; ++j) {
      seen[j] = state.weight(c, 0, j) + (classes[c].rows - missing[c * padded + j]);
      shown &= seen[j] > 0.0;
    }
    return shown;
  }

  // Write v + e = x − p, or 0 for a missing cell, and the sums of v²; count the missing cells.
  void centre() {
    fill(square + 0, k * padded, 0.0);
    const Lanes zero = splat(0.0), one = splat(1.0);
    Lanes errors = zero;
    for (Index i = 0; i < many; ++i) {
      if (codes[i] < 0) continue;
      const Index of_class = codes[i] * padded, of_row = i * padded;
      for (Index j = 0; j < padded; j += LANES) {
        const Index c = of_class + j;
        const auto difference = two_sum(load(part[i] + j), zero - load(p + c));
        const Lanes gap = difference.hi - difference.hi;  // 0, or NaN
        store(missing + c, load(missing + c) + present(gap, one));
        const Lanes value = present(difference.hi, zero), error = present(difference.lo, zero);
        store(v + of_row + j, value);
        store(e + of_row + j, error);
        store(square + c, fma(value, value, load(square + c)));
        errors = fma(error, error, errors);
      }
    }
    centred = true, values = {v, padded}, rounded = false;
    for (int i = 0; i < LANES; ++i) rounded |= lane(errors, i) != 0.0;
  }

  // Add the rows of a class; false if a number is too large to be squared.
  bool add_class(Index c, Index to_come, const double* ahead) {
    Class& of = classes[c];
    const Index rows = start[c + 1] - start[c];
    work.done((rows + FEW) * padded);
    of.room -= rows;
    if (of.room >= 0) add_to_other_side(c, ahead);
    if (of.room < 0 || !below(sums(c, 1 - of.side) + 2 * padded, limit + c * d, d)) {
      if (!centred) {
        centre();
        plain = !any_nonzero(missing, k * padded);
      }
      if (!can_be_squared(square, k, padded, d) && any_too_large(part, codes, many, d))
        return false;
      double* bias_of = bias + c * 4 * padded;
      unbias(sums(c, of.side), bias_of, padded, state.sums.part(c).at, d);
      const Index room = most(rows, least(ROOM, to_come));
      choose_bias(square + c * padded, rows, room, padded, bias_of, limit + c * d, d);
      copy<double>(sums(c, of.side), bias_of, 4 * padded);
      of.room = room - rows;
      add_to_other_side(c, ahead);
    }
    of.side = 1 - of.side;
    of.rows += rows;
    if (!of.shown) of.shown = see(c);
    return true;
  }

  double* sums(Index c, Index side) { return biased + (2 * c + side) * 4 * padded; }

  void add_to_other_side(Index c, const double* ahead) {
    const Index side = classes[c].side, rows = start[c + 1] - start[c];
    const auto add = rounded ? add_members<true> : add_members<false>;
    add(values, e, order + start[c], rows, padded, sums(c, side), sums(c, 1 - side), ahead);
  }

  void finish() {
    for (Index c = 0; c < k; ++c) {
      copy<double>(state.pivot.part(c).at, p + c * padded, d);
      unbias(sums(c, classes[c].side), bias + c * 4 * padded, padded, state.sums.part(c).at, d);
      for (Index j = 0; j < d; ++j) {
        double &weight = state.weight(c, 0, j), &lo = state.weight(c, 1, j);
        const double shows = classes[c].rows - missing[c * padded + j];
        const Number sum = Number{weight, lo} + Number{shows, 0.0};
        weight = sum.hi, lo = sum.lo;
      }
    }
  }
};

Index add_rows(const Table& x, Vector<const std::int64_t> codes, MomentState<double> state) {
  return Adder(state).add(x, codes.at);
}

// Add a row of weight w to the sums of its class, (2, d), (d,) and (4, d).
void add_weighted_row(const double* row, double w, double* weight, const double* pivot,
                      double* sums, Index d) {
  double *s1 = sums, *s1_lo = sums + d, *s2 = sums + 2 * d, *s2_lo = sums + 3 * d;
#pragma GCC ivdep
  for (Index j = 0; j < d; ++j) {
    if (row[j] != row[j]) continue;
    const Number total = Number{weight[j], weight[d + j]} + Number{w, 0.0};
    weight[j] = total.hi, weight[d + j] = total.lo;
    const auto [v, e] = two_sum(row[j], -pivot[j]);
    const auto [a, b] = two_product(w, v);
    const Number sum = two_sum(s1[j], a);
    s1[j] = sum.hi, s1_lo[j] += sum.lo + (b + w * e);
    const auto [q, f] = two_product(v, v);
    const auto [g, h] = two_product(w, q);
    const Number square = two_sum(s2[j], g);
    s2[j] = square.hi, s2_lo[j] += square.lo + (h + w * (f + 2.0 * v * e));
  }
}

Index add_weighted_rows(Matrix<const double> x, Vector<const std::int64_t> codes,
                        Vector<const double> weights, MomentState<double> state) {
  const Index n = x.shape[0], d = x.shape[1], k = state.pivot.shape[0];
  const Index size = most<Index>(16, TILE_CELLS / most<Index>(1, d));
  Buffer<Index> start(k + 2), order(size);
  Work work;
  for (Index i = 0; i < n; ++i) {
    if (i % size == 0) {
      group(codes.at + i, least(size, n - i), k, start, order);
      for (Index c = 0; c < k; ++c)
        if (start[c + 1] > start[c])
          choose_pivots({x.at + i * d, d}, order + start[c], start[c + 1] - start[c],
                        state.weight.part(c).at, state.pivot.part(c).at, d);
    }
    if (codes[i] < 0) continue;
    const double* row = &x(i, 0);
    std::int64_t large = 0;  // as wide as a double: the loop becomes vectors
    for (Index j = 0; j < d; ++j) large |= magnitude(row[j]) > LARGEST ? 1 : 0;
    if (large) return i;
    work.done(8 * d);
    const Index c = codes[i];
    add_weighted_row(row, weights[i], &state.weight(c, 0, 0), &state.pivot(c, 0),
                     &state.sums(c, 0, 0), d);
  }
  return -1;
}

}  // namespace

extern const Moments moments{add_rows,      add_weighted_rows, merge,
                             merge_classes, mean_and_scatter,  recentre};

}  // namespace suffice::LEVEL
