#include "sums/bins.hpp"

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

static bool count(Rows x, Read<1> origin, Codes codes, Array<std::uint8_t, 2> low,
                  Array<std::uint16_t, 2> carried) {
  require("origin", origin, {x.shape(1)});
  require("codes", codes, {x.shape(0)});
  require("low", low, {low.shape(0), x.shape(1) * places});
  require("carried", carried, {low.shape(0), low.shape(1)});
  require_below("codes", codes, low.shape(0));
  Unlocked unlocked;
  return kernels->count(x, origin, codes, {low, carried});
}

using Starts = Array<const std::int64_t, 1>;
using Cells = Array<const std::uint16_t, 1>;

static Index shown(Array<const std::uint8_t, 2> low, Array<const std::uint16_t, 2> carried,
                   Array<std::int64_t, 1> start, Array<std::uint16_t, 1> cell, Written<1> count) {
  const Index d = low.shape(1) / places;
  require("low", low, {low.shape(0), d * places});
  require("carried", carried, {low.shape(0), low.shape(1)});
  require("start", start, {low.shape(0) * d + 1});
  require("count", count, {cell.shape(0)});
  Unlocked unlocked;
  return kernels->shown({low, carried}, {start, cell, count});
}

// Counts of the columns of all classes, whose cells follow each other.
static GivenCounts counts_of(const Starts& start, const Cells& cell, const Read<1>& count) {
  require("count", count, {cell.shape(0)});
  const GivenCounts counts{start, cell, count};
  const Index columns = start.shape(0) - 1;
  bool follow = columns >= 0 && counts.start[0] >= 0 && counts.start[columns] <= cell.shape(0);
  for (Index column = 0; column < columns; ++column)
    follow = follow && counts.start[column] <= counts.start[column + 1];
  require(follow, "the cells of columns follow each other");
  return counts;
}

// Column j of d, in every class, whose cells are of the grid.
static void require_column(const GivenCounts& counts, Index d, Index j) {
  require(d > 0 && j >= 0 && j < d && (counts.start.size() - 1) % d == 0,
          "there is no such column");
  bool inside = true;
  for (Index place = j; place < counts.start.size() - 1; place += d)
    for (Index q = counts.start[place]; q < counts.start[place + 1]; ++q)
      inside = inside && counts.cell[q] < places - 1;
  require(inside, "a cell is none of the grid");
}

static Index count_apart(Rows x, Read<1> origin, Codes codes, Index k, Array<std::int64_t, 1> start,
                         Array<std::uint16_t, 1> cell, Written<1> count) {
  require("origin", origin, {x.shape(1)});
  require("codes", codes, {x.shape(0)});
  require_below("codes", codes, k);
  require(!x.shape(1) || (k >= 0 && k <= start.shape(0)), "every class needs a start");
  require("start", start, {k * x.shape(1) + 1});
  require("cell", cell, {x.shape(0) * x.shape(1)});
  require("count", count, {cell.shape(0)});
  Unlocked unlocked;
  return kernels->count_apart(x, origin, codes, k, {start, cell, count});
}

static Index cells_of(Starts start, Cells cell, Read<1> count, Index d, Index j,
                      Array<std::uint16_t, 1> cells, Written<1> every) {
  const GivenCounts counts = counts_of(start, cell, count);
  require_column(counts, d, j);
  require("cells", cells, {places - 1});
  require("every", every, {places - 1});
  Unlocked unlocked;
  return kernels->cells_of(counts, d, j, cells, every);
}

static void counts_in(Starts start, Cells cell, Read<1> count, Index d, Index j, Cells cells,
                      Array<const std::int64_t, 1> cuts, Written<2> out) {
  const GivenCounts counts = counts_of(start, cell, count);
  require_column(counts, d, j);
  const Index parts = cells.shape(0) ? cuts.shape(0) + 1 : 0;
  require("out", out, {(start.shape(0) - 1) / d, parts});
  const Vector<const std::uint16_t> wanted = cells;
  bool inside = parts || !cuts.shape(0);
  for (Index i = 0; i < wanted.size(); ++i) inside = inside && wanted[i] < places - 1;
  require(inside, "a cell is none of the grid");
  if (!parts) return;
  Unlocked unlocked;
  kernels->counts_of(counts, d, j, cells, cuts, out);
}

static Index add(Starts start, Cells cell, Read<1> count, Starts start2, Cells cell2,
                 Read<1> count2, double sign, Array<std::int64_t, 1> to_start,
                 Array<std::uint16_t, 1> to_cell, Written<1> to_count) {
  const GivenCounts a = counts_of(start, cell, count), b = counts_of(start2, cell2, count2);
  require("start2", start2, {start.shape(0)});
  require("to_start", to_start, {start.shape(0)});
  require("to_cell", to_cell, {cell.shape(0) + cell2.shape(0)});
  require("to_count", to_count, {to_cell.shape(0)});
  Unlocked unlocked;
  return kernels->add(a, b, sign, {to_start, to_cell, to_count});
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
  m.def("count", &count, "x"_a, "origin"_a, "codes"_a, "low"_a, "carried"_a,
        "Count the cells of rows of classes, fewer than 2^24 in all: column j has its cell v at\n"
        "(CELLS + 1)j + 1 + v, in which there are low + 256 carried numbers.\n\n"
        "Returns whether a number fell into an outermost cell, as infinities do.");
  m.def("shown", &shown, "low"_a, "carried"_a, "start"_a, "cell"_a, "count"_a,
        "Write the cells of a tally that hold a number, ascending: of class c and column j from\n"
        "start[c d + j] on. Returns how many there are, or −1 if there is no room for them.");
  m.def("count_apart", &count_apart, "x"_a, "origin"_a, "codes"_a, "k"_a, "start"_a, "cell"_a,
        "count"_a,
        "Count the cells of rows of k classes, one class and column at a time, and write them as\n"
        "`shown` does. Returns how many there are.");
  m.def("cells_of", &cells_of, "start"_a, "cell"_a, "count"_a, "d"_a, "j"_a, "cells"_a, "every"_a,
        "Write the cells of column j of d that any class shows, ascending, and the counts of all\n"
        "classes in each. Returns how many.");
  m.def(
      "counts_of", &counts_in, "start"_a, "cell"_a, "count"_a, "d"_a, "j"_a, "cells"_a, "cuts"_a,
      "out"_a,
      "Write the counts of every class, (k, b), in b parts of all cells that column j shows: each\n"
      "begins with the first, or at one of the ascending cuts.");
  m.def("add", &add, "start"_a, "cell"_a, "count"_a, "start2"_a, "cell2"_a, "count2"_a, "sign"_a,
        "to_start"_a, "to_cell"_a, "to_count"_a,
        "Write a + b or, with a sign of −1, a − b: the cells that hold a number. Returns how many\n"
        "there are, or −1 if a sum is rounded or below 0.");
  m.def("find", &find, "x"_a, "start"_a, "low"_a, "out"_a,
        "Write the bin of every number (n, d), −1 for NaN: of the bins of column j, from start[j]\n"
        "to start[j + 1], the last that begins at or below the number, or the first.");
  m.def("hash", &hash, "x"_a, "names"_a, "hashes"_a,
        "Add to the hash of every row those of its numbers, mixed with the hashes of names (d,).");
}

}  // namespace suffice::bindings
