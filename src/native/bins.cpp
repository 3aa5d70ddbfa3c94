#include "bins.hpp"

namespace suffice::LEVEL {
namespace {

constexpr int parts = 256, octaves = 40, whole = 256;
constexpr int first = 2;  // rank of the cell that starts at 2^−40
constexpr int last = first + 2 * octaves * parts + whole;
constexpr int dropped = 52 - 8, tiny = (1023 - octaves) * parts;
constexpr Index tile = 8192;  // rows whose cells are found at a time

INLINE std::int32_t cell_of(double x) {
  const double size = __builtin_fabs(x);
  const auto bits = __builtin_bit_cast(std::uint64_t, size);
  const auto octave = static_cast<std::int32_t>(bits >> dropped) - tiny;
  const auto least = static_cast<std::int32_t>(size < whole ? size : whole);
  const std::int32_t is_whole = size == least && size > 0;
  const std::int32_t inner = octave + least + first - is_whole;
  const std::int32_t rank = octave < 0 ? size > 0 : inner < last ? inner : last;
  const std::int32_t cell = x < 0 ? last - rank : last + rank;
  return x == x ? cell : -1;
}

// Call `use(i, j, cells, n)` with the cells of rows i to i + n of column j: column by column, as
// the counts of a column stay in cache, and few rows at a time, as these do.
template <class Use>
INLINE void by_tiles(Strided<const double> x, Vector<const double> origin, Use use) {
  std::int32_t cells[tile];
  for (Index i = 0; i < x.rows; i += tile) {
    const Index n = x.rows - i < tile ? x.rows - i : tile;
    for (Index j = 0; j < x.columns; ++j) {
      for (Index q = 0; q < n; ++q) cells[q] = cell_of(x(i + q, j) - origin[j]);
      use(i, j, cells, n);
    }
  }
}

void cells(Strided<const double> x, Vector<const double> origin, Matrix<std::int32_t> out) {
  by_tiles(x, origin, [&](Index i, Index j, const std::int32_t* found, Index n) {
    for (Index q = 0; q < n; ++q) out(i + q, j) = found[q];
  });
}

bool count(Strided<const double> x, Vector<const double> origin, Vector<const std::int64_t> codes,
           Matrix<std::int64_t> tally) {
  const Index places = 2 * last + 2;
  bool outermost = false;
  by_tiles(x, origin, [&](Index i, Index j, const std::int32_t* found, Index n) {
    for (Index q = 0; q < n; ++q) {
      if (codes[i + q] < 0) continue;
      ++tally(codes[i + q], j * places + 1 + found[q]);
      outermost |= found[q] == 0 || found[q] == 2 * last;
    }
  });
  return outermost;
}

INLINE std::uint64_t mixed(std::uint64_t x) {
  x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
  x = (x ^ x >> 27) * 0x94D049BB133111EBu;
  return x ^ x >> 31;
}

void hash(Strided<const double> x, Vector<const std::uint64_t> names,
          Vector<std::uint64_t> hashes) {
  const auto term = [&](Index i, Index j) {
    const double value = x(i, j) + 0.0;
    const std::uint64_t own = mixed(__builtin_bit_cast(std::uint64_t, value) + names[j]);
    return value == value ? own : 0;
  };
  if (x.down < x.across)
    for (Index j = 0; j < x.columns; ++j)
      for (Index i = 0; i < x.rows; ++i) hashes[i] += term(i, j);
  else
    for (Index i = 0; i < x.rows; ++i) {
      std::uint64_t total = 0;
      for (Index j = 0; j < x.columns; ++j) total += term(i, j);
      hashes[i] += total;
    }
}

}  // namespace

extern const Bins bins{cells, count, hash};

}  // namespace suffice::LEVEL
