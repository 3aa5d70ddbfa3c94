// Sums of products of features over rows that are never rounded: numbers are cut into slices of few
// bits, whose products add up exactly (Ozaki, Ogita, Oishi and Rump, 2012).
//
// A tile is that of `products.hpp`: feature j of row r stands at j · STRIDE + r, and features are
// taken a few at a time. Products of slices of one i + j add up in the same lanes.
#pragma once
#include "interrupts.hpp"
#include "product_sums.hpp"
#include "products.hpp"

namespace suffice::LEVEL {
namespace {

constexpr double ROUNDER = 0x1.8p52;  // what is added to it and taken away again becomes whole
constexpr int LEAST_UNIT = -900;      // smaller units are no factors of doubles
constexpr Index NEAR = 24 / SIDE;     // blocks of features whose slices stay in the cache
constexpr int HELD = 64;              // rows of a lane: 2⁴⁷ each at most, but for weights

// The slices of a tile: of each, `d + LANES` features, whole numbers.
class Slices {
  const int most_;
  const Index features_;
  Buffer<double> at_;
  Buffer<int> used_;   // bit i: whether slice i of a feature is not all zeros
  Buffer<int> dirty_;  // bit i: whether there may be numbers of tiles before

 public:
  Slices(int most, Index d)
      : most_(most), features_(d + LANES), at_(most * features_ * STRIDE), used_(features_),
        dirty_(features_) {}

  double* column(int slice, Index j) const { return at_ + (slice * features_ + j) * STRIDE; }
  int used(Index j) const { return used_[j]; }

  // Cut x into slices, the first of which has the unit 2^unit, or x + e.
  //
  // Rows of which something is left behind the last slice are said to be `bad`.
  void cut(Index j, const double* x, const double* e, Index rows, int unit, bool* bad) const {
    used_[j] = 0;
    const int written = add_slices(j, x, rows, unit, 0, bad);
    clear_from(j, e ? add_slices(j, e, rows, unit, written, bad) : written);
    dirty_[j] |= used_[j];
  }

  // Make a row zeros.
  void leave_out(Index r, Index d) const {
    for (Index j = 0; j < d; ++j)
      for (int i = 0; i < most_; ++i)
        if (used_[j] >> i & 1) column(i, j)[r] = 0.0;
  }

 private:
  void clear_from(Index j, int first) const {
    for (int i = first; i < most_; ++i)
      if (dirty_[j] >> i & 1) fill(column(i, j), TILE_ROWS, 0.0), dirty_[j] &= ~(1 << i);
  }

  // Add to the slices that are written, write more of them, and return how many there are then.
  int add_slices(Index j, const double* x, Index rows, int unit, int written, bool* bad) const {
    const double down = ldexp(1.0, -unit), up = ldexp(1.0, unit);
    const Native rounder = native(ROUNDER), next = native(ldexp(1.0, CUT));
    double rest[TILE_ROWS];
    NativeBits left{}, lost{};
    for (Index r = 0; r < rows; r += WIDTH) {
      const Native value = native_load(x + r), scaled = value * native(down);
      native_store(rest + r, scaled);
      left |= (NativeBits)scaled << 1, lost |= scaled * native(up) != value;
    }
    if (any(lost))
      for (Index r = 0; r < rows; ++r) bad[r] |= rest[r] * up != x[r];
    int i = 0;
    for (; i < most_ && any(left); ++i) {
      double* slice = column(i, j);
      NativeBits found{};
      left = NativeBits{};
      for (Index r = 0; r < rows; r += WIDTH) {
        const Native value = native_load(rest + r), a = (value + rounder) - rounder;
        const Native behind = (value - a) * next;
        native_store(slice + r, i < written ? native_load(slice + r) + a : a);
        native_store(rest + r, behind);
        found |= (NativeBits)a << 1, left |= (NativeBits)behind << 1;
      }
      if (any(found)) used_[j] |= 1 << i;
    }
    if (any(left))
      for (Index r = 0; r < rows; ++r) bad[r] |= rest[r] != 0.0;
    return most(i, written);
  }

  static bool any(NativeBits bits) {
    std::int64_t all = 0;
    UNROLL for (int i = 0; i < WIDTH; ++i) all |= bits[i];
    return all != 0;
  }
};

// Pairs of slices of one level, each of `SIDE` features.
struct SlicePairs {
  const double *a[RIGHT_SLICES], *b[RIGHT_SLICES];
  int many = 0;
};

// Add Σ a bᵀ of a block, over all pairs and the rows of a tile, to its lanes: nothing is rounded.
INLINE void add_pairs(const SlicePairs& pairs, Index rows, double* s) {
  constexpr int TAKEN = PARTS == 1 ? 1 : 2;
  for (int part = 0; part < PARTS; part += TAKEN) {
    Native sum[TAKEN][SIDE][SIDE];
    const auto each = [&](auto&& f) __attribute__((always_inline)) {
      UNROLL for (int q = 0; q < TAKEN; ++q) UNROLL for (int i = 0; i < SIDE; ++i)
          UNROLL for (int j = 0; j < SIDE; ++j)
              f((i * SIDE + j) * LANES + (part + q) * WIDTH, sum[q][i][j]);
    };
    each([&](Index at, Native& of) { of = native_load(s + at); });
    for (int p = 0; p < pairs.many; ++p) {
      const double *a = pairs.a[p] + part * WIDTH, *b = pairs.b[p] + part * WIDTH;
      for (Index r = 0; r < rows; r += LANES) UNROLL for (int q = 0; q < TAKEN; ++q) {
          Native right[SIDE];
          UNROLL for (int j = 0; j < SIDE; ++j) right[j] =
              in_register(native_load(b + j * STRIDE + r + q * WIDTH));
          UNROLL for (int i = 0; i < SIDE; ++i) {
            const Native left = in_register(native_load(a + i * STRIDE + r + q * WIDTH));
            UNROLL for (int j = 0; j < SIDE; ++j) sum[q][i][j] =
                add_product(left, right[j], sum[q][i][j]);
          }
        }
    }
    each([&](Index at, Native of) { native_store(s + at, of); });
  }
}

// Lanes of the products of d features, level by level, on the way to the sums of a matrix.
class CutProducts {
  const Index d_, places_;
  double* lanes_[PRODUCT_LEVELS] = {};
  bool filled_[PRODUCT_LEVELS] = {};
  Index held_ = 0;
  Work work_;

 public:
  explicit CutProducts(Index d) : d_(d), places_(places_of(d)) {}
  ~CutProducts() {
    for (double* lanes : lanes_) give_back(lanes);
  }
  CutProducts(const CutProducts&) = delete;
  CutProducts& operator=(const CutProducts&) = delete;

  static Index places_of(Index d) {
    const Index blocks = (d + SIDE - 1) / SIDE, products = blocks * (blocks + 1) / 2 * SIDE * SIDE;
    return (products + LANES - 1) / LANES * LANES;
  }

  // Add the products of a tile, of which lanes hold so many rows, to those of a matrix.
  void add(const Slices& a, const Slices& b, Index rows, Index most_held, ProductSums& state,
           Index matrix) {
    if (held_ + rows / LANES > most_held) finish(state, matrix);
    held_ += rows / LANES;
    const Index blocks = (d_ + SIDE - 1) / SIDE;
    for (Index left = 0; left < blocks; left += NEAR)
      for (Index right = left; right < blocks; right += NEAR)
        for (Index i = left; i < least(left + NEAR, blocks); ++i)
          for (Index j = most(i, right); j < least(right + NEAR, blocks); ++j) {
            const Index q = i * blocks - i * (i + 1) / 2 + j;  // as `each_product` counts
            add_block(a, b, SIDE * i, SIDE * j, rows, q * SIDE * SIDE * LANES);
            work_.done(rows * SIDE * SIDE);
          }
  }

  // Put what lanes hold into the sums of a matrix.
  void finish(ProductSums& state, Index matrix) {
    for (int which = 0; which < PRODUCT_LEVELS; ++which) {
      if (!filled_[which]) continue;
      filled_[which] = false;
      double* to = state.level(matrix, which);
      for (Index q = 0; q < places_; q += LANES) {
        add_up(lanes_[which] + q * LANES, to + q, to + places_ + q);
        work_.done(LANES * LANES);
      }
    }
    held_ = 0;
  }

 private:
  // How many slices there are up to the last that is used.
  static int slices_of(int used) { return used ? 32 - __builtin_clz(used) : 0; }

  static int used_of(const Slices& of, Index first, Index d) {
    int used = 0;
    for (Index j = first; j < least(first + SIDE, d); ++j) used |= of.used(j);
    return used;
  }

  void add_block(const Slices& a, const Slices& b, Index left, Index right, Index rows, Index at) {
    const int of_a = used_of(a, left, d_), of_b = used_of(b, right, d_);
    const int many_a = slices_of(of_a), many_b = slices_of(of_b);
    for (int which = 0; which < many_a + many_b - 1; ++which) {
      SlicePairs pairs;
      for (int j = most(0, which - many_a + 1); j <= which && j < many_b; ++j)
        if (of_a >> (which - j) & 1 && of_b >> j & 1) {
          pairs.a[pairs.many] = a.column(which - j, left);
          pairs.b[pairs.many++] = b.column(j, right);
        }
      if (!pairs.many) continue;
      if (!lanes_[which])
        lanes_[which] = static_cast<double*>(reserve(places_ * LANES * sizeof(double)));
      filled_[which] = true;
      add_pairs(pairs, rows, lanes_[which] + at);
    }
  }

  // Write the sums of the lanes of eight products, in two parts, and zeros to the lanes.
  static void add_up(double* lanes, double* high, double* low) {
    const Lanes split = splat(ROUNDER * SPLIT);
    Lanes column[LANES];
    UNROLL for (int i = 0; i < LANES; ++i) column[i] = load(lanes + i * LANES);
    UNROLL for (int i = 0; i < LANES; ++i) store(lanes + i * LANES, splat(0.0));
    transpose(column);
    Lanes upper = load(high), lower = load(low);
    UNROLL for (int i = 0; i < LANES; ++i) {
      const Lanes of = (column[i] + split) - split;
      upper += of, lower += column[i] - of;
    }
    store(high, upper);
    store(low, lower);
  }
};

}  // namespace
}  // namespace suffice::LEVEL
