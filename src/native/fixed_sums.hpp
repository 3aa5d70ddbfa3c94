// Sums of terms that are at most 1, in fixed point: the same bits in whatever order terms come.
//
// A sum S is kept with a bias, so that all its values have one last place, the unit u. S′ = S + p
// rounds p to a whole multiple q of u, q = S′ − S is exact, and so is what is left, e = p − q. A
// second sum, of a finer unit, does the same with e. Where p lies half-way between two multiples,
// S′ would depend on S; it never does, since the last bit of a factor, and of e, is set to 1 first.
//
// After so many rows the sums are emptied into two doubles a level, whole multiples of a unit above
// and of one below: those of 2³⁴ rows are exact.
//
// Source: J. Demmel and H. D. Nguyen, Fast reproducible floating-point summation (2013), for sums
// cut at fixed boundaries.
#pragma once
#include "elementary_functions.hpp"
#include "memory.hpp"

namespace suffice::LEVEL {
namespace {

constexpr Index HELD = 120;            // terms of a sum before it is emptied: fewer than 2⁵¹ units
constexpr double COARSE = 0x1.8p8;     // the bias of the first level: its unit is 2⁻⁴⁴
constexpr double FINE = 0x1.8p-37;     // that of the second, of 2⁻⁸⁹
constexpr double SPLIT = 0x1p26;       // units of the part below the middle
constexpr double FAINTEST = 0x1p-100;  // smaller factors change no sum

// The same number with its last bit set; those that change no sum are not made smaller.
INLINE Lanes odd(Lanes x) { return number(words(x) | 1); }
INLINE Lanes odd_factor(Lanes x) {
  const Lanes least = splat(FAINTEST);
  return odd(choose(magnitude(x), least, x, least));
}

// Add c, whole multiples of the unit of a bias, in two parts.
INLINE void add_in_parts(double c, double bias, double& high, double& low) {
  const double split = bias * SPLIT, upper = (c + split) - split;
  high += upper, low += c - upper;
}
INLINE void add_in_parts(Lanes c, double bias, Lanes& high, Lanes& low) {
  const Lanes split = splat(bias * SPLIT), upper = (c + split) - split;
  high += upper, low += c - upper;
}

// Eight lanes of each of m sums.
class LanesOfSums {
  Buffer<double> coarse_, fine_;
  Index m_;

 public:
  explicit LanesOfSums(Index m) : coarse_(m * LANES), fine_(m * LANES), m_(m) {
    fill<double>(coarse_, m * LANES, COARSE);
    fill<double>(fine_, m * LANES, FINE);
  }

  INLINE void add(Index c, Lanes terms) const {
    const Lanes p = odd(terms), before = load(coarse_ + c * LANES), after = before + p;
    store(coarse_ + c * LANES, after);
    store(fine_ + c * LANES, load(fine_ + c * LANES) + odd(p - (after - before)));
  }

  // Empty them into sums (4, size), `apart` from each other.
  INLINE void settle(double* to, Index size, Index apart = 1) const {
    for (Index c = 0; c < m_; ++c, to += apart) {
      add_in_parts(total_of(coarse_ + c * LANES, COARSE), COARSE, to[0], to[size]);
      add_in_parts(total_of(fine_ + c * LANES, FINE), FINE, to[2 * size], to[3 * size]);
    }
  }

 private:
  // The exact sum of lanes that together held HELD terms.
  static INLINE double total_of(double* lanes, double bias) {
    const Lanes none = splat(bias), held = load(lanes) - none;
    store(lanes, none);
    return total(held);
  }
};

// Σ r z of m factors r, for the columns of rows.
class SumsOfColumns {
  Buffer<double> coarse_, fine_;
  Index m_, width_;

 public:
  SumsOfColumns(Index m, Index width) : coarse_(m * width), fine_(m * width), m_(m), width_(width) {
    fill<double>(coarse_, m * width, COARSE);
    fill<double>(fine_, m * width, FINE);
  }

  // Add those of eight rows z (8 · width,), from a column on.
  INLINE void add(Index c, const double* factors, const double* z, Index from = 0) const {
    double each[LANES];
    store(each, odd_factor(load(factors)));
    Lanes r[LANES];
    UNROLL for (int i = 0; i < LANES; ++i) r[i] = splat(each[i]);
    for (Index j = from / LANES * LANES; j < width_; j += LANES) {
      double *coarse = coarse_ + c * width_ + j, *fine = fine_ + c * width_ + j;
      Lanes s = load(coarse), rest = load(fine);
      UNROLL for (int i = 0; i < LANES; ++i) {
        const Lanes cells = load(z + i * width_ + j), next = fma(r[i], cells, s);
        rest += odd(fma(r[i], cells, s - next));
        s = next;
      }
      store(coarse, s);
      store(fine, rest);
    }
  }

  // Empty them into sums (4, size), those of a factor `apart` from those of the next.
  INLINE void settle(double* to, Index size, Index apart, Index d) const {
    for (Index c = 0; c < m_; ++c)
      for (Index j = 0; j < width_; ++j) {
        double &coarse = coarse_[c * width_ + j], &fine = fine_[c * width_ + j];
        if (j < d) {
          double* place = to + c * apart + j;
          add_in_parts(coarse - COARSE, COARSE, place[0], place[size]);
          add_in_parts(fine - FINE, FINE, place[2 * size], place[3 * size]);
        }
        coarse = COARSE, fine = FINE;
      }
  }
};

}  // namespace
}  // namespace suffice::LEVEL
