#include "sums/bins.hpp"

#include "bindings/arrays.hpp"
#include "bindings/bindings.hpp"

namespace suffice::bindings {

static constexpr Index places = 41'477 + 1;  // of a column: its cells, and one for NaN
static constexpr Index room = places + 64;   // in a table

static const Bins* kernels;

using Starts = Array<const std::int64_t, 1>;
using Bytes = Array<const std::uint8_t, 1>;
using Cells = Array<const std::uint16_t, 1>;
using WrittenStarts = Array<std::int64_t, 1>;
using WrittenBytes = Array<std::uint8_t, 1>;

using Low = Array<std::uint8_t, 2>;
using Carried = Array<std::uint16_t, 2>;

static Index count(Rows x, Read<1> origin, Codes codes, Read<1> weights, Index k, Low low,
                   Carried carried, WrittenStarts start, WrittenBytes packed) {
  require("origin", origin, {x.shape(1)});
  require("codes", codes, {x.shape(0)});
  require_none_or("weights", weights, x.shape(0));
  require_below("codes", codes, k);
  require(!x.shape(1) || (k >= 0 && k <= start.shape(0)), "every class needs a start");
  require("start", start, {k * x.shape(1) + 1});
  require("low", low, {packed.shape(0) ? 1 : k * x.shape(1), room});
  require("carried", carried, {low.shape(0), room});
  require(packed.shape(0) || !weights.shape(0), "weights need room");
  Unlocked unlocked;
  return kernels->count(x, origin, codes, weights, k, {low, carried}, {start, packed});
}

static Index taken(Low low, Carried carried, WrittenStarts start, WrittenBytes packed) {
  require("low", low, {start.shape(0) - 1, room});
  require("carried", carried, {low.shape(0), room});
  Unlocked unlocked;
  return kernels->taken({low, carried}, {start, packed});
}

// Counts of all classes and columns, whose bytes follow each other.
static GivenCounts counts_of(const Starts& start, const Bytes& packed) {
  const GivenCounts counts{start, packed};
  const Index columns = start.shape(0) - 1;
  bool follow = columns >= 0 && counts.start[0] >= 0 && counts.start[columns] <= packed.shape(0);
  for (Index column = 0; column < columns; ++column)
    follow = follow && counts.start[column] <= counts.start[column + 1];
  require(follow, "the cells of columns follow each other");
  return counts;
}

// Column j, in every class.
static void require_column(const GivenCounts& counts, Index k, Index j) {
  require(k >= 0 && j >= 0 && k < counts.start.size() && j < counts.start.size() &&
              (j + 1) * k < counts.start.size(),
          "there is no such column");
}

static Index cells_of(Starts start, Bytes packed, Index k, Index j, Array<std::uint16_t, 1> cells,
                      Written<1> every) {
  const GivenCounts counts = counts_of(start, packed);
  require_column(counts, k, j);
  require("cells", cells, {places - 1});
  require("every", every, {places - 1});
  Unlocked unlocked;
  return kernels->cells_of(counts, k, j, cells, every);
}

static void counts_in(Starts start, Bytes packed, Index j, Cells cells,
                      Array<const std::int64_t, 1> cuts, Written<2> out) {
  const GivenCounts counts = counts_of(start, packed);
  require_column(counts, out.shape(0), j);
  const Index parts = cells.shape(0) ? cuts.shape(0) + 1 : 0;
  require("out", out, {out.shape(0), parts});
  const Vector<const std::uint16_t> wanted = cells;
  bool inside = parts || !cuts.shape(0);
  for (Index i = 0; i < wanted.size(); ++i) inside = inside && wanted[i] < places - 1;
  require(inside, "a cell is none of the grid");
  if (!parts) return;
  Unlocked unlocked;
  kernels->counts_of(counts, j, cells, cuts, out);
}

static Index add(Starts start, Bytes packed, Starts start2, Bytes packed2, double sign,
                 WrittenStarts to_start, WrittenBytes to_packed) {
  const GivenCounts a = counts_of(start, packed), b = counts_of(start2, packed2);
  require("start2", start2, {start.shape(0)});
  require("to_start", to_start, {start.shape(0)});
  Unlocked unlocked;
  return kernels->add(a, b, sign, {to_start, to_packed});
}

static Index scale(Starts start, Bytes packed, double factor, WrittenStarts to_start,
                   WrittenBytes to_packed) {
  const GivenCounts counts = counts_of(start, packed);
  require("to_start", to_start, {start.shape(0)});
  Unlocked unlocked;
  return kernels->scale(counts, factor, {to_start, to_packed});
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
  m.def("count", &count, "x"_a, "origin"_a, "codes"_a, "weights"_a, "k"_a, "low"_a, "carried"_a,
        "start"_a, "packed"_a,
        "Count the cells of fewer than 2^23 rows of k classes, and pack those that hold a number:\n"
        "of column j and class c from start[j k + c] on. Where packed has no room, they stay in\n"
        "tables, one for each.\n\n"
        "Returns how many bytes they take, n, or −1 − n if a number fell into an outermost cell,\n"
        "as infinities do.");
  m.def("taken", &taken, "low"_a, "carried"_a, "start"_a, "packed"_a,
        "Pack what lies in tables, and clear them. Returns how many bytes it takes.");
  m.def(
      "cells_of", &cells_of, "start"_a, "packed"_a, "k"_a, "j"_a, "cells"_a, "every"_a,
      "Write the cells of column j that any of k classes shows, ascending, and the counts of all\n"
      "classes in each. Returns how many.");
  m.def(
      "counts_of", &counts_in, "start"_a, "packed"_a, "j"_a, "cells"_a, "cuts"_a, "out"_a,
      "Write the counts of every class, (k, b), in b parts of all cells that column j shows: each\n"
      "begins with the first, or at one of the ascending cuts.");
  m.def("add", &add, "start"_a, "packed"_a, "start2"_a, "packed2"_a, "sign"_a, "to_start"_a,
        "to_packed"_a,
        "Write a + b or, with a sign of −1, a − b: the cells that hold a number. Returns how many\n"
        "bytes they take, or −1 − q if a sum is below 0, in the class and column q.");
  m.def("scale", &scale, "start"_a, "packed"_a, "factor"_a, "to_start"_a, "to_packed"_a,
        "Write counts times a factor, as whole numbers where they are within 1e-12 of these.");
  m.def("hash", &hash, "x"_a, "names"_a, "hashes"_a,
        "Add to the hash of every row those of its numbers, mixed with the hashes of names (d,).");
}

}  // namespace suffice::bindings
