// Rows of a sparse matrix whose cells are in parts, or not in order, as rows of whole cells in
// order.
#pragma once
#include "support/compressed.hpp"
#include "support/levels.hpp"
#include "support/views.hpp"

namespace suffice {

// Cells of type T, columns of type I.
template <class T, class I>
struct MergedRows {
  // Write the cells of every row, by increasing column below d, each once: the sum of its parts, in
  // the order in which they are stored. Row i is written from `starts[i]` on.
  //
  // Returns how many cells were written, or −1 if a sum is a whole number that no double holds.
  Index (*merge)(Compressed<T, I> x, Index d, std::int32_t* columns, double* values,
                 std::int64_t* starts);
};
struct MergingKernels {
  OfCells<MergedRows> rows;
};
EVERY_LEVEL(MergingKernels, merging)

}  // namespace suffice
