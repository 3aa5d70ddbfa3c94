#include "exact_moments.hpp"

#include <nanobind/stl/pair.h>

#include "bindings/arrays.hpp"
#include "bindings/bindings.hpp"
#include "bindings/tables.hpp"

namespace suffice::bindings {

static const ExactMoments* kernels;

static void require_rows(const Read<2>& x, const Codes& codes, Index k, const MomentSums& state) {
  require("x", x, {codes.shape(0), state.d});
  require_below("codes", codes, k);
}

static Index add_rows(MomentSums& state, Read<2> x, Codes codes, Index k) {
  require_rows(x, codes, k, state);
  Unlocked unlocked;
  state.grow(k);
  return kernels->add_rows(x, codes, state);
}

static Index add_weighted_rows(MomentSums& state, Read<2> x, Codes codes, Read<1> weights,
                               Index k) {
  require_rows(x, codes, k, state);
  require("weights", weights, {codes.shape(0)});
  Unlocked unlocked;
  state.grow(k);
  return kernels->add_weighted_rows(x, codes, weights, state);
}

static const Planes& table(const MomentSums& state, int which) {
  return which == 0 ? state.weight : which == 1 ? state.sums : state.squares;
}

// The number of planes of a table, and where they begin.
static std::pair<Index, Index> extent(MomentSums& state, int which) {
  state.settle();
  const Planes& planes = table(state, which);
  return {planes.count(), planes.low()};
}

static void write(MomentSums& state, int which, WrittenLimbs out) {
  state.settle();
  const Planes& planes = table(state, which);
  require("out", out, {planes.count(), state.k, state.d});
  const Index limbs = planes.count() * planes.cells();
  for (Index i = 0; i < limbs; ++i) out.at()[i] = planes.plane(0)[i];
}

static MomentTables tables_of(const Limbs3& weight, Index low0, const Limbs3& sums, Index low1,
                              const Limbs3& squares, Index low2) {
  const Index k = weight.shape(1), d = weight.shape(2);
  require("sums", sums, {sums.shape(0), k, d});
  require("squares", squares, {squares.shape(0), k, d});
  return {table_of(weight, low0), table_of(sums, low1), table_of(squares, low2)};
}

static void mean_and_scatter_of(Limbs3 weight, Index low0, Limbs3 sums, Index low1, Limbs3 squares,
                                Index low2, Written<2> mean, Written<2> mean_lo, Written<2> scatter,
                                Written<2> variance) {
  const MomentTables tables = tables_of(weight, low0, sums, low1, squares, low2);
  const Index k = weight.shape(1), d = weight.shape(2);
  require("mean", mean, {k, d});
  require("mean_lo", mean_lo, {k, d});
  require("scatter", scatter, {k, d});
  require("variance", variance, {k, d});
  Unlocked unlocked;
  mean_and_scatter(tables, mean.at(), mean_lo.at(), scatter.at(), variance.at());
}

static Index first_impossible(Limbs3 weight, Index low0, Limbs3 sums, Index low1, Limbs3 squares,
                              Index low2) {
  const MomentTables tables = tables_of(weight, low0, sums, low1, squares, low2);
  Unlocked unlocked;
  return impossible(tables);
}

void define_exact_moments(nb::module_ m) {
  kernels = &CHOSEN(exact_moments);
  m.doc() = "Exact class-wise moments Σw, Σwx, Σwx² in one pass over rows.";
  nb::class_<MomentSums>(m, "MomentSums",
                         "Sums in the making, of d columns and as many classes as come.")
      .def(nb::init<Index>(), "d"_a)
      .def(
          "add_rows", &add_rows, "x"_a, "codes"_a, "k"_a,
          "Add the rows of x (n, d) to their classes, which are k, each with weight one.\n\n"
          "Returns −1, or the first of a tile of rows that holds a number too large to be squared.")
      .def("add_weighted_rows", &add_weighted_rows, "x"_a, "codes"_a, "weights"_a, "k"_a,
           "Add the rows of x (n, d) to their classes with weights (n,).\n\n"
           "Returns −1, or the row that holds a number too large to be squared.")
      .def_ro("k", &MomentSums::k, "The number of classes so far.")
      .def("extent", &extent, "which"_a,
           "Return how many planes a table has, and at which power of 2^64 they begin.\n\n"
           "Tables are 0, Σw; 1, Σwx; 2, Σwx².")
      .def("write", &write, "which"_a, "out"_a, "Write the planes of a table, (planes, k, d).");
  m.def("mean_and_scatter", &mean_and_scatter_of, "weight"_a, "low0"_a, "sums"_a, "low1"_a,
        "squares"_a, "low2"_a, "mean"_a, "mean_lo"_a, "scatter"_a, "variance"_a,
        "Write x̄, Σw(x − x̄)² and σ², (k, d), rounded once; zeros where W = 0. ``mean_lo`` is what\n"
        "rounding took off the mean, where that is much by the measure of the spread.");
  m.def("impossible", &first_impossible, "weight"_a, "low0"_a, "sums"_a, "low1"_a, "squares"_a,
        "low2"_a, "Return the first cell c · d + j whose sums no rows have, or −1.");
}

}  // namespace suffice::bindings
