#include "scores/piecewise.hpp"

#include "sums/bin_search.hpp"
#include "support/interrupts.hpp"
#include "support/memory.hpp"
#include "support/simd.hpp"

namespace suffice::LEVEL {
namespace {

constexpr Index TALL = 64;         // rows whose sums are added to together, of few classes
constexpr Index MOST_SUMS = 8192;  // of rows and classes, which the nearest cache holds

Index add(Strided<const double> x, Vector<const std::int64_t> start, Vector<const double> low,
          Matrix<const double> logs, Strided<double> out) {
  const Index n = x.rows, d = x.columns, k = out.columns, none = low.size();
  const Index wide = (k + LANES - 1) / LANES * LANES;  // classes side by side
  const Index tall =
      most<Index>(LANES, least(TALL, MOST_SUMS / most<Index>(LANES, wide)) / LANES * LANES);
  const Buffer<double> table((none + 1) * wide), sums(tall * wide), numbers(LANES * tall);
  const Buffer<std::int64_t> bins(LANES * tall);
  for (Index c = 0; c < k; ++c)
    for (Index b = 0; b < none; ++b) table[b * wide + c] = logs(c, b);
  Work work;
  for (Index i = 0; i < n; i += tall) {
    const Index rows = least(tall, n - i);
    for (Index r = 0; r < rows; ++r)
      for (Index c = 0; c < k; ++c) sums[r * wide + c] = out(i + r, c);
    NativeBits infinite{};
    for (Index j = 0; j < d; j += LANES) {
      const Index columns = least<Index>(LANES, d - j);
      for (Index r = 0; r < rows; r += LANES) {
        const bool square = columns == LANES && rows - r >= LANES && x.across == 1;
        if (square) copy_transposed(&x(i + r, j), x.down, numbers + r, tall);
        for (Index q = 0; q < columns; ++q) {
          double* const of_column = numbers + q * tall + r;
          if (!square) read_column(x, i + r, j + q, rows - r, of_column);
          const Index first = start[j + q];
          infinite |= find_bins(of_column, low.at, first, start[j + q + 1] - first, none,
                                bins + q * tall + r);
        }
      }
      for (Index r = 0; r < rows; ++r)
        for (Index c = 0; c < wide; c += LANES) {
          Lanes sum = load(sums + r * wide + c);
          for (Index q = 0; q < columns; ++q) sum += load(table + bins[q * tall + r] * wide + c);
          store(sums + r * wide + c, sum);
        }
    }
    for (int l = 0; l < WIDTH; ++l)
      if (infinite[l]) return i;
    for (Index r = 0; r < rows; ++r)
      for (Index c = 0; c < k; ++c) out(i + r, c) = sums[r * wide + c];
    work.done(4 * rows * d);
  }
  return -1;
}

void terms(Strided<const double> x, Vector<const std::int64_t> start, Vector<const double> low,
           Matrix<const double> logs, Cube<double> terms) {
  Work work;
  for (Index j = 0; j < x.columns; ++j)
    for (Index i = 0; i < x.rows; i += LANES) {
      double numbers[LANES];
      std::int64_t bins[LANES];
      const Index rows = least<Index>(LANES, x.rows - i), k = logs.shape[0];
      read_column(x, i, j, rows, numbers);
      find_bins(numbers, low.at, start[j], start[j + 1] - start[j], -1, bins);
      for (Index c = 0; c < k; ++c)
        for (Index r = 0; r < rows; ++r) terms(j, c, i + r) = bins[r] < 0 ? 0.0 : logs(c, bins[r]);
      work.done(rows * (16 + k));
    }
}

}  // namespace

extern const Piecewise piecewise{add, terms};

}  // namespace suffice::LEVEL
