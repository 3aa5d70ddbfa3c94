#include "sums/merging.hpp"

#include <algorithm>

#include "bindings/arrays.hpp"
#include "bindings/bindings.hpp"
#include "bindings/compressed.hpp"
#include "sums/counts.hpp"

namespace suffice::bindings {

static Index merge(AnyArray<1> data, AnyArray<1> indices, AnyArray<1> indptr, std::int64_t d,
                   Array<std::int32_t, 1> columns, Written<1> values,
                   Array<std::int64_t, 1> starts) {
  const auto rows = row_starts(indptr, starts.shape(0) - 1, data.shape(0));
  const Index cells = rows.back() - rows.front();
  require(columns.shape(0) >= cells && values.shape(0) >= cells,
          "columns and values need room for every cell");
  bool inside = d >= 0 && d < (std::int64_t{1} << 31);
  indices.visit<std::int32_t, std::int64_t>([&](auto given) {
    const WholeNumbers<decltype(type_of(given))>& places = CHOSEN(counts);
    const Index first = std::min(rows.front(), given.size());
    given.at += first, given.shape[0] = std::min(cells, given.size() - first);
    inside = inside && places.are_below(given, d, 0);
  });
  require(inside, "indices must be columns, of which there are fewer than 2^31");
  Unlocked unlocked;
  Index written = 0;
  with_rows(data, indices, rows, [&]<class T, class I>(Compressed<T, I> x) {
    const MergedRows<T, I>& merged = CHOSEN(merging).rows;
    written = merged.merge(x, d, columns.at(), values.at(), starts.at());
  });
  return written;
}

void define_merging(nb::module_ m) {
  m.doc() = "Rows of a CSR matrix whose cells are in parts, or not in order.";
  m.def("merge", &merge, "data"_a, "indices"_a, "indptr"_a, "d"_a, "columns"_a, "values"_a,
        "starts"_a,
        "Write the cells of every row by increasing column, each once: the sum of its parts.\n\n"
        "Returns how many were written, or −1 if a sum is a whole number that no double holds.");
}

}  // namespace suffice::bindings
