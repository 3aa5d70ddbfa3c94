#include "bins.hpp"

namespace suffice::LEVEL {
namespace {

constexpr int parts = 256, octaves = 40, whole = 256;
constexpr int first = 2;  // rank of the cell that starts at 2^−40
constexpr int last = first + 2 * octaves * parts + whole;
constexpr int dropped = 52 - 8, tiny = (1023 - octaves) * parts;
constexpr Index tile = 16384;  // rows whose cells are found at a time,
constexpr Index group = 8;     // and columns: a cache line of a row

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

// Call `use(i, j, places, n)` with the cells of rows i to i + n of column j, each plus one: 0 is
// NaN. Rows are many, so that the counts of a column stay in cache; columns come in groups, as
// numbers of a row lie side by side.
template <class Use>
INLINE void by_tiles(Strided<const double> x, Vector<const double> origin, Use use) {
  std::uint16_t places[group][tile];
  for (Index i = 0; i < x.rows; i += tile) {
    const Index n = x.rows - i < tile ? x.rows - i : tile;
    for (Index j = 0; j < x.columns; j += group) {
      const Index width = x.columns - j < group ? x.columns - j : group;
      if (x.across == 1 && width == group)
        for (Index q = 0; q < n; ++q) {
          const double *row = &x(i + q, j), *from = &origin[j];
          for (Index g = 0; g < group; ++g)
            places[g][q] = static_cast<std::uint16_t>(cell_of(row[g] - from[g]) + 1);
        }
      else
        for (Index g = 0; g < width; ++g)
          for (Index q = 0; q < n; ++q)
            places[g][q] = static_cast<std::uint16_t>(cell_of(x(i + q, j + g) - origin[j + g]) + 1);
      for (Index g = 0; g < width; ++g) use(i, j + g, places[g], n);
    }
  }
}

void cells(Strided<const double> x, Vector<const double> origin, Matrix<std::int32_t> out) {
  by_tiles(x, origin, [&](Index i, Index j, const std::uint16_t* found, Index n) {
    for (Index q = 0; q < n; ++q) out(i + q, j) = found[q] - 1;
  });
}

bool count(Strided<const double> x, Vector<const double> origin, Vector<const std::int64_t> codes,
           Matrix<std::int64_t> tally) {
  const Index places = 2 * last + 2;
  bool outermost = false;
  by_tiles(x, origin, [&](Index i, Index j, const std::uint16_t* found, Index n) {
    for (Index q = 0; q < n; ++q) {
      if (codes[i + q] < 0) continue;
      ++tally(codes[i + q], j * places + found[q]);
      outermost |= found[q] == 1 || found[q] == 2 * last + 1;
    }
  });
  return outermost;
}

Index unite(Vector<const std::int64_t> a, Vector<const std::int64_t> b, Vector<std::int64_t> at_a,
            Vector<std::int64_t> at_b) {
  Index size = 0;
  for (Index i = 0, j = 0; i < a.size() || j < b.size(); ++size) {
    const bool in_a = i < a.size() && (j == b.size() || a[i] <= b[j]);
    const bool in_b = j < b.size() && (i == a.size() || b[j] <= a[i]);
    if (in_b) at_b[j] = size;
    if (in_a) at_a[i] = size;
    i += in_a;
    j += in_b;
  }
  return size;
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

extern const Bins bins{cells, count, unite, hash};

}  // namespace suffice::LEVEL
