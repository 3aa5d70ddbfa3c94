#include "sums/columns.hpp"

#include "support/interrupts.hpp"
#include "support/memory.hpp"
#include "support/simd.hpp"

namespace suffice::LEVEL {
namespace {

// The bits of eight cells.
INLINE std::int64_t eight_bits(Validity valid, Index cell) {
  const std::size_t at = valid.first + cell;
  return (valid.bits.at[at >> 3] | valid.bits.at[(at + 7) >> 3] << 8) >> (at & 7) & 0xFF;
}

template <class T>
void read(Vector<const T> values, Validity valid, Vector<double> numbers) {
  const Index n = values.size();
  for (Index i = 0; i < n; ++i) numbers[i] = static_cast<double>(values[i]);
  if (!valid.bits.size()) return;
  NativeBits lane;
  for (int q = 0; q < WIDTH; ++q) lane[q] = q;
  Index i = 0;
  for (; i + LANES <= n; i += LANES) {
    const std::int64_t bits = eight_bits(valid, i);
    Lanes cells = load(&numbers[i]);
    EACH_PART {
      const NativeBits shown = (NativeBits{} + (bits >> WIDTH * p)) >> lane & 1;
      cells.part[p] = shown ? cells.part[p] : native(__builtin_nan(""));
    }
    store(&numbers[i], cells);
  }
  for (; i < n; ++i) numbers[i] = valid[i] ? numbers[i] : __builtin_nan("");
}

template <class T>
bool to_doubles(Matrix<const T> values, T lowest, T highest, Matrix<double> numbers) {
  T low = highest, high = lowest;
  for (Index q = 0; q < values.size(); ++q) {
    const T value = values.at[q];
    numbers.at[q] = static_cast<double>(value);
    low = least(low, value);
    high = most(high, value);
  }
  return low >= lowest && high <= highest;
}

void to_rows(Strided<const double> x, Strided<double> rows) {
  const Index n = x.rows, d = x.columns, apart = x.across;
  const Index tall = n / LANES * LANES, wide = d / LANES * LANES;
  Work work;
  for (Index j = 0; j < wide; j += LANES) {  // few columns at a time: each is read ahead of need
    for (Index i = 0; i < tall; i += LANES)
      copy_transposed(&x(i, j), apart, &rows(i, j), rows.down);
    work.done(4 * LANES * tall);
  }
  for (Index j = 0; j < d; ++j)
    for (Index i = j < wide ? tall : 0; i < n; ++i) rows(i, j) = x(i, j);
}

}  // namespace

extern const Columns columns{{read<double>},
                             {read<std::int64_t>},
                             {to_doubles<std::int64_t>},
                             {to_doubles<std::uint64_t>},
                             {to_rows}};

}  // namespace suffice::LEVEL
