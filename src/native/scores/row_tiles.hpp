// Rows 64 at a time, turned on their sides: rows are the lanes.
//
// A tile of d columns holds 16 rows after the other: their d columns, 16 numbers each. What works
// on 16 rows then reads one piece of memory.
#pragma once
#include "support/double_double.hpp"
#include "support/memory.hpp"
#include "support/simd.hpp"

namespace suffice::LEVEL {
namespace {

constexpr Index TALL = 64;            // rows of a tile
constexpr Index ABREAST = 2 * LANES;  // rows side by side: two chains need not wait for each other

// The cell in column j of row i of a tile; those of the next rows and columns follow it.
INLINE Index place_of(Index i, Index j, Index d) {
  return (i / ABREAST * d + j) * ABREAST + i % ABREAST;
}

// Write 8 x 8 cells less eight numbers, rows to columns; return what they add to the sizes |x|.
template <class T>
INLINE Lanes turn_shifted(const T* cells, Index apart, const double* origin, double* to) {
  Lanes rows[LANES], size = splat(0.0);
  const Lanes shift = load(origin);
  UNROLL for (int i = 0; i < LANES; ++i) {
    const Lanes row = load(cells + i * apart);
    size += magnitude(row);
    rows[i] = row - shift;
  }
  transpose(rows);
  UNROLL for (int j = 0; j < LANES; ++j) store(to + j * ABREAST, rows[j]);
  return size;
}

// Write x − o of up to 64 rows from `first` on to a tile. Return Σ |x| or more: NaN and infinity
// show.
template <class T>
double write_tile(Strided<const T> x, Index first, Index rows, const double* origin, double* tile) {
  const Index d = x.columns, turned = x.across == 1 && d >= LANES ? rows - rows % LANES : 0;
  Lanes sizes = splat(0.0);
  for (Index i = 0; i < turned; i += LANES)
    for (Index j = 0; j < d; j += LANES) {
      const Index at = least(j, d - LANES);  // the last columns overlap those before
      sizes += turn_shifted(&x(first + i, at), x.down, origin + at, tile + place_of(i, at, d));
    }
  double size = total(sizes);
  for (Index i = turned; i < rows; ++i)
    for (Index j = 0; j < d; ++j) {
      const double cell = static_cast<double>(x(first + i, j));
      tile[place_of(i, j, d)] = cell - origin[j];
      size += magnitude(cell);
    }
  return size;
}

// Add sums of rows to the scores of a class.
INLINE void add_scores(Strided<double> out, Index first, Index c, const double* sums, Index rows) {
  double* to = &out(first, c);
  if (out.down == 1)
    for (Index i = 0; i < rows; ++i) to[i] += sums[i];
  else
    for (Index i = 0; i < rows; ++i) to[i * out.down] += sums[i];
}

}  // namespace
}  // namespace suffice::LEVEL
