#include "dyadic.hpp"

#include <nanobind/stl/pair.h>

#include "bindings/arrays.hpp"
#include "bindings/bindings.hpp"
#include "bindings/tables.hpp"

namespace suffice::bindings {

using Pair = std::pair<Index, Index>;

static void add_tables(Limbs3 a, Index low, Limbs3 b, Index low2, bool minus, WrittenLimbs out,
                       Index out_low) {
  const DyadicTable x = table_of(a, low), y = table_of(b, low2);
  require("b", b, {b.shape(0), a.shape(1), a.shape(2)});
  require("out", out, {out.shape(0), a.shape(1), a.shape(2)});
  require_low(out_low);
  Unlocked unlocked;
  add(x, y, minus, out.at(), out.shape(0), out_low);
}

static void gather_table(Limbs3 a, Index low, Codes place, WrittenLimbs out, Index out_low) {
  require("place", place, {a.shape(1)});
  require("out", out, {out.shape(0), out.shape(1), a.shape(2)});
  require_between("place", place, 0, out.shape(1));
  require_low(out_low);
  const DyadicTable table = table_of(a, low);
  Unlocked unlocked;
  gather(table, place.at(), a.shape(1), out.at(), out.shape(0), out.shape(1), out_low);
}

static Pair trim_table(Limbs3 a) {
  Pair kept;
  trim(a.at(), a.shape(0), a.shape(1) * a.shape(2), &kept.first, &kept.second);
  return kept;
}

static void round_table(Limbs3 a, Index low, Written<2> out) {
  require("out", out, {a.shape(1), a.shape(2)});
  const DyadicTable table = table_of(a, low);
  Unlocked unlocked;
  for (Index i = 0; i < table.cells; ++i) out.at()[i] = rounded(table.number(i));
}

static void set_table(Read<2> numbers, WrittenLimbs out, Index out_low) {
  require("out", out, {out.shape(0), numbers.shape(0), numbers.shape(1)});
  require_low(out_low);
  const Index cells = numbers.shape(0) * numbers.shape(1);
  require(can_be_set(numbers.at(), cells, out.shape(0), out_low),
          "numbers must be finite, and out must have the planes that they need");
  Unlocked unlocked;
  set(numbers.at(), cells, out.at(), out.shape(0), out_low);
}

void define_dyadic(nb::module_ m) {
  m.doc() = "Tables of exact dyadic numbers: limbs of 64 bits in two's complement, (planes, k, d).";
  m.def("add", &add_tables, "a"_a, "low"_a, "b"_a, "low2"_a, "minus"_a, "out"_a, "out_low"_a,
        "Write a + b, or a − b, to planes that begin at 2^(64 out_low) and are wide enough.");
  m.def("gather", &gather_table, "a"_a, "low"_a, "place"_a, "out"_a, "out_low"_a,
        "Add every class to that at its place among planes that are wide enough.");
  m.def("set", &set_table, "numbers"_a, "out"_a, "out_low"_a,
        "Write finite doubles (k, d) to planes of zeros that are wide enough.");
  m.def("trim", &trim_table, "a"_a,
        "Return the range of planes that are needed: below it are zeros, above it signs.");
  m.def("round", &round_table, "a"_a, "low"_a, "out"_a,
        "Write the doubles next to the numbers, (k, d).");
}

}  // namespace suffice::bindings
