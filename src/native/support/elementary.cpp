#include "support/elementary.hpp"

#include "support/elementary_functions.hpp"
#include "support/interrupts.hpp"
#include "support/memory.hpp"

namespace suffice::LEVEL {
namespace {

// Eight numbers `apart`, or fewer and ones.
INLINE Lanes gather(const double* from, Index apart, Index many) {
  if (apart == 1 && many == LANES) return load(from);
  double some[LANES];
  for (Index i = 0; i < LANES; ++i) some[i] = i < many ? from[i * apart] : 1.0;
  return load(some);
}

INLINE void scatter(double* to, Index apart, Index many, Lanes values) {
  if (apart == 1 && many == LANES) return store(to, values);
  double some[LANES];
  store(some, values);
  for (Index i = 0; i < many; ++i) to[i * apart] = some[i];
}

template <Lanes function(Lanes)>
void apply(Strided<const double> x, Strided<double> out) {
  const bool by_columns = x.down == 1 && x.rows > 1;
  const Index many = by_columns ? x.rows : x.columns, lines = by_columns ? x.columns : x.rows;
  const Index step = by_columns ? x.down : x.across, to_step = by_columns ? out.down : out.across;
  Work work;
  for (Index line = 0; line < lines; ++line) {
    const double* from = x.at + line * (by_columns ? x.across : x.down);
    double* to = out.at + line * (by_columns ? out.across : out.down);
    for (Index i = 0; i < many; i += LANES) {
      work.done(8);
      const Index some = least<Index>(LANES, many - i);
      scatter(to + i * to_step, to_step, some, function(gather(from + i * step, step, some)));
    }
  }
}

}  // namespace

extern const Elementary elementary{apply<exp<Lanes>>, apply<log<Lanes>>, apply<log1p<Lanes>>,
                                   apply<lgamma<Lanes>>, apply<digamma<Lanes>>};

}  // namespace suffice::LEVEL
