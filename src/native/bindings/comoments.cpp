#include "sums/comoments.hpp"

#include "bindings/arrays.hpp"
#include "bindings/bindings.hpp"

namespace suffice::bindings {

static const Comoments* kernels;

template <class T>
static ComomentSums<T> sums_of(const Array<T, 2>& weight, const Array<T, 2>& pivot,
                               const Array<T, 3>& sums) {
  const Index g = pivot.shape(0), d = pivot.shape(1);
  require("weight", weight, {g, 2});
  require("sums", sums, {g, 2, d});
  return {weight, pivot, sums};
}

template <class T>
static void require_product_index(const Codes& product_index, const Array<T, 4>& products, Index g,
                                  Index d) {
  require("product_index", product_index, {g});
  require_below("product_index", product_index, products.shape(0));
  require("products", products, {products.shape(0), 2, d, d});
}

static ComomentState<double> state_of(const Written<2>& weight, const Written<2>& pivot,
                                      const Written<3>& sums, const Codes& product_index,
                                      const Written<4>& products) {
  require_product_index(product_index, products, pivot.shape(0), pivot.shape(1));
  return {sums_of(weight, pivot, sums), product_index, products};
}

static Index add_rows(Read<2> x, Read<2> y, Codes codes, Read<1> weights, Written<2> weight,
                      Written<2> pivot, Written<3> sums, Codes product_index, Written<4> products) {
  const auto state = state_of(weight, pivot, sums, product_index, products);
  const Index n = codes.shape(0);
  require("x", x, {n, x.shape(1)});
  require("y", y, {n, y.shape(1)});
  require(x.shape(1) + y.shape(1) == pivot.shape(1), "x and y must have the columns of pivot");
  require_below("codes", codes, pivot.shape(0));
  require_none_or("weights", weights, n);
  for (Index c = 1; c < product_index.shape(0); ++c)
    require(product_index.at()[c - 1] <= product_index.at()[c],
            "groups of one matrix of products must stand side by side");
  Unlocked unlocked;
  return kernels->add_rows(x, y, codes, weights, state);
}

static void add_scattered_rows(Read<2> x, Codes groups, Read<1> weights, Written<2> weight,
                               Written<2> pivot, Written<3> sums, Codes product_index,
                               Written<4> products) {
  const auto state = state_of(weight, pivot, sums, product_index, products);
  require("x", x, {groups.shape(0), pivot.shape(1)});
  require_between("groups", groups, 0, pivot.shape(0));
  require_none_or("weights", weights, groups.shape(0));
  Unlocked unlocked;
  kernels->add_scattered_rows(x, groups, weights, state);
}

static Index merge(Written<2> weight, Written<2> pivot, Written<3> sums, Codes product_index,
                   Written<4> products, Read<2> weight2, Read<2> pivot2, Read<3> sums2, Codes place,
                   double sign) {
  const auto state = state_of(weight, pivot, sums, product_index, products);
  const auto other = sums_of(weight2, pivot2, sums2);
  require("pivot2", pivot2, {place.shape(0), pivot.shape(1)});
  require_between("place", place, 0, pivot.shape(0));
  Unlocked unlocked;
  return kernels->merge(state, other, place, sign);
}

static Index settle(Written<2> weight, Written<2> pivot, Written<3> sums, Codes product_index,
                    Written<4> products, Read<2> before) {
  const auto state = state_of(weight, pivot, sums, product_index, products);
  require("before", before, {products.shape(0), pivot.shape(1)});
  Unlocked unlocked;
  return kernels->settle(state, before);
}

static void recentre(Written<2> weight, Written<2> pivot, Written<3> sums, Codes product_index,
                     Written<4> products) {
  const auto state = state_of(weight, pivot, sums, product_index, products);
  Unlocked unlocked;
  kernels->recentre(state);
}

static void mean(Read<2> weight, Read<2> pivot, Read<3> sums, Written<3> out) {
  require("out", out, {2, pivot.shape(0), pivot.shape(1)});
  Unlocked unlocked;
  kernels->mean(sums_of(weight, pivot, sums), out);
}

static void scatter(Read<2> weight, Read<3> sums, Codes product_index, Read<4> products,
                    Written<4> out) {
  const Index g = weight.shape(0), d = sums.shape(2);
  require("weight", weight, {g, 2});
  require("sums", sums, {g, 2, d});
  require_product_index(product_index, products, g, d);
  require("out", out, {products.shape(0), 2, d, d});
  Unlocked unlocked;
  kernels->scatter(weight, sums, product_index, products, out);
}

void define_comoments(nb::module_ m) {
  kernels = &CHOSEN(comoments);
  m.doc() = "Exact co-moments Σw, Σw(x − p), Σw(x − p)(x − p)ᵀ in one pass over rows.";
  m.def("add_rows", &add_rows, "x"_a, "y"_a, "codes"_a, "weights"_a, "weight"_a, "pivot"_a,
        "sums"_a, "product_index"_a, "products"_a,
        "Add complete rows (x, y) to the groups of their codes; ``weights`` is (n,) or empty.\n\n"
        "Returns −1, or the first of a chunk of rows that were not added, like those after it,\n"
        "because a cell is missing or too large.");
  m.def("add_scattered_rows", &add_scattered_rows, "x"_a, "groups"_a, "weights"_a, "weight"_a,
        "pivot"_a, "sums"_a, "product_index"_a, "products"_a,
        "Add rows (n, d) to their groups, all new, one by one; a missing cell adds nothing.\n\n"
        "The pivot of a group without products is its only row.");
  m.def("merge", &merge, "weight"_a, "pivot"_a, "sums"_a, "product_index"_a, "products"_a,
        "weight2"_a, "pivot2"_a, "sums2"_a, "place"_a, "sign"_a,
        "Add (sign = 1) or take away (sign = −1) other groups, in place; group i goes to\n"
        "``place[i]``.\n\nReturns −1, or the group that would be left with a negative weight.");
  m.def(
      "settle", &settle, "weight"_a, "pivot"_a, "sums"_a, "product_index"_a, "products"_a,
      "before"_a,
      "After rows were taken away: of values that are all equal, leave a scatter of exactly 0.\n\n"
      "``before`` (m, d) are the sums of squares that there were. Returns −1, or a feature whose\n"
      "scatter would be negative.");
  m.def("recentre", &recentre, "weight"_a, "pivot"_a, "sums"_a, "product_index"_a, "products"_a,
        "Move the pivots, in place, to where means and scatters alone decide.");
  m.def("mean", &mean, "weight"_a, "pivot"_a, "sums"_a, "out"_a,
        "Write the pairs (2, g, d) of the means.");
  m.def("scatter", &scatter, "weight"_a, "sums"_a, "product_index"_a, "products"_a, "out"_a,
        "Write the pairs (m, 2, d, d) of Σw(x − x̄)(x − x̄)ᵀ = P − Σ SSᵀ/W over the groups.");
}

}  // namespace suffice::bindings
