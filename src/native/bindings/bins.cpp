#include "bins.hpp"

#include "bindings/arrays.hpp"
#include "bindings/bindings.hpp"

namespace suffice::bindings {

static constexpr Index places = 41'477 + 1;  // of a column: its cells, and one for NaN

static const Bins* kernels;

static void cells(Rows x, Read<1> origin, Array<std::int32_t, 2> out) {
  require("origin", origin, {x.shape(1)});
  require("out", out, {x.shape(0), x.shape(1)});
  Unlocked unlocked;
  kernels->cells(x, origin, out);
}

static bool count(Rows x, Read<1> origin, Codes codes, Array<std::uint32_t, 2> tally) {
  require("origin", origin, {x.shape(1)});
  require("codes", codes, {x.shape(0)});
  require("tally", tally, {tally.shape(0), x.shape(1) * places});
  const Vector<const std::int64_t> rows = codes;
  for (Index i = 0; i < rows.size(); ++i)
    require(rows[i] < tally.shape(0), "tally has no row for a code");
  Unlocked unlocked;
  return kernels->count(x, origin, codes, tally);
}

static Index unite(Array<const std::int64_t, 1> a, Array<const std::int64_t, 1> b,
                   Array<std::int64_t, 1> at_a, Array<std::int64_t, 1> at_b) {
  require("at_a", at_a, {a.shape(0)});
  require("at_b", at_b, {b.shape(0)});
  Unlocked unlocked;
  return kernels->unite(a, b, at_a, at_b);
}

static void find(Rows x, Codes start, Read<1> low, Array<std::int64_t, 2> out) {
  const Index d = x.shape(1);
  require("start", start, {d + 1});
  require("out", out, {x.shape(0), d});
  const Vector<const std::int64_t> places = start;
  bool inside = places[0] >= 0 && places[d] <= low.shape(0);
  for (Index j = 0; j < d; ++j) inside = inside && places[j] < places[j + 1];
  require(inside, "every column needs a bin, one column after the other");
  Unlocked unlocked;
  kernels->find(x, start, low, out);
}

static void hash(Rows x, Array<const std::uint64_t, 1> names, Array<std::uint64_t, 1> hashes) {
  require("names", names, {x.shape(1)});
  require("hashes", hashes, {x.shape(0)});
  Unlocked unlocked;
  kernels->hash(x, names, hashes);
}

void define_bins(nb::module_ m) {
  kernels = &CHOSEN(bins);
  m.doc() = "Numbers into the cells of a fixed grid, and hashes of rows of numbers.";
  m.def("cells", &cells, "x"_a, "origin"_a, "out"_a,
        "Write the cell of every number (n, d) less its origin (d,), −1 for NaN.");
  m.def("count", &count, "x"_a, "origin"_a, "codes"_a, "tally"_a,
        "Count the cells of rows of classes: column j has its cell v at (CELLS + 1)j + 1 + v.\n\n"
        "Returns whether a number fell into an outermost cell, as infinities do.");
  m.def("unite", &unite, "a"_a, "b"_a, "at_a"_a, "at_b"_a,
        "Write where each of two ascending sequences of keys stands in their union.\n\n"
        "Returns how many keys there are.");
  m.def("find", &find, "x"_a, "start"_a, "low"_a, "out"_a,
        "Write the bin of every number (n, d), −1 for NaN: of the bins of column j, from start[j]\n"
        "to start[j + 1], the last that begins at or below the number, or the first.");
  m.def("hash", &hash, "x"_a, "names"_a, "hashes"_a,
        "Add to the hash of every row those of its numbers, mixed with the hashes of names (d,).");
}

}  // namespace suffice::bindings
