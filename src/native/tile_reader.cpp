#include "tile_reader.hpp"

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

}  // namespace

const Converters converters{{convert_tile<double>, convert_tile<float>, convert_tile<bool>,
                             convert_tile<std::int8_t>, convert_tile<std::int16_t>,
                             convert_tile<std::int32_t>, convert_tile<std::uint8_t>,
                             convert_tile<std::uint16_t>, convert_tile<std::uint32_t>}};

}  // namespace suffice::LEVEL
