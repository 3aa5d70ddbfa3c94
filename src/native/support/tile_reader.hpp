// Rows 16 at a time, as doubles: where they lie, if they are doubles row by row or column by
// column, and converted otherwise, a tile in the nearest cache at a time.
#pragma once
#include "support/memory.hpp"
#include "support/simd.hpp"
#include "support/vectors.hpp"

namespace suffice::LEVEL {

// `convert` of a tile, by `Number`: of n ≤ 16 rows from `first` on, which then lie in `to` as the
// tile says whose `apart` is given.
struct Converters {
  void (*of[9])(const Table& x, Index first, Index n, bool by_column, Index apart, double* to);

  // Write n rows from `first` on, row by row; these are `apart`.
  void (*rows[9])(const Table& x, Index first, Index n, Index apart, double* to);
};
extern const Converters converters;

namespace {

constexpr Index TILE = 16;        // rows read together
constexpr Index AHEAD = 2048;     // cells between asking for one and reading it
constexpr Index TILES_AHEAD = 4;  // the same of columns, in tiles

// 16 rows; rows, or columns, are `apart`.
struct Tile {
  const double* at;
  Index apart;
};

// How the cells of a tile lie.
struct ByRow {
  INLINE Index offset(Index i, Index j, Index apart) const { return i * apart + j; }
  template <int ROWS>
  INLINE void prefetch_square(const double* cells, Index apart) const {
    for (int line = 0; line < ROWS; ++line) prefetch(cells + line * apart + AHEAD);
  }
};
struct ByColumn {
  INLINE Index offset(Index i, Index j, Index apart) const { return j * apart + i; }
  template <int ROWS>
  INLINE void prefetch_square(const double* cells, Index apart) const {
    for (int j = 0; j < LANES; ++j) prefetch(cells + j * apart + TILES_AHEAD * TILE);
  }
};

class TileReader {
  Table x_;
  bool by_column_, in_place_;  // whether columns are contiguous, and whether cells are doubles
  Index apart_, spare_apart_;
  Buffer<double> spare_;

 public:
  // Of rows with fewer than 8 columns, the missing ones are zeros.
  explicit TileReader(const Table& x)
      : x_(x), by_column_(x.down == 1 && x.across != 1 && x.rows > 1),
        in_place_(x.type == suffice::Number::float64 && (by_column_ || x.across == 1) &&
                  x.columns >= LANES),
        apart_(by_column_ ? x.across : x.down),
        spare_apart_(by_column_ ? TILE : most<Index>(x.columns, LANES)),
        spare_(TILE * most<Index>(x.columns, LANES)) {}

  INLINE Tile zeros() const { return {spare_, spare_apart_}; }  // before the first tile
  INLINE bool by_column() const { return by_column_; }
  INLINE Index rows(Index first) const { return least(TILE, x_.rows - first); }

  INLINE Tile from(Index first) const {
    const Index n = rows(first);
    if (n == TILE && in_place_)
      return {static_cast<const double*>(x_.at) + first * x_.down, apart_};
    converters.of[static_cast<int>(x_.type)](x_, first, n, by_column_, spare_apart_, spare_);
    return zeros();
  }

  // Whether one of the rows of a tile holds a number too large to be squared.
  bool too_large(Tile tile, Index first) const {
    const Index n = rows(first), d = x_.columns;
    if (!by_column_ && tile.apart == d) return any_larger(tile.at, n * d, LARGEST);
    bool large = false;
    for (Index q = 0; q < (by_column_ ? d : n); ++q)
      large |= any_larger(tile.at + q * tile.apart, by_column_ ? n : d, LARGEST);
    return large;
  }
};

}  // namespace
}  // namespace suffice::LEVEL
