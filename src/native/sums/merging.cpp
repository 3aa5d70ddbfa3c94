#include "sums/merging.hpp"

#include <bit>
#include <type_traits>

#include "support/interrupts.hpp"
#include "support/memory.hpp"
#include "support/simd.hpp"

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

// Short rows side by side, one a lane: of every cell a key, its column and then its place in its
// row, so that parts of a cell stay in the order in which they are stored.
typedef std::int32_t Keys __attribute__((vector_size(8 * WIDTH), may_alias));
constexpr Index ABREAST = 2 * WIDTH;
constexpr Index LONGEST = 256;  // cells of such a row

INLINE void exchange(Keys& a, Keys& b) {
  const Keys low = a < b ? a : b, high = a < b ? b : a;
  a = low, b = high;
}

// Sort the keys of every lane by exchanges that do not depend on them (K. E. Batcher, 1968; Knuth,
// The Art of Computer Programming, volume 3, 5.2.2, algorithm M).
INLINE void sort(Keys* keys, Index n) {
  const auto top = static_cast<Index>(std::bit_ceil(static_cast<std::size_t>(n))) / 2;
  for (Index p = top; p > 0; p /= 2)
    for (Index q = top, r = 0, apart = p;; apart = q - p, q /= 2, r = p) {
      for (Index block = r; block + apart < n; block += 2 * p)
        for (Index i = block; i < least(block + p, n - apart); ++i)
          exchange(keys[i], keys[i + apart]);
      if (q == p) break;
    }
}

template <class T, class I>
class Merger {
  using Sum = std::conditional_t<std::is_integral_v<T>, std::int64_t, T>;
  static constexpr int BITS = std::countr_zero(static_cast<std::size_t>(LONGEST));
  Compressed<T, I> x_;
  Index d_, n_, written_ = 0;
  std::int32_t* columns_;
  double* values_;
  bool held_ = true;

  INLINE Index length(Index i) const { return x_.starts[i + 1] - x_.starts[i]; }

  INLINE void add(Sum& sum, T part) {
    if constexpr (std::is_integral_v<T>)
      held_ &= !__builtin_add_overflow(sum, part, &sum);
    else
      sum += part;
  }

  INLINE void write(Index column, Sum sum) {
    if constexpr (std::is_integral_v<T>) held_ &= -HELD <= sum && sum <= HELD;
    columns_[written_] = static_cast<std::int32_t>(column);
    values_[written_] = static_cast<double>(sum);
    ++written_;
  }

  // How many cells the longest of some rows has, or 0 if they are not to be sorted side by side:
  // keys have no place for their cells, or most lanes would wait for one.
  INLINE Index longest(Index first, Index rows) const {
    if (d_ > Index{1} << (31 - BITS)) return 0;
    Index cells = 1;
    for (Index i = first; i < first + rows; ++i) cells = most(cells, length(i));
    const Index all = x_.starts[first + rows] - x_.starts[first];
    return cells <= LONGEST && cells * ABREAST <= 4 * all ? cells : 0;
  }

 public:
  Merger(Compressed<T, I> x, Index d, std::int32_t* columns, double* values)
      : x_(x), d_(d), n_(x.starts.size() - 1), columns_(columns), values_(values) {}

  void merge_abreast(Index first, Index rows, Index cells, std::int32_t* key,
                     std::int64_t* starts) {
    for (Index r = 0; r < ABREAST; ++r) {
      const Index own = r < rows ? length(first + r) : 0;
      const I* const columns = x_.columns + (own ? x_.starts[first + r] : 0);
      for (Index q = 0; q < own; ++q)
        key[q * ABREAST + r] = static_cast<std::int32_t>(columns[q]) << BITS | q;
      for (Index q = own; q < cells; ++q) key[q * ABREAST + r] = ~(std::int32_t{1} << 31);
    }
    sort(reinterpret_cast<Keys*>(key), cells);
    for (Index r = 0; r < rows; ++r) {
      const T* const data = x_.data + x_.starts[first + r];
      const Index own = length(first + r);
      starts[first + r] = written_;
      for (Index q = 0; q < own;) {
        const std::int32_t column = key[q * ABREAST + r] >> BITS;
        Sum sum = 0;
        for (; q < own && key[q * ABREAST + r] >> BITS == column; ++q)
          add(sum, data[key[q * ABREAST + r] & (LONGEST - 1)]);
        write(column, sum);
      }
    }
  }

  // `sums` are zeros, one a column.
  void merge_one(Index i, Sum* sums, ColumnSet& shown) {
    for (Index q = x_.starts[i]; q < x_.starts[i + 1]; ++q) {
      const Index column = x_.columns[q];
      add(sums[column], x_.data[q]);
      shown.add(column);
    }
    shown.take([&](Index column) {
      write(column, sums[column]);
      sums[column] = 0;
    });
  }

  Index merge(std::int64_t* starts) {
    const Buffer<std::int32_t> keys(LONGEST * ABREAST);
    bool all_short = true;
    for (Index first = 0; first < n_; first += ABREAST)
      all_short &= longest(first, least(ABREAST, n_ - first)) > 0;
    const Index laid_out = all_short ? 0 : d_;
    const Buffer<Sum> sums(laid_out);
    ColumnSet shown(laid_out);
    Work work;
    for (Index first = 0; first < n_; first += ABREAST) {
      const Index rows = least(ABREAST, n_ - first);
      work.done(8 * (x_.starts[first + rows] - x_.starts[first]));
      if (const Index cells = longest(first, rows))
        merge_abreast(first, rows, cells, keys, starts);
      else
        for (Index i = first; i < first + rows; ++i)
          starts[i] = written_, merge_one(i, sums, shown);
    }
    starts[n_] = written_;
    return held_ ? written_ : -1;
  }
};

template <class T, class I>
Index merge(Compressed<T, I> x, Index d, std::int32_t* columns, double* values,
            std::int64_t* starts) {
  return Merger<T, I>(x, d, columns, values).merge(starts);
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
