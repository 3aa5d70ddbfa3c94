#include "sums/moments.hpp"

#include "bindings/arrays.hpp"
#include "bindings/bindings.hpp"

namespace suffice::bindings {

// The three arrays of a state of k classes and d features.
template <class T>
MomentState<T> state_of(const Array<T, 3>& weight, const Array<T, 2>& pivot,
                        const Array<T, 3>& sums) {
  const Index k = pivot.shape(0), d = pivot.shape(1);
  require("weight", weight, {k, 2, d});
  require("sums", sums, {k, 4, d});
  return {weight, pivot, sums};
}

static void require_rows(const Held& x, const Codes& codes, const MomentState<double>& state) {
  require("x", x, {codes.shape(0), state.pivot.shape[1]});
  require_below("codes", codes, state.pivot.shape[0]);
}

static const Moments* kernels;

static Index add_rows(const AnyRows& x, Codes codes, Written<3> weight, Written<2> pivot,
                      Written<3> sums) {
  const auto state = state_of(weight, pivot, sums);
  require_rows(x.held, codes, state);
  Unlocked unlocked;
  return kernels->add_rows(x, codes, state);
}

static Index add_weighted_rows(Read<2> x, Codes codes, Read<1> weights, Written<3> weight,
                               Written<2> pivot, Written<3> sums) {
  const auto state = state_of(weight, pivot, sums);
  require_rows(x.held, codes, state);
  require("weights", weights, {codes.shape(0)});
  Unlocked unlocked;
  return kernels->add_weighted_rows(x, codes, weights, state);
}

static Index merge(Written<3> weight, Written<2> pivot, Written<3> sums, Read<3> weight2,
                   Read<2> pivot2, Read<3> sums2, double sign) {
  const auto state = state_of(weight, pivot, sums);
  const auto other = state_of(weight2, pivot2, sums2);
  require("pivot2", pivot2, {pivot.shape(0), pivot.shape(1)});
  Unlocked unlocked;
  return kernels->merge(state, other, sign);
}

static void merge_classes(Written<3> weight, Written<2> pivot, Written<3> sums, Read<3> weight2,
                          Read<2> pivot2, Read<3> sums2) {
  const auto state = state_of(weight, pivot, sums);
  const auto other = state_of(weight2, pivot2, sums2);
  require("pivot", pivot, {1, pivot2.shape(1)});
  Unlocked unlocked;
  kernels->merge_classes(state, other);
}

static void mean_and_scatter(Read<3> weight, Read<2> pivot, Read<3> sums, Written<2> mean,
                             Written<2> mean_lo, Written<2> scatter) {
  const auto state = state_of(weight, pivot, sums);
  const Index k = pivot.shape(0), d = pivot.shape(1);
  require("mean", mean, {k, d});
  require("mean_lo", mean_lo, {k, d});
  require("scatter", scatter, {k, d});
  Unlocked unlocked;
  kernels->mean_and_scatter(state, mean, mean_lo, scatter);
}

static void recentre(Written<3> weight, Written<2> pivot, Written<3> sums) {
  const auto state = state_of(weight, pivot, sums);
  Unlocked unlocked;
  kernels->recentre(state);
}

void define_moments(nb::module_ m) {
  kernels = &CHOSEN(moments);
  m.doc() = "Exact class-wise moments Σw, Σw(x − p), Σw(x − p)² in one pass over rows.";
  m.def("add_rows", &add_rows, "x"_a, "codes"_a, "weight"_a, "pivot"_a, "sums"_a,
        "Add the rows of x (n, d) to their classes, each with weight one.\n\n"
        "Returns −1, or the first of a tile of rows that holds a number too large to be squared.");
  m.def("add_weighted_rows", &add_weighted_rows, "x"_a, "codes"_a, "weights"_a, "weight"_a,
        "pivot"_a, "sums"_a,
        "Add the rows of x (n, d) to their classes with weights (n,).\n\n"
        "Returns −1, or the row that holds a number too large to be squared.");
  m.def(
      "merge", &merge, "weight"_a, "pivot"_a, "sums"_a, "weight2"_a, "pivot2"_a, "sums2"_a,
      "sign"_a,
      "Add (sign = 1) or take away (sign = −1) other moments, in place.\n\n"
      "Returns −1, or the flat index c · d + j of a cell that would be left with a negative sum.");
  m.def("merge_classes", &merge_classes, "weight"_a, "pivot"_a, "sums"_a, "weight2"_a, "pivot2"_a,
        "sums2"_a,
        "Add the moments of the classes after the first to those of one class, in place.");
  m.def("mean_and_scatter", &mean_and_scatter, "weight"_a, "pivot"_a, "sums"_a, "mean"_a,
        "mean_lo"_a, "scatter"_a,
        "Write x̄ and Σw(x − x̄)², (k, d); zeros where W = 0. ``mean_lo`` is what rounding took off\n"
        "the mean, where that is much by the measure of the spread.");
  m.def("recentre", &recentre, "weight"_a, "pivot"_a, "sums"_a,
        "Move the pivots, in place, to where mean and scatter alone decide.");
}

}  // namespace suffice::bindings
