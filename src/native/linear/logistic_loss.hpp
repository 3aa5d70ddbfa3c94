// Logistic loss: −log P(y | x) as a function of scores t.
//
//   two classes       ℓ = log(1 + e⁻ˢ),  s = ±t        ∂ℓ/∂t = p − y            p = 1/(1 + e⁻ᵗ)
//   k > 2 classes     ℓ = log Σ_c exp(t_c) − t_y        ∂ℓ/∂t_c = p_c − [c = y]   p_c ∝ exp(t_c)
//
// Nothing overflows, and neither p nor 1 − p is ever a difference of numbers near 1. A loss comes
// as a + log(1 + r) with r ≥ 0; a sum of such logarithms is the logarithm of a product.
#pragma once
#include "support/elementary_functions.hpp"
#include "support/memory.hpp"

namespace suffice::LEVEL {
namespace {

// A loss a + log(1 + r).
struct Loss {
  double a, r;
};

struct TwoClasses {
  double residual, p, other;  // p − y, p and 1 − p of class 1
  Loss loss;
};

// e^−abs(t), which a row of two classes needs.
template <class V>
INLINE V faint(V t) {
  return exp(-magnitude(t));
}

INLINE TwoClasses two_classes(double t, Index y, double small) {
  const double rare = small / (1.0 + small), common = 1.0 / (1.0 + small);
  const double p = t >= 0.0 ? common : rare, other = t >= 0.0 ? rare : common;
  const double against = y == 0 ? t : -t;
  return {y == 0 ? p : -other, p, other, {most(against, 0.0), small}};
}

// The largest of k scores, the first of equal ones; they are `apart`.
INLINE Index best_of(const double* t, Index k, Index apart) {
  Index best = 0;
  for (Index c = 1; c < k; ++c) best = t[c * apart] > t[best * apart] ? c : best;
  return best;
}

// Write p_c − [c = y], p_c and 1 − p_c of k classes, whose scores and `raised`, exp(t_c − t_best),
// are `apart`.
INLINE Loss many_classes(const double* t, const double* raised, Index k, Index apart, Index y,
                         double* residual, double* p, double* other) {
  const Index best = best_of(t, k, apart);
  double others = 0.0;  // Σ exp(t_c − t_best) over the other classes
  for (Index c = 0; c < k; ++c) others += c != best ? raised[c * apart] : 0.0;
  const double of_best = 1.0 / (1.0 + others);
  for (Index c = 0; c < k; ++c) {
    p[c] = raised[c * apart] * of_best;
    other[c] = c == best ? others * of_best : 1.0 - p[c];
    residual[c] = c == y ? -other[c] : p[c];
  }
  return {t[best * apart] - t[y * apart], others};
}

// Write w (p_c − [c = y]) in the place of the scores of k classes; return the loss. The shares of
// the classes are divided by their sum, where `many_classes` keeps the digits of 1 − p too.
INLINE double replace_by_residuals(double* t, Index k, Index y, double weight) {
  const double top = t[best_of(t, k, 1)], own = t[y];
  double total = 0.0, others = 0.0;
  for (Index c = 0; c < k; ++c) {
    t[c] = exp(t[c] - top);
    total += t[c];
  }
  for (Index c = 0; c < k; ++c) {
    if (c == y) continue;
    t[c] *= weight / total;
    others += t[c];
  }
  t[y] = -others;
  return log(total) + (top - own);
}

// Σ w (a + log(1 + r)), kept as a sum and a factor whose logarithm is missing in it: rows of weight
// 1 multiply the factor, since a logarithm takes as long as all else that a row needs.
class LossSum {
  static constexpr double FAINT = 0x1p-10;  // below it, five terms of log(1 + r) are exact
  static constexpr double LARGE = 0x1p600;  // a product that is far from the largest double
  double sum_ = 0.0, factor_ = 1.0;

 public:
  INLINE void add(Loss loss, double weight) {
    sum_ += weight * loss.a;
    double r = loss.r;
    if (weight != 1.0) {
      sum_ += weight * log1p(r);
    } else if (r < FAINT) {
      r *= 1.0 - r * (1.0 / 2.0 - r * (1.0 / 3.0 - r * (1.0 / 4.0 - r / 5.0)));
      sum_ += r;
    } else {
      factor_ *= 1.0 + r;
      if (factor_ > LARGE) sum_ += log(factor_), factor_ = 1.0;
    }
  }
  INLINE double value() const { return sum_ + log(factor_); }
};

}  // namespace
}  // namespace suffice::LEVEL
