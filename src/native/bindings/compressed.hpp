// Rows of a compressed matrix, as Python has them.
#pragma once
#include <type_traits>
#include <vector>

#include "bindings/arrays.hpp"
#include "support/compressed.hpp"

namespace suffice::bindings {

// The row pointers of n rows with so many cells.
inline std::vector<std::int64_t> row_starts(const AnyArray<1>& indptr, Index n, Index cells) {
  require(n >= 0, "the first row pointer, 0, must be there also without rows");
  require("indptr", indptr.held, {n + 1});
  std::vector<std::int64_t> starts;
  indptr.visit<std::int32_t, std::int64_t>(
      [&](auto given) { starts.assign(given.at, given.at + given.size()); });
  bool sorted = starts.front() >= 0 && starts.back() <= cells;
  for (std::size_t i = 1; i < starts.size(); ++i) sorted &= starts[i - 1] <= starts[i];
  require(sorted, "indptr must count the cells of every row, in order, and no more than there are");
  return starts;
}

// Whether kernels are compiled for numbers of a type.
template <class T>
constexpr bool is_compiled = std::is_floating_point_v<T> || std::is_same_v<T, std::int64_t> ||
                             std::is_same_v<T, std::int32_t>;

// Let `act` have numbers of a type that kernels are compiled for; others are converted.
template <class Act>
void with_numbers(const AnyArray<1>& data, const Act& act) {
  const auto take = [&]<class T>(Vector<const T> numbers) {
    if constexpr (is_compiled<T>) {
      act(numbers.at);
    } else {
      const std::vector<double> converted(numbers.at, numbers.at + numbers.size());
      act(converted.data());
    }
  };
  data.visit<double, float, std::int64_t, std::int32_t, bool, std::int8_t, std::int16_t,
             std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t>(take);
}

// Let `act` have the cells as a `Compressed`.
template <class Act>
void with_rows(const AnyArray<1>& data, const AnyArray<1>& indices,
               const std::vector<std::int64_t>& starts, const Act& act) {
  require("indices", indices.held, {data.shape(0)});
  const Vector<const std::int64_t> rows{starts.data(), {static_cast<Index>(starts.size())}};
  indices.visit<std::int32_t, std::int64_t>([&]<class I>(Vector<const I> columns) {
    with_numbers(
        data, [&]<class T>(const T* numbers) { act(Compressed<T, I>{numbers, columns.at, rows}); });
  });
}

}  // namespace suffice::bindings
