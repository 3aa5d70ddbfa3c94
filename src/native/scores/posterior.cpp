#include "scores/posterior.hpp"

#include "support/elementary_functions.hpp"
#include "support/interrupts.hpp"
#include "support/memory.hpp"

namespace suffice::LEVEL {
namespace {

// Call `act(first, many)` with every eight rows, and those that are left.
template <class Act>
INLINE void by_eights(Strided<const double> a, const Act& act) {
  constexpr Index STRIP = 1024, SCORE = 4;  // rows between two looks; operations, about
  Work work;
  for (Index start = 0; start < a.rows; start += STRIP) {
    const Index stop = least(start + STRIP, a.rows);
    for (Index first = start; first < stop; first += LANES)
      act(first, least<Index>(LANES, stop - first));
    work.done(SCORE * STRIP * a.columns);
  }
}

// The scores of a class, of eight rows from `first` on or of fewer; what is missing is 0.
INLINE Lanes scores_of(Strided<const double> a, Index first, Index many, Index c) {
  const double* from = &a(first, c);
  if (a.down == 1 && many == LANES) return load(from);
  double some[LANES];
  for (Index i = 0; i < LANES; ++i) some[i] = i < many ? from[i * a.down] : 0.0;
  return load(some);
}

INLINE void write_scores(Strided<double> out, Index first, Index many, Index c, Lanes values) {
  double* to = &out(first, c);
  if (out.down == 1 && many == LANES) return store(to, values);
  double some[LANES];
  store(some, values);
  for (Index i = 0; i < many; ++i) to[i * out.down] = some[i];
}

INLINE Strided<const double> read_only(Strided<double> a) {
  return {a.at, a.rows, a.columns, a.down, a.across};
}

// m = max_c a_c.
INLINE Lanes largest(Strided<const double> a, Index first, Index many) {
  Lanes top = splat(-INFINITE);
  for (Index c = 0; c < a.columns; ++c) {
    const Lanes score = scores_of(a, first, many, c);
    top = choose(score, top, score, top);
  }
  return top;
}

// m, and 0 where that is −∞.
INLINE Lanes finite(Lanes top) { return choose(top, splat(-INFINITE), top, splat(0.0)); }

// m + log Σ_c exp(a_c − m).
INLINE Lanes evidence(Strided<const double> a, Index first, Index many, Lanes top) {
  const Lanes shift = finite(top);
  Lanes sum = splat(0.0);
  for (Index c = 0; c < a.columns; ++c) sum += exp(scores_of(a, first, many, c) - shift);
  return shift + log(sum);
}

// Write the answer of rows that no class explains; count them.
INLINE Index answer_impossible(Lanes top, Strided<double> out, Index first, Index many,
                               Vector<const double> answer) {
  Index rows = 0;
  for (Index i = 0; i < many; ++i) {
    if (lane(top, static_cast<int>(i)) > -INFINITE) continue;
    for (Index c = 0; c < out.columns; ++c) out(first + i, c) = answer[c];
    ++rows;
  }
  return rows;
}

void log_sum_exp(Strided<const double> a, double* out) {
  by_eights(a, [&](Index first, Index many) __attribute__((always_inline)) {
    const Lanes sum = evidence(a, first, many, largest(a, first, many));
    write_scores({out, a.rows, 1, 1, a.rows}, first, many, 0, sum);
  });
}

Index log_normalise(Strided<const double> a, Vector<const double> log_prior, Strided<double> out) {
  Index impossible = 0;
  by_eights(a, [&](Index first, Index many) __attribute__((always_inline)) {
    const Lanes top = largest(a, first, many), sum = finite(evidence(a, first, many, top));
    for (Index c = 0; c < a.columns; ++c)
      write_scores(out, first, many, c, scores_of(a, first, many, c) - sum);
    if (count_above(top, splat(-INFINITE)) < LANES)
      impossible += answer_impossible(top, out, first, many, log_prior);
  });
  return impossible;
}

Index normalise(Strided<double> a, Vector<const double> prior) {
  const auto scores = read_only(a);
  Index impossible = 0;
  by_eights(scores, [&](Index first, Index many) __attribute__((always_inline)) {
    const Lanes top = largest(scores, first, many), shift = finite(top);
    Lanes sum = splat(0.0);
    for (Index c = 0; c < a.columns; ++c) {
      const Lanes share = exp(scores_of(scores, first, many, c) - shift);
      write_scores(a, first, many, c, share);
      sum += share;
    }
    for (Index c = 0; c < a.columns; ++c)
      write_scores(a, first, many, c, scores_of(scores, first, many, c) / sum);
    if (count_above(top, splat(-INFINITE)) < LANES)
      impossible += answer_impossible(top, a, first, many, prior);
  });
  return impossible;
}

}  // namespace

extern const Posterior posterior{log_sum_exp, log_normalise, normalise};

}  // namespace suffice::LEVEL
