// Rows added to co-moments: a chunk is looked at, so that the bias of every matrix of products is
// is added, tile by tile.
#pragma once
#include "sums/comoments.hpp"
#include "support/interrupts.hpp"
#include "sums/pivots.hpp"
#include "sums/products.hpp"

namespace suffice::LEVEL {
namespace {

constexpr Index CHUNK_CELLS = 65'536;  // looked at, then added while they are near
constexpr Index LEAST_ROWS = 1'024;    // of a matrix in a chunk, about: fewer do not repay its bias
constexpr Index MOST_MATRICES = 1'024;  // so many rows of them, whose squares can still be added

INLINE Index padded_to_lanes(Index d) { return (d + LANES - 1) / LANES * LANES; }

// Whether the rows that have a class show every cell, and none is too large.
inline bool usable(Rows x, Index columns, const std::int64_t* codes, Index n) {
  for (Index i = 0; i < n; ++i)
    if (codes[i] >= 0)
      for (Index j = 0; j < columns; ++j)
        if (!(magnitude(x[i][j]) <= LARGEST)) return false;
  return true;
}

// The work of add_rows: places for a chunk, a tile and the sums of every group.
class ComomentAdder {
  const ComomentState<double> state;
  const Index n, p, t, d, g, matrices, width;  // p columns of x, t of y; d together, padded
  const bool weighted;
  const Index inside;  // rows that are read where they are: of x, the last one reads into the next
  const Index size;    // rows of a chunk, at most
  Buffer<Index> border, start, order;
  Buffer<double> last, pivots, pivots_x, square, mask, scaled_weights, weights_of_tile;
  Buffer<double> v, e, a, a_lo, strip, lanes;
  Products products;
  double scale = 1.0;  // a power of two above all weights; scaled weights are w over it
  bool rounded = false;
  Work work;
  // Of the chunk:
  Rows x{}, y{};
  const std::int64_t* codes = nullptr;
  const double* chunk_weights = nullptr;
  Index many = 0;

 public:
  ComomentAdder(Matrix<const double> x, Matrix<const double> y, Vector<const double> weights,
                const ComomentState<double>& state)
      : state(state), n(x.shape[0]), p(x.shape[1]), t(y.shape[1]), d(p + t),
        g(state.pivot.shape[0]), matrices(state.products.shape[0]), width(padded_to_lanes(d)),
        weighted(weights.size() > 0), inside(n > TILE_ROWS ? n - LANES : 0),
        size(most(n - inside, least(inside, most(LEAST_ROWS * least(matrices, MOST_MATRICES),
                                                 CHUNK_CELLS / most<Index>(1, d))))),
        border(matrices + 1), start(g + 2), order(size), last((n - inside + LANES) * p),
        pivots(g * width), pivots_x(g * width), square(g * width), mask(width),
        scaled_weights(weighted ? n : 1), weights_of_tile(TILE_ROWS + LANES),
        v((d + LANES) * STRIDE), e((d + LANES) * STRIDE), a(weighted ? (d + LANES) * STRIDE : 0),
        a_lo(weighted ? (d + LANES) * STRIDE : 0), strip(2 * LANES * width),
        lanes(g * 2 * d * LANES), products(d) {
    for (Index m = 0, c = 0; m <= matrices; ++m) {
      while (c < g && state.product_index[c] < m) ++c;
      border[m] = c;
    }
    for (Index c = 0; c < g; ++c) copy<double>(pivots + c * width, state.pivot.part(c).at, d);
    fill(mask + 0, p, 1.0);
  }

  Index add(Matrix<const double> all_x, Matrix<const double> all_y, const std::int64_t* all_codes,
            Vector<const double> weights) {
    scale_weights(weights, all_codes);
    Index first = 0;
    for (; first < n; first += many) {
      many = first < inside ? least(size, inside - first) : n - first;
      x = {all_x.at + first * p, p}, y = {all_y.at + first * t, t}, codes = all_codes + first;
      chunk_weights = weighted ? scaled_weights + first : scaled_weights + 0;
      if (first >= inside) {
        copy<double>(last, x.at, many * p);
        x.at = last;
      }
      work.done(4 * many * d);
      if (!look()) break;
      for (Index m = 0; m < matrices; ++m)
        if (start[border[m]] < start[border[m + 1]]) add_to_matrix(m);
      add_weights(weighted ? weights.at + first : nullptr);
    }
    finish();
    return first < n ? first : -1;
  }

 private:
  // Without weights, every row has the weight 1.
  void scale_weights(Vector<const double> weights, const std::int64_t* all_codes) {
    scaled_weights[0] = 1.0;
    if (!weighted) return;
    double largest = 0.0;
    for (Index i = 0; i < n; ++i)
      if (all_codes[i] >= 0) largest = most(largest, weights[i]);
    scale = ldexp(1.0, exponent(largest));
    for (Index i = 0; i < n; ++i) scaled_weights[i] = weights[i] / scale;
  }

  // Group a chunk, choose pivots and sum up squares; false if a row cannot be used.
  bool look() {
    group(codes, many, g, start, order);
    Buffer<double> nothing(d);
    for (Index c = 0; c < g; ++c) {
      const Index rows = least(start[c + 1] - start[c], TILE_ROWS);
      if (!rows || state.weight(c, 0) != 0.0) continue;
      choose_pivots(x, order + start[c], rows, nothing, pivots + c * width, p);
      choose_pivots(y, order + start[c], rows, nothing, pivots + c * width + p, t);
    }
    const bool of_x = add_squares_of_x(), of_y = t && add_squares_of_y();
    rounded |= of_x || of_y;
    if (!weighted && can_be_squared(square, g, width, d)) return true;  // a weight may hide a cell
    return usable(x, p, codes, many) && usable(y, t, codes, many);
  }

  // Write Σw(x − p)² of every group; return whether a difference was rounded.
  bool add_squares_of_x() {
    bool plain = true;
    for (Index c = 0; c < g; ++c) {
      copy<double>(pivots_x + c * width, pivots + c * width, p);
      plain &= !any_nonzero(pivots_x + c * width, p);
    }
    fill(square + 0, g * width, 0.0);
    const Lanes zero = splat(0.0);
    Lanes errors = zero;
    for (Index i = 0; i < many; ++i) {
      if (codes[i] < 0) continue;
      const Lanes w = splat(chunk_weights[weighted ? i : 0]);
      const double *row = x[i], *pivot = pivots_x + codes[i] * width;
      double* sum = square + codes[i] * width;
      for (Index j = 0; j < p; j += LANES) {
        Lanes value = choose(load(mask + j), zero, load(row + j), zero);
        if (!plain) {
          const auto difference = two_sum(value, zero - load(pivot + j));
          value = difference.hi;
          errors = fma(difference.lo, difference.lo, errors);
        }
        store(sum + j, fma(w * value, value, load(sum + j)));
      }
    }
    return total(errors) != 0.0;
  }

  bool add_squares_of_y() {
    bool any = false;
    for (Index c = 0; c < g; ++c) fill(square + c * width + p, t, 0.0);
    for (Index i = 0; i < many; ++i) {
      if (codes[i] < 0) continue;
      const double w = chunk_weights[weighted ? i : 0];
      for (Index j = 0; j < t; ++j) {
        const Index at = codes[i] * width + p + j;
        const auto [value, error] = two_sum(y[i][j], -pivots[at]);
        square[at] += w * value * value;
        any |= error != 0.0;
      }
    }
    return any;
  }

  // Add the rows of the groups of a matrix of products.
  void add_to_matrix(Index m) {
    const Index begin = border[m], end = border[m + 1];
    products.start(square + begin * width, end - begin, width);
    for (Index at = start[begin]; at < start[end]; at += TILE_ROWS) {
      const Index rows = least(TILE_ROWS, start[end] - at);
      work.done(4 * rows * d);
      for (Index r = 0; r < rows; r += LANES) turn_rows(order + at, r, rows);
      if (weighted) weigh(order + at, rows);
      const Tile tile{v, e, weighted ? a : v, weighted ? a_lo : e, rows};
      products.add(tile, weighted, rounded);
      for (Index c = begin; c < end; ++c) {
        const Index from = most<Index>(0, start[c] - at), to = least(rows, start[c + 1] - at);
        if (from < to) add_sums(tile, from, to, lanes + c * 2 * d * LANES);
      }
    }
    products.finish(scale, state.products.part(m));
  }

  // Write v + e = (x, y) − p of eight rows, from the r-th on, to the tile.
  //
  // Rows of zeros fill up the last eight. Meanwhile rows of the next chunk are asked for.
  void turn_rows(const Index* rows, Index r, Index count) {
    const Lanes zero = splat(0.0);
    double *values = strip, *errors = strip + LANES * width;
    for (Index i = 0; i < LANES; ++i, values += width, errors += width) {
      if (r + i >= count) {
        fill(values, width, 0.0);
        fill(errors, width, 0.0);
        continue;
      }
      const Index row = rows[r + i];
      const double *cells = x[row], *pivot = pivots + codes[row] * width;
      for (Index j = 0; j < p; j += LANES) {
        prefetch(cells + size * p + j);
        const auto difference = two_sum(load(cells + j), zero - load(pivot + j));
        store(values + j, difference.hi);
        if (rounded) store(errors + j, difference.lo);
      }
      for (Index j = 0; j < t; ++j) {
        const auto difference = two_sum(y[row][j], -pivot[p + j]);
        values[p + j] = difference.hi, errors[p + j] = difference.lo;
      }
    }
    for (Index j = 0; j < width; j += LANES) {
      copy_transposed(strip + j, width, v + j * STRIDE + r, STRIDE);
      if (rounded) copy_transposed(strip + LANES * width + j, width, e + j * STRIDE + r, STRIDE);
    }
  }

  // Write the pairs a + a_lo = w(v + e) of the rows of a tile.
  void weigh(const Index* rows, Index count) {
    fill(weights_of_tile + 0, TILE_ROWS, 0.0);
    for (Index r = 0; r < count; ++r) weights_of_tile[r] = chunk_weights[rows[r]];
    for (Index j = 0; j < d * STRIDE; j += STRIDE)
      for (Index r = 0; r < count; r += LANES) {
        const Lanes w = load(weights_of_tile + r), value = load(v + j + r), product = w * value;
        store(a + j + r, product);
        store(a_lo + j + r, fma(w, value, splat(0.0) - product) + w * load(e + j + r));
      }
  }

  // Add some rows of a tile, a + a_lo, to lanes of pairs (2 · d · 8,).
  void add_sums(const Tile& tile, Index begin, Index end, double* sums) {
    const bool pairs = weighted || rounded;
    const Index whole = begin + (end - begin) / LANES * LANES;
    double hides[LANES] = {};  // the rows behind the last
    for (Index i = 0; i < end - whole; ++i) hides[i] = 1.0;
    const Lanes seen = load(hides);
    for (Index j = 0; j < d; ++j) {
      double *sum = sums + j * LANES, *error = sums + (d + j) * LANES;
      Lanes hi = load(sum), lo = load(error);
      const auto add = [&](Lanes value, Lanes low) __attribute__((always_inline)) {
        const auto next = two_sum(hi, value);
        hi = next.hi, lo += next.lo;
        if (pairs) lo += low;
      };
      for (Index r = j * STRIDE + begin; r < j * STRIDE + whole; r += LANES)
        add(load(tile.a + r), load(tile.a_lo + r));
      if (whole < end) {
        const Index r = j * STRIDE + whole;
        add(seen * load(tile.a + r), seen * load(tile.a_lo + r));
      }
      store(sum, hi);
      store(error, lo);
    }
  }

  void add_weights(const double* weights) {
    for (Index c = 0; c < g; ++c) {
      Pair<double> weight{state.weight(c, 0), state.weight(c, 1)};
      if (!weights) weight = weight + Pair<double>{double(start[c + 1] - start[c]), 0.0};
      if (weights)
        for (Index r = start[c]; r < start[c + 1]; ++r)
          weight = weight + Pair<double>{weights[order[r]], 0.0};
      state.weight(c, 0) = weight.hi, state.weight(c, 1) = weight.lo;
    }
  }

  // Add the lanes of every group, times a power of two, to its pairs; keep the pivots.
  void finish() {
    for (Index c = 0; c < g; ++c) {
      const double* of = lanes + c * 2 * d * LANES;
      for (Index j = 0; j < d; ++j) {
        for (Index at = j * LANES; at < (j + 1) * LANES; ++at) {
          const auto sum = two_sum(state.sums(c, 0, j), scale * of[at]);
          state.sums(c, 0, j) = sum.hi;
          state.sums(c, 1, j) += sum.lo + scale * of[d * LANES + at];
        }
        state.pivot(c, j) = pivots[c * width + j];
      }
    }
  }
};

}  // namespace
}  // namespace suffice::LEVEL
