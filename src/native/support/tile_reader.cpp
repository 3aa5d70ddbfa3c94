#include "support/tile_reader.hpp"

namespace suffice::LEVEL {
namespace {

constexpr Index BYTES_AHEAD = 4096;  // between asking for a number and converting it

// Ask for numbers that are converted soon.
template <class T>
INLINE void prefetch_after(const T* from, Index n) {
  const auto* at = reinterpret_cast<const char*>(from);
  const Index bytes = n * static_cast<Index>(sizeof(T));
  for (Index q = 0; q < bytes; q += 64) prefetch(at + q + BYTES_AHEAD);
}

// Convert numbers that follow each other.
template <class T>
INLINE void convert(const T* from, Index n, double* to) {
  for (Index q = 0; q < n; ++q) to[q] = static_cast<double>(from[q]);
}

// Convert n rows of fewer than eight columns; those of doubles, the most common, are unrolled.
template <int D>
void convert_narrow(const double* from, Index n, double* to) {
  for (Index i = 0; i < n; ++i, from += D, to += LANES)
    UNROLL for (int j = 0; j < D; ++j) to[j] = from[j];
}
INLINE void convert_rows(const double* from, Index n, Index d, double* to) {
  static constexpr decltype(&convert_narrow<1>) by_columns[] = {
      convert_narrow<0>, convert_narrow<1>, convert_narrow<2>, convert_narrow<3>,
      convert_narrow<4>, convert_narrow<5>, convert_narrow<6>, convert_narrow<7>};
  by_columns[d](from, n, to);
}
template <class T>
INLINE void convert_rows(const T* from, Index n, Index d, double* to) {
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < d; ++j) to[i * LANES + j] = static_cast<double>(from[i * d + j]);
}

// Convert n ≤ 16 rows from `first` on; they lie in `to` as the tile says whose `apart` is given.
template <class T>
void convert_tile(const Table& x, Index first, Index n, bool by_column, Index apart, double* to) {
  const T* from = static_cast<const T*>(x.at) + first * x.down;
  const Index d = x.columns;
  if (by_column)
    for (Index j = 0; j < d; ++j) {
      const T* column = from + j * x.across;
      prefetch_after(column, 1);
      if (n == TILE)
        convert(column, TILE, to + j * apart);
      else
        convert(column, n, to + j * apart);
    }
  else if (x.across == 1 && x.down == d) {
    prefetch_after(from, n * d);
    if (d == apart)
      convert(from, n * d, to);
    else
      convert_rows(from, n, d, to);
  } else
    for (Index i = 0; i < n; ++i)
      for (Index j = 0; j < d; ++j)
        to[i * apart + j] = static_cast<double>(from[i * x.down + j * x.across]);
}

// Write a square of 8 x 8 numbers, columns to rows; its columns are `across`, the rows `apart`.
template <class T>
INLINE void turn_square(const T* from, Index across, double* to, Index apart) {
  double square[LANES * LANES];
  UNROLL for (int j = 0; j < LANES; ++j) convert(from + j * across, LANES, square + j * LANES);
  copy_transposed(square, LANES, to, apart);
}
INLINE void turn_square(const double* from, Index across, double* to, Index apart) {
  copy_transposed(from, across, to, apart);
}

template <class T>
void write_rows(const Table& x, Index first, Index n, Index apart, double* to) {
  const T* from = static_cast<const T*>(x.at) + first * x.down;
  const Index d = x.columns;
  if (x.across == 1) {
    for (Index i = 0; i < n; ++i, from += x.down) {
      prefetch_after(from, d);
      convert(from, d, to + i * apart);
    }
    return;
  }
  const Index turned = x.down == 1 && d >= LANES ? n - n % LANES : 0;
  for (Index j = 0; turned && j < d; j += LANES) {
    const Index at = least(j, d - LANES);  // the last columns overlap those before
    for (Index i = 0; i < turned; i += LANES)
      turn_square(from + at * x.across + i, x.across, to + i * apart + at, apart);
  }
  for (Index i = turned; i < n; ++i)
    for (Index j = 0; j < d; ++j)
      to[i * apart + j] = static_cast<double>(from[i * x.down + j * x.across]);
}

template <class... T>
constexpr Converters converters_of{{convert_tile<T>...}, {write_rows<T>...}};

}  // namespace

const Converters converters =
    converters_of<double, float, bool, std::int8_t, std::int16_t, std::int32_t, std::uint8_t,
                  std::uint16_t, std::uint32_t>;

}  // namespace suffice::LEVEL
