// What is done with class-wise sums about pivots, cell by cell: they are added, taken away, moved
// to other pivots, and become mean and scatter.
#pragma once
#include "support/interrupts.hpp"
#include "sums/moments.hpp"
#include "sums/pivots.hpp"

namespace suffice::LEVEL {
namespace {

using Number = Pair<double>;

constexpr Index CELL = 64;    // operations of a cell, about
constexpr double FAR = 64.0;  // standard deviations from 0 at which a mean is worth two doubles

// Places c, j of the sums of a class: numbers that a kernel reads and writes.
template <class T>
struct Cell {
  T &w, &w_lo, &pivot, &s1, &s1_lo, &s2, &s2_lo;

  Cell(const MomentState<T>& state, Index c, Index j)
      : w(state.weight(c, 0, j)), w_lo(state.weight(c, 1, j)), pivot(state.pivot(c, j)),
        s1(state.sums(c, 0, j)), s1_lo(state.sums(c, 1, j)), s2(state.sums(c, 2, j)),
        s2_lo(state.sums(c, 3, j)) {}

  Number weight() const { return {w, w_lo}; }
  Number sum() const { return two_sum<double>(s1, s1_lo); }
  Number square() const { return two_sum<double>(s2, s2_lo); }
  void keep(Number sum, Number square) const {
    s1 = sum.hi, s1_lo = sum.lo, s2 = square.hi, s2_lo = square.lo;
  }
};

// With δ = p₂ − p:  Σw(x − p) = S₁ + δW  and  Σw(x − p)² = S₂ + 2δS₁ + δ²W.
inline bool merge_cell(Cell<double> cell, Cell<const double> other, double sign) {
  if (other.w == 0.0) return true;
  if (cell.w == 0.0) cell.pivot = other.pivot;
  const Number s1 = other.sum(), delta = two_sum<double>(other.pivot, -cell.pivot);
  const Number shift = delta * other.weight();
  const Number s2 = other.square() + delta * (Number{2.0 * s1.hi, 2.0 * s1.lo} + shift);
  const Number moved = s1 + shift;

  const auto signed_by = [sign](Number x) { return Number{sign * x.hi, sign * x.lo}; };
  const double before = cell.w, before2 = cell.square().hi;
  Number w = cell.weight() + signed_by(other.weight());
  Number sum = cell.sum() + signed_by(moved), square = cell.square() + signed_by(s2);
  if (sign < 0.0 && (w.hi < -NOISE * before || square.hi < -1e-12 * before2)) return false;
  if (sign < 0.0 && w.hi <= NOISE * before) {
    w = sum = square = {0.0, 0.0};
    cell.pivot = 0.0;
  } else if (sign < 0.0) {
    // A scatter this far below what was there is rounding: the values left are equal.
    if ((square + -product_over(sum, sum, w)).hi <= NOISE * before2) {
      cell.pivot = (Number{cell.pivot, 0.0} + sum / w).hi;
      sum = square = {0.0, 0.0};
    }
  }
  cell.w = w.hi, cell.w_lo = w.lo;
  cell.keep(sum, square);
  return true;
}

inline Index merge_from(Index to, Index from, MomentState<double> state,
                        MomentState<const double> other, double sign) {
  for (Index j = 0; j < state.pivot.shape[1]; ++j)
    if (!merge_cell({state, to, j}, {other, from, j}, sign)) return j;
  return -1;
}

inline Index merge(MomentState<double> state, MomentState<const double> other, double sign) {
  Work work;
  for (Index c = 0; c < state.pivot.shape[0]; ++c) {
    work.done(CELL * state.pivot.shape[1]);
    const Index j = merge_from(c, c, state, other, sign);
    if (j >= 0) return c * state.pivot.shape[1] + j;
  }
  return -1;
}

inline void merge_classes(MomentState<double> state, MomentState<const double> other) {
  for (Index c = 1; c < other.pivot.shape[0]; ++c) merge_from(0, c, state, other, 1.0);
}

// The low part of a mean that is far from 0, to 2⁻⁶⁰ of the standard deviation.
//
// Bits below that depend on the order of the rows.
inline double worthwhile(double mean, double low, double sd) {
  const double step = ldexp(1.0, exponent(sd) - 60);
  if (magnitude(mean) <= FAR * sd || sd == 0.0 || step == 0.0) return 0.0;
  return __builtin_floor(low / step + 0.5) * step;
}

struct MeanAndScatter {
  Number mean;
  double scatter;
};

// The pair of x̄ = p + S₁/W, and Σw(x − x̄)² = S₂ − S₁²/W, for W > 0.
//
// Each is right to about 2⁻¹⁰⁰, then rounded: only what lies nearer to a tie may round either way.
template <class T>
MeanAndScatter mean_and_scatter_of(const Cell<T>& cell) {
  const Number s1 = cell.sum(), w = cell.weight();
  const Number mean = Number{cell.pivot, 0.0} + s1 / w;
  const Number square = cell.square() + -product_over(s1, s1, w);
  return {mean, most(square.hi + square.lo, 0.0)};
}

inline void mean_and_scatter(MomentState<const double> state, Matrix<double> mean,
                             Matrix<double> mean_lo, Matrix<double> scatter) {
  Work work;
  for (Index c = 0; c < state.pivot.shape[0]; ++c)
    for (Index j = 0; j < state.pivot.shape[1]; ++j) {
      work.done(CELL);
      const Cell<const double> cell(state, c, j);
      if (cell.w <= 0.0) {
        mean(c, j) = mean_lo(c, j) = scatter(c, j) = 0.0;
        continue;
      }
      const auto [m, square] = mean_and_scatter_of(cell);
      mean(c, j) = m.hi + m.lo, scatter(c, j) = square;
      mean_lo(c, j) = worthwhile(m.hi, m.lo, __builtin_sqrt(square / cell.w));
    }
}

// With δ = p′ − p:  S₁′ = S₁ − δW  and  S₂′ = S₂ − δ(S₁ + S₁′).
//
// Pivots that are the values, or so near to them that squares underflow, stay.
inline void recentre(MomentState<double> state) {
  Work work;
  for (Index c = 0; c < state.pivot.shape[0]; ++c)
    for (Index j = 0; j < state.pivot.shape[1]; ++j) {
      work.done(CELL);
      const Cell<double> cell(state, c, j);
      Number s1 = cell.sum(), s2 = cell.square();
      if (s2.hi >= SMALLEST * SMALLEST * most<double>(cell.w, 1.0)) {
        const auto [mean, square] = mean_and_scatter_of(cell);
        const double pivot = near(mean.hi + mean.lo, __builtin_sqrt(square / cell.w));
        const Number delta = two_sum<double>(pivot, -cell.pivot);
        const Number moved = s1 + -(delta * cell.weight());
        s2 = s2 + -(delta * (s1 + moved));
        cell.pivot = pivot, s1 = moved;
        if (square == 0.0) s1 = s2 = {0.0, 0.0};
      }
      cell.keep(s1, s2);
    }
}

}  // namespace
}  // namespace suffice::LEVEL
