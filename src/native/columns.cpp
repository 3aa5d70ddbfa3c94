#include "columns.hpp"

#include "interrupts.hpp"
#include "memory.hpp"
#include "simd.hpp"

namespace suffice::LEVEL {
namespace {

template <class T>
void place(Vector<const T> values, Validity valid, Matrix<double> rows, Index j) {
  for (Index i = 0; i < values.size(); ++i)
    rows(i, j) = valid[i] ? static_cast<double>(values[i]) : __builtin_nan("");
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

void to_rows(Strided<const double> x, Matrix<double> rows) {
  const Index n = x.rows, d = x.columns, apart = x.across;
  const Index tall = n / LANES * LANES, wide = d / LANES * LANES;
  Work work;
  for (Index j = 0; j < wide; j += LANES) {  // few columns at a time: each is read ahead of need
    for (Index i = 0; i < tall; i += LANES) copy_transposed(&x(i, j), apart, &rows(i, j), d);
    work.done(4 * LANES * tall);
  }
  for (Index j = 0; j < d; ++j)
    for (Index i = j < wide ? tall : 0; i < n; ++i) rows(i, j) = x(i, j);
}

}  // namespace

extern const Columns columns{{place<double>},
                             {place<std::int64_t>},
                             {to_doubles<std::int64_t>},
                             {to_doubles<std::uint64_t>},
                             {to_rows}};

}  // namespace suffice::LEVEL
