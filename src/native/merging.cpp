#include "merging.hpp"

#include <bit>
#include <type_traits>

#include "memory.hpp"

namespace suffice::LEVEL {
namespace {

constexpr Index WORD = 64;
constexpr std::int64_t HELD = std::int64_t{1} << 53;

// The columns of a row: a bit for each, and a bit for each word of these that is not zero.
//
// Adding a column and reading all in order costs as many steps as there are columns, not as d.
class ColumnSet {
  Buffer<std::uint64_t> columns_, words_;
  Index blocks_;

 public:
  explicit ColumnSet(Index d)
      : columns_(d / WORD + 1), words_(d / WORD / WORD + 1), blocks_(d / WORD / WORD + 1) {}

  INLINE void add(Index column) {
    const Index word = column / WORD;
    columns_[word] |= std::uint64_t{1} << (column % WORD);
    words_[word / WORD] |= std::uint64_t{1} << (word % WORD);
  }

  // Give every column to `act`, in order, and forget them.
  template <class Act>
  INLINE void take(const Act& act) {
    for (Index block = 0; block < blocks_; ++block) {
      for (std::uint64_t words = words_[block]; words; words &= words - 1) {
        const Index word = block * WORD + std::countr_zero(words);
        for (std::uint64_t left = columns_[word]; left; left &= left - 1)
          act(word * WORD + std::countr_zero(left));
        columns_[word] = 0;
      }
      words_[block] = 0;
    }
  }
};

template <class T, class I>
Index merge(Compressed<T, I> x, Index d, std::int32_t* columns, double* values,
            std::int64_t* starts) {
  using Sum = std::conditional_t<std::is_integral_v<T>, std::int64_t, T>;
  const Index n = x.starts.size() - 1;
  const Buffer<Sum> sums(d);
  ColumnSet shown(d);
  Index written = 0;
  bool held = true;
  for (Index i = 0; i < n; ++i) {
    starts[i] = written;
    for (Index q = x.starts[i]; q < x.starts[i + 1]; ++q) {
      const Index column = x.columns[q];
      sums[column] += static_cast<Sum>(x.data[q]);
      shown.add(column);
    }
    shown.take([&](Index column) {
      const Sum sum = sums[column];
      if constexpr (std::is_integral_v<T>) held &= -HELD <= sum && sum <= HELD;
      columns[written] = static_cast<std::int32_t>(column);
      values[written] = static_cast<double>(sum);
      sums[column] = 0;
      ++written;
    });
  }
  starts[n] = written;
  return held ? written : -1;
}

template <class T, class I>
constexpr MergedRows<T, I> merged_rows{merge<T, I>};

}  // namespace

extern const MergingKernels merging{
    {merged_rows<double, std::int32_t>, merged_rows<double, std::int64_t>,
     merged_rows<float, std::int32_t>, merged_rows<float, std::int64_t>,
     merged_rows<std::int64_t, std::int32_t>, merged_rows<std::int64_t, std::int64_t>,
     merged_rows<std::int32_t, std::int32_t>, merged_rows<std::int32_t, std::int64_t>}};

}  // namespace suffice::LEVEL
