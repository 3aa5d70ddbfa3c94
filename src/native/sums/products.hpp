// Sums of products of features over rows, biased: what is added to the co-moments of a matrix.
//
// A *tile* holds rows turned on their sides: `a[j · STRIDE + r]` is feature j of row r, so that
// eight rows are eight lanes. Features are taken a few at a time: block (I, J), I ≤ J, holds the
// products of `SIDE` features with `SIDE` others, and every product has eight sums, one a lane. `s`
// and `s_lo` are flat: product q has the eight places from 8q on.
//
// A sum is kept with a bias larger than all that is added to it (see `moments.cpp`), so that a
// product takes four operations: S′ = fma(a, b, S) rounds once, S′ − S is exact, and
// fma(a, b, S − S′) is what the rounding took.
#pragma once
#include "support/double_double.hpp"
#include "support/interrupts.hpp"
#include "support/memory.hpp"

namespace suffice::LEVEL {
namespace {

constexpr Index SIDE = PARTS == 1 ? 3 : 2;  // the sums of a block and their errors fill registers
constexpr Index TILE_ROWS = 256;
constexpr Index STRIDE = TILE_ROWS + LANES;  // not a power of two: places in the cache

// Do something with each product (i, j) of d features, the q-th, block by block.
template <class F>
INLINE void each_product(Index d, F&& f) {
  Index q = 0;
  Work work;
  for (Index left = 0; left < d; left += SIDE) {
    for (Index right = left; right < d; right += SIDE)
      for (Index i = left; i < left + SIDE; ++i)
        for (Index j = right; j < right + SIDE; ++j) f(i, j, q++);
    work.done(2 * SIDE * LANES * (d - left));
  }
}

// Add Σ a bᵀ of a block over the rows of a tile to its sums: exactly, to biased pairs, or rounded.
//
// Some registers of the lanes are taken at a time, so that the sums of all products stay in others.
template <bool exact>
INLINE void add_block(const double* a, const double* b, Index rows, double* s, double* s_lo) {
  constexpr int TAKEN = exact || PARTS == 1 ? 1 : 2;
  for (int part = 0; part < PARTS; part += TAKEN) {
    Native hi[TAKEN][SIDE][SIDE], lo[TAKEN][SIDE][SIDE];
    const auto each = [&](auto&& f) __attribute__((always_inline)) {
      UNROLL for (int q = 0; q < TAKEN; ++q) UNROLL for (int i = 0; i < SIDE; ++i)
          UNROLL for (int j = 0; j < SIDE; ++j)
              f((i * SIDE + j) * LANES + (part + q) * WIDTH, hi[q][i][j], lo[q][i][j]);
    };
    each([&](Index at, Native& sum, Native& error) {
      sum = native_load(s + at);
      if constexpr (exact) error = native_load(s_lo + at);
    });
    for (Index r = part * WIDTH; r < rows; r += LANES) UNROLL for (int q = 0; q < TAKEN; ++q) {
        Native right[SIDE];
        UNROLL for (int j = 0; j < SIDE; ++j) right[j] =
            in_register(native_load(b + j * STRIDE + r + q * WIDTH));
        UNROLL for (int i = 0; i < SIDE; ++i) {
          const Native left = in_register(native_load(a + i * STRIDE + r + q * WIDTH));
          UNROLL for (int j = 0; j < SIDE; ++j) {
            const Native sum = fma(left, right[j], hi[q][i][j]);
            if constexpr (exact) lo[q][i][j] += fma(left, right[j], hi[q][i][j] - sum);
            hi[q][i][j] = sum;
          }
        }
      }
    each([&](Index at, Native sum, Native error) {
      native_store(s + at, sum);
      if constexpr (exact) native_store(s_lo + at, error);
    });
  }
}

template <bool exact>
void add_blocks(const double* a, const double* b, Index d, Index rows, double* s, double* s_lo,
                Work& work) {
  Index q = 0;
  for (Index left = 0; left < d; left += SIDE) {
    for (Index right = left; right < d; right += SIDE, q += SIDE * SIDE * LANES)
      add_block<exact>(a + left * STRIDE, b + right * STRIDE, rows, s + q, s_lo + q);
    work.done(SIDE * rows / LANES * (d - left));
  }
}

// The rows of a tile, v + e, and w(v + e) = a + a_lo where they have weights.
struct Tile {
  const double *v, *e, *a, *a_lo;
  Index rows;
};

// Biased pairs of all products of d features.
class Products {
  const Index d, places;
  Buffer<double> s, s_lo, bias, hi, lo;
  Work work;

  static Index places_of(Index d) {
    const Index blocks = (d + SIDE - 1) / SIDE, products = blocks * (blocks + 1) / 2 * SIDE * SIDE;
    return (products + LANES - 1) / LANES * LANES * LANES;
  }

 public:
  explicit Products(Index d)
      : d(d), places(places_of(d)), s(places), s_lo(places), bias(d + SIDE), hi(places / LANES),
        lo(places / LANES) {}

  // Set products to their bias, 3 βᵢ βⱼ, given Σv² of all rows to come, `square` (g, width).
  //
  // |Σ vᵢvⱼ| ≤ √(Σvᵢ² Σvⱼ²) (Cauchy and Schwarz).
  void start(const double* square, Index groups, Index width) {
    for (Index j = 0; j < d; ++j) {
      double total = 0.0;
      for (Index c = 0; c < groups; ++c) total += square[c * width + j];
      bias[j] = total > 0.0 ? ldexp(1.0, exponent(__builtin_sqrt(total)) + 1) : 0.0;
    }
    fill(s_lo + 0, places, 0.0);
    each_product(d, [&](Index i, Index j, Index q) {
      store(s + q * LANES, splat(3.0 * bias[i] * bias[j]));
    });
  }

  // Add the products of the rows of a tile, (a + a_lo)(v + e)ᵀ but for a_lo eᵀ.
  void add(const Tile& tile, bool weighted, bool rounded) {
    add_blocks<true>(tile.a, tile.v, d, tile.rows, s, s_lo, work);
    if (rounded) add_blocks<false>(tile.a, tile.e, d, tile.rows, s_lo, s_lo, work);
    if (weighted || rounded) add_blocks<false>(tile.a_lo, tile.v, d, tile.rows, s_lo, s_lo, work);
  }

  // Add the products without their bias, times a power of two, to the pairs (2, d, d).
  void finish(double scale, Cube<double> products) {
    each_product(d, [&](Index i, Index j, Index q) {
      store(s + q * LANES, load(s + q * LANES) - splat(3.0 * bias[i] * bias[j]));
    });
    for (Index q = 0; q < places / LANES; q += LANES) {
      add_up(q);
      work.done(LANES * LANES);
    }
    each_product(d, [&](Index i, Index j, Index q) {
      if (i > j || j >= d) return;
      const auto sum = two_sum(products(0, i, j), scale * hi[q]);
      products(0, i, j) = sum.hi;
      products(1, i, j) += sum.lo + scale * lo[q];
    });
  }

 private:
  // Write the pairs of eight products, from q on, whose lanes stand in s and s_lo.
  void add_up(Index q) {
    Lanes lanes[LANES];
    UNROLL for (int i = 0; i < LANES; ++i) lanes[i] = load(s + (q + i) * LANES);
    transpose(lanes);
    Lanes total = lanes[0], low = splat(0.0);
    UNROLL for (int i = 1; i < LANES; ++i) {
      const auto sum = two_sum(total, lanes[i]);
      total = sum.hi, low += sum.lo;
    }
    UNROLL for (int i = 0; i < LANES; ++i) lanes[i] = load(s_lo + (q + i) * LANES);
    transpose(lanes);
    UNROLL for (int i = 0; i < LANES; ++i) low += lanes[i];
    store(hi + q, total);
    store(lo + q, low);
  }
};

}  // namespace
}  // namespace suffice::LEVEL
