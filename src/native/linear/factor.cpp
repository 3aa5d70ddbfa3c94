#include "linear/factor.hpp"

#include "support/double_double.hpp"
#include "support/interrupts.hpp"
#include "support/memory.hpp"

namespace suffice::LEVEL {
namespace {

using Number = Pair<double>;

template <class T>
INLINE Number at(const Pairs<T, 2>& a, Index i, Index j) {
  return {a.hi(i, j), a.lo(i, j)};
}

template <class T>
INLINE Number at(const Pairs<T, 1>& a, Index i) {
  return {a.hi[i], a.lo[i]};
}

INLINE void keep(const Pairs<double, 2>& a, Index i, Index j, Number value) {
  a.hi(i, j) = value.hi, a.lo(i, j) = value.lo;
}

// Add f · x to the pairs s, all (m,).
void add_multiple(double* s, double* s_lo, Number f, const double* x, const double* x_lo, Index m) {
  const Pair<Lanes> factor{splat(f.hi), splat(f.lo)};
  Index j = 0;
  for (; j + LANES <= m; j += LANES) {
    const auto product = factor * Pair<Lanes>{load(x + j), load(x_lo + j)};
    const auto sum = Pair<Lanes>{load(s + j), load(s_lo + j)} + product;
    store(s + j, sum.hi);
    store(s_lo + j, sum.lo);
  }
  for (; j < m; ++j) {
    const auto sum = Number{s[j], s_lo[j]} + f * Number{x[j], x_lo[j]};
    s[j] = sum.hi, s_lo[j] = sum.lo;
  }
}

// Add f times row k of x to row i of s, from column j on.
template <class T>
INLINE void add_row(const Pairs<double, 2>& s, Index i, Number f, const Pairs<T, 2>& x, Index k,
                    Index j, Index end) {
  add_multiple(&s.hi(i, j), &s.lo(i, j), f, &x.hi(k, j), &x.lo(k, j), end - j);
}

void product(Pairs<const double, 2> a, Pairs<const double, 2> b, Pairs<double, 2> c) {
  Work work;
  for (Index i = 0; i < a.hi.shape[0]; ++i)
    for (Index k = 0; k < a.hi.shape[1]; ++k) {
      if (a.hi(i, k) == 0.0) continue;
      add_row(c, i, at(a, i, k), b, k, 0, c.hi.shape[1]);
      work.done(4 * c.hi.shape[1]);
    }
}

Index factorise(Pairs<double, 2> upper, Vector<const double> noise, Pairs<double, 1> pivots,
                Pairs<double, 2> inverse) {
  const Index d = upper.hi.shape[0];
  Work work;
  for (Index i = 0; i < d; ++i) {
    inverse.hi(i, i) = 1.0;
    for (Index k = 0; k < i; ++k) {
      if (pivots.hi[k] == 0.0) continue;
      const Number f = -at(upper, k, i);
      add_row(inverse, i, f, inverse, k, 0, k + 1);
      add_row(upper, i, f * at(pivots, k), upper, k, i, d);
      work.done(4 * (k + d - i));
    }
    double unknown = 0.0;
    for (Index j = 0; j <= i; ++j) unknown += inverse.hi(i, j) * inverse.hi(i, j) * noise[j];
    const Number pivot = at(upper, i, i);
    if (pivot.hi < -unknown) return i;
    keep(upper, i, i, {1.0, 0.0});
    if (pivot.hi <= unknown) {
      for (Index j = i + 1; j < d; ++j) keep(upper, i, j, {0.0, 0.0});
      continue;
    }
    pivots.hi[i] = pivot.hi, pivots.lo[i] = pivot.lo;
    for (Index j = i + 1; j < d; ++j) keep(upper, i, j, at(upper, i, j) / pivot);
  }
  return -1;
}

void solve(Pairs<const double, 2> upper, Pairs<const double, 1> pivots, Pairs<double, 2> x) {
  const Index d = upper.hi.shape[0], t = x.hi.shape[1];
  Work work;
  for (Index i = 0; i < d; ++i) {
    work.done(4 * i * t);
    for (Index k = 0; k < i; ++k)
      if (pivots.hi[k] != 0.0) add_row(x, i, -at(upper, k, i), x, k, 0, t);
  }
  for (Index i = d - 1; i >= 0; --i) {
    if (pivots.hi[i] == 0.0) {
      for (Index j = 0; j < t; ++j) keep(x, i, j, {0.0, 0.0});
      continue;
    }
    for (Index j = 0; j < t; ++j) keep(x, i, j, at(x, i, j) / at(pivots, i));
    work.done(4 * (d - i) * t);
    for (Index k = i + 1; k < d; ++k)
      if (pivots.hi[k] != 0.0) add_row(x, i, -at(upper, i, k), x, k, 0, t);
  }
}

}  // namespace

extern const Factor factor{product, factorise, solve};

}  // namespace suffice::LEVEL
