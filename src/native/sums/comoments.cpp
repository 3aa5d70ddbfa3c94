#include "sums/comoments.hpp"

#include "sums/comoment_rows.hpp"
#include "support/interrupts.hpp"

namespace suffice::LEVEL {
namespace {

using Number = Pair<double>;
using State = ComomentState<double>;

constexpr Index CELL = 32;  // operations of a cell of pairs, about

Index add_rows(Matrix<const double> x, Matrix<const double> y, Vector<const std::int64_t> codes,
               Vector<const double> weights, State state) {
  return ComomentAdder(x, y, weights, state).add(x, y, codes.at, weights);
}

// The pair of a place and that behind it, not normalised.
INLINE Number pair_of(const double& hi, const double& lo) { return two_sum<double>(hi, lo); }

template <class T>
INLINE Number product_of(const Cube<T>& products, Index i, Index j) {
  return pair_of(products(0, i, j), products(1, i, j));
}

template <class T>
INLINE Number sum_of(const Cube<T>& sums, Index c, Index j) {
  return pair_of(sums(c, 0, j), sums(c, 1, j));
}

template <class T>
INLINE Number weight_of(const Matrix<T>& weight, Index c) {
  return {weight(c, 0), weight(c, 1)};
}

// x̄ = (pW + Σw(x − p))/W: added before it is divided, a mean near 0 keeps all its digits.
INLINE Number mean_of(double pivot, Number sum, Number w) {
  return (w * Number{pivot, 0.0} + sum) / w;
}

INLINE void keep(double& hi, double& lo, Number value) { hi = value.hi, lo = value.lo; }

INLINE void add_product(const Cube<double>& products, Index i, Index j, Number value) {
  keep(products(0, i, j), products(1, i, j), product_of(products, i, j) + value);
}

INLINE Number signed_by(double sign, Number x) { return {sign * x.hi, sign * x.lo}; }

void add_scattered_rows(Matrix<const double> x, Vector<const std::int64_t> groups,
                        Vector<const double> weights, State state) {
  const Index n = x.shape[0], d = x.shape[1], g = state.pivot.shape[0];
  Buffer<double> v(d), e(d), a(d), a_lo(d), nothing(d);
  Buffer<Index> start(g + 2), order(n);
  group(groups.at, n, g, start, order);
  for (Index c = 0; c < g; ++c) {
    double* pivot = state.pivot.part(c).at;
    if (state.product_index[c] >= 0) {
      choose_pivots({x.at, d}, order + start[c], start[c + 1] - start[c], nothing, pivot, d);
      continue;
    }
    for (Index r = start[c]; r < start[c + 1]; ++r)
      for (Index j = 0; j < d; ++j) {
        const double value = x(order[r], j);
        pivot[j] = value == value ? value : 0.0;
      }
  }
  Work work;
  for (Index i = 0; i < n; ++i) {
    const Index c = groups[i], m = state.product_index[c];
    const double w = weights.size() ? weights[i] : 1.0;
    keep(state.weight(c, 0), state.weight(c, 1), weight_of(state.weight, c) + Number{w, 0.0});
    for (Index j = 0; j < d; ++j) {
      const double value = x(i, j) == x(i, j) ? x(i, j) : state.pivot(c, j);
      const auto difference = two_sum(value, -state.pivot(c, j));
      v[j] = difference.hi, e[j] = difference.lo;
      const auto product = two_product(w, v[j]);
      a[j] = product.hi, a_lo[j] = product.lo + w * e[j];
      const auto sum = two_sum(state.sums(c, 0, j), a[j]);
      state.sums(c, 0, j) = sum.hi;
      state.sums(c, 1, j) += sum.lo + a_lo[j];
    }
    if (m < 0) continue;
    const Cube<double> products = state.products.part(m);
    work.done(4 * d * d);
    for (Index j = 0; j < d; ++j)
      for (Index h = j; h < d; ++h) {
        const auto [q, f] = two_product(a[j], v[h]);
        const auto sum = two_sum(products(0, j, h), q);
        products(0, j, h) = sum.hi;
        products(1, j, h) += sum.lo + (f + a[j] * e[h] + a_lo[j] * v[h]);
      }
  }
}

// With δ = p₂ − p:  Σw(x − p) = S + δW  and  Σw(x − p)(x − p)ᵀ = P + δSᵀ + Sδᵀ + Wδδᵀ,
// of which the P of the others was added beforehand.
Index merge(State state, ComomentSums<const double> other, Vector<const std::int64_t> place,
            double sign) {
  const Index d = state.pivot.shape[1];
  Buffer<Number> delta(d), s(d);
  Work work;
  for (Index i = 0; i < place.size(); ++i) {
    work.done(CELL * d);
    const Index c = place[i], m = state.product_index[c];
    const Number w = weight_of(other.weight, i);
    const double before = state.weight(c, 0);
    if (before == 0.0) copy<double>(&state.pivot(c, 0), &other.pivot(i, 0), d);
    bool moved = false;
    for (Index j = 0; j < d; ++j) {
      delta[j] = two_sum<double>(other.pivot(i, j), -state.pivot(c, j));
      moved |= delta[j].hi != 0.0;
      s[j] = sum_of(other.sums, i, j);
    }
    if (moved && m >= 0) {
      // δSᵀ + Sδᵀ + Wδδᵀ = δ(S + Wδ)ᵀ + Sδᵀ
      const Cube<double> products = state.products.part(m);
      for (Index j = 0; j < d; ++j) {
        work.done(CELL * (d - j));
        for (Index h = j; h < d; ++h) {
          const Number q = delta[j] * (w * delta[h] + s[h]) + s[j] * delta[h];
          add_product(products, j, h, signed_by(sign, q));
        }
      }
    }
    keep(state.weight(c, 0), state.weight(c, 1), weight_of(state.weight, c) + signed_by(sign, w));
    for (Index j = 0; j < d; ++j)
      keep(state.sums(c, 0, j), state.sums(c, 1, j),
           sum_of(state.sums, c, j) + signed_by(sign, w * delta[j] + s[j]));
    if (sign < 0.0 && state.weight(c, 0) < -NOISE * before) return c;
    if (sign < 0.0 && state.weight(c, 0) <= NOISE * before) {
      fill(&state.weight(c, 0), 2, 0.0);
      fill(&state.pivot(c, 0), d, 0.0);
      fill(&state.sums(c, 0, 0), 2 * d, 0.0);
    }
  }
  return -1;
}

// Write Σw(x − x̄)² = P − Σ S²/W over the groups of every matrix, (m, d).
void write_squares(const State& state, double* squares) {
  const Index d = state.pivot.shape[1], matrices = state.products.shape[0];
  Buffer<Number> pairs(matrices * d);
  for (Index m = 0; m < matrices; ++m)
    for (Index j = 0; j < d; ++j) pairs[m * d + j] = product_of(state.products.part(m), j, j);
  Work work;
  for (Index c = 0; c < state.product_index.size(); ++c) {
    const Index m = state.product_index[c];
    if (m < 0 || state.weight(c, 0) <= 0.0) continue;
    work.done(CELL * d);
    for (Index j = 0; j < d; ++j) {
      const Number s = sum_of(state.sums, c, j);
      Number& pair = pairs[m * d + j];
      pair = pair + -product_over(s, s, weight_of(state.weight, c));
    }
  }
  for (Index q = 0; q < matrices * d; ++q) squares[q] = pairs[q].hi;
}

// Leave a scatter of exactly 0 of feature j in the groups of matrix m: each value is its mean.
void level(Index m, Index j, const State& state) {
  const Index d = state.pivot.shape[1];
  for (Index c = 0; c < state.product_index.size(); ++c)
    if (state.product_index[c] == m && state.weight(c, 0) > 0.0) {
      const Number mean = sum_of(state.sums, c, j) / weight_of(state.weight, c);
      state.pivot(c, j) = (Number{state.pivot(c, j), 0.0} + mean).hi;
      state.sums(c, 0, j) = state.sums(c, 1, j) = 0.0;
    }
  const Cube<double> products = state.products.part(m);
  for (Index half = 0; half < 2; ++half)
    for (Index i = 0; i < d; ++i) products(half, j, i) = products(half, i, j) = 0.0;
}

Index settle(State state, Matrix<const double> before) {
  const Index d = state.pivot.shape[1], matrices = state.products.shape[0];
  Buffer<double> squares(matrices * d);
  write_squares(state, squares);
  for (Index m = 0; m < matrices; ++m)
    for (Index j = 0; j < d; ++j) {
      if (squares[m * d + j] < -1e-12 * before(m, j)) return j;
      if (squares[m * d + j] <= NOISE * before(m, j)) level(m, j, state);
    }
  return -1;
}

// Write the standard deviations (m, d) of every matrix; −1 where pivots are to stay.
void write_sds(const State& state, double* sd) {
  const Index d = state.pivot.shape[1], matrices = state.products.shape[0];
  write_squares(state, sd);
  Buffer<double> total(matrices);
  for (Index c = 0; c < state.product_index.size(); ++c)
    if (state.product_index[c] >= 0) total[state.product_index[c]] += state.weight(c, 0);
  for (Index m = 0; m < matrices; ++m) {
    const double least_square = SMALLEST * SMALLEST * most(total[m], 1.0);
    for (Index j = 0; j < d; ++j) {
      double& of = sd[m * d + j];
      if (state.products.part(m)(0, j, j) < least_square) {
        of = -1.0;
      } else if (of <= 0.0) {
        level(m, j, state);
        of = -1.0;
      } else {
        of = __builtin_sqrt(of / total[m]);
      }
    }
  }
}

// With δ = p′ − p:  S′ = S − Wδ  and  P′ = P − δSᵀ − S′δᵀ.
//
// Pivots that are the values, or so near to them that squares underflow, stay; so do those of a
// group without rows, which has no mean.
void recentre(State state) {
  const Index d = state.pivot.shape[1];
  Buffer<double> sd(state.products.shape[0] * d);
  write_sds(state, sd);
  Buffer<Number> delta(d), s(d), moved_s(d);
  Work work;
  for (Index c = 0; c < state.product_index.size(); ++c) {
    const Index m = state.product_index[c];
    if (m < 0) continue;
    const Number w = weight_of(state.weight, c);
    work.done(CELL * d);
    bool moved = false;
    for (Index j = 0; j < d; ++j) {
      double& pivot = state.pivot(c, j);
      s[j] = sum_of(state.sums, c, j);
      double p = pivot;
      const bool moves = sd[m * d + j] >= 0.0;
      if (moves && w.hi != 0.0) p = near(mean_of(p, s[j], w).hi, sd[m * d + j]);
      delta[j] = two_sum(p, -pivot);
      moved |= delta[j].hi != 0.0 || (moves && w.hi == 0.0);
      pivot = p;
      moved_s[j] = s[j] + -(w * delta[j]);
      keep(state.sums(c, 0, j), state.sums(c, 1, j), moved_s[j]);
    }
    if (!moved) continue;
    const Cube<double> products = state.products.part(m);
    for (Index j = 0; j < d; ++j) {
      work.done(CELL * (d - j));
      for (Index h = j; h < d; ++h)
        add_product(products, j, h, -(delta[j] * s[h] + moved_s[j] * delta[h]));
    }
  }
}

void mean(ComomentSums<const double> of, Cube<double> out) {
  Work work;
  for (Index c = 0; c < of.pivot.shape[0]; ++c) {
    work.done(CELL * of.pivot.shape[1]);
    for (Index j = 0; j < of.pivot.shape[1]; ++j)
      keep(out(0, c, j), out(1, c, j),
           mean_of(of.pivot(c, j), sum_of(of.sums, c, j), weight_of(of.weight, c)));
  }
}

void scatter(Matrix<const double> weight, Cube<const double> sums,
             Vector<const std::int64_t> product_index, View<const double, 4> products,
             View<double, 4> out) {
  const Index d = sums.shape[2], matrices = products.shape[0];
  Work work;
  for (Index m = 0; m < matrices; ++m)
    for (Index i = 0; i < d; ++i) {
      work.done(8 * d);
      for (Index j = i; j < d; ++j)
        keep(out.part(m)(0, i, j), out.part(m)(1, i, j), product_of(products.part(m), i, j));
    }
  for (Index c = 0; c < product_index.size(); ++c) {
    if (product_index[c] < 0 || weight(c, 0) <= 0.0) continue;
    const Cube<double> of = out.part(product_index[c]);
    const Number w = weight_of(weight, c);
    for (Index i = 0; i < d; ++i) {
      work.done(CELL * (d - i));
      for (Index j = i; j < d; ++j)
        add_product(of, i, j, -product_over(sum_of(sums, c, i), sum_of(sums, c, j), w));
    }
  }
  for (Index m = 0; m < matrices; ++m)
    for (Index half = 0; half < 2; ++half)
      for (Index i = 0; i < d; ++i) {
        work.done(8 * d);
        for (Index j = 0; j < i; ++j) out.part(m)(half, i, j) = out.part(m)(half, j, i);
      }
}

}  // namespace

extern const Comoments comoments{add_rows, add_scattered_rows, merge, settle, recentre, mean,
                                 scatter};

}  // namespace suffice::LEVEL
