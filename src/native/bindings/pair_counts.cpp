#include "sums/pair_counts.hpp"

#include "bindings/arrays.hpp"
#include "bindings/bindings.hpp"

namespace suffice::bindings {

static const PairCounts* kernels;

using Places = Array<const std::int32_t, 2>;

static void require_places(const Places& places, Index bins) {
  const Matrix<const std::int32_t> rows = places;
  for (Index i = 0; i < rows.size(); ++i)
    require(rows.at[i] < bins, "places has a bin that the table has no room for");
  for (Index i = 0; i < rows.shape[0]; ++i) {
    std::int32_t last = -1;
    for (Index j = 0; j < rows.shape[1]; ++j) {
      require(rows(i, j) < 0 || rows(i, j) > last, "places of a row must ascend");
      last = rows(i, j) < 0 ? last : rows(i, j);
    }
  }
}

static void count_weighted(Places places, Codes codes, Read<1> weights, Index bins,
                           Array<double, 3> table) {
  require("weights", weights, {places.shape(0)});
  require("table", table, {table.shape(0), 2, table.shape(2)});
  require("codes", codes, {places.shape(0)});
  require(bins >= 0 && bins < (Index{1} << 31) && table.shape(2) == bins * (bins + 1) / 2,
          "the table has no place for every pair of bins");
  const Vector<const std::int64_t> rows = codes;
  for (Index i = 0; i < rows.size(); ++i)
    require(rows[i] < table.shape(0), "the table has no row for a code");
  require_places(places, bins);
  const Arithmetic arithmetic;
  Unlocked unlocked;
  kernels->count_weighted(places, codes, weights, table);
}

static void sum_by_parent(Places places, Array<const bool, 1> parent, Read<3> terms,
                          Array<double, 3> sums) {
  const Index bins = parent.shape(0);
  require("terms", terms, {terms.shape(0), bins, bins});
  require("sums", sums, {places.shape(0), terms.shape(0), places.shape(1)});
  require_places(places, bins);
  Unlocked unlocked;
  kernels->sum_by_parent(places, parent, terms, sums);
}

void define_pair_counts(nb::module_ m) {
  kernels = &CHOSEN(pair_counts);
  m.doc() = "Counts of pairs of bins by class, and sums over the pairs that a row shows.";
  m.def(
      "count_weighted", &count_weighted, "places"_a, "codes"_a, "weights"_a, "bins"_a, "table"_a,
      "Add weights (n,) of rows to the pairs of places v <= w (n, d), hi + lo of ``table`` (k, 2, "
      "pairs), at w(w + 1)/2 + v.");
  m.def(
      "sum_by_parent", &sum_by_parent, "places"_a, "parent"_a, "terms"_a, "sums"_a,
      "Write Σ_j terms[c, v_i, v_j] of every row to ``sums`` (n, k, d); −∞ without a parent v_i.");
}

}  // namespace suffice::bindings
