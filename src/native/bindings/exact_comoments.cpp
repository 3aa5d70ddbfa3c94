#include "exact_comoments.hpp"

#include <nanobind/stl/pair.h>

#include "bindings/arrays.hpp"
#include "bindings/bindings.hpp"
#include "bindings/tables.hpp"

namespace suffice::bindings {

static const ExactComoments* kernels;

constexpr Index MOST_COLUMNS = 30'000;  // so many have products whose number a machine can hold
constexpr double MOST_WEIGHT = 1e150;

static void make(ProductSums* at, Index d) {
  require(d >= 0 && d <= MOST_COLUMNS, "d must be from 0 to 30,000");
  std::vector<Index> place(d * (d + 1) / 2);
  kernels->arrange(d, place.data());
  new (at) ProductSums(d, place.data(), kernels->places(d));
}

// Groups of one matrix stand side by side, and no matrix is left out.
static void require_matrices(const Codes& matrix, Index matrices) {
  Index next = 0;
  for (Index c = 0; c < matrix.shape(0); ++c) {
    const Index m = matrix.at()[c];
    require(m == next || m == next - 1, "matrix must begin with 0 and go up by 1 or by 0");
    next = m + 1;
  }
  require(matrices < 0 || next == matrices,
          "there must be as many matrices of products as matrix says");
}

static Index add_rows(ProductSums& state, Read<2> x, Read<2> y, Codes codes, Read<1> weights,
                      Codes matrix) {
  const Index n = codes.shape(0);
  require("x", x, {n, x.shape(1)});
  require("y", y, {n, y.shape(1)});
  require(x.shape(1) + y.shape(1) == state.d, "x and y must have d columns");
  require_below("codes", codes, matrix.shape(0));
  require_none_or("weights", weights, n);
  for (Index i = 0; i < weights.shape(0); ++i)
    require(weights.at()[i] >= 0.0 && weights.at()[i] <= MOST_WEIGHT,
            "weights must be from 0 to 1e150");
  require_matrices(matrix, -1);
  for (Index c = 0; c < state.groups(); ++c)
    require(c < matrix.shape(0) && matrix.at()[c] == state.matrix(c),
            "matrix must have the groups that there are");
  Unlocked unlocked;
  state.grow(matrix.at(), matrix.shape(0));
  return kernels->add_rows(x, y, codes, weights, state);
}

static const Planes& table(const ProductSums& state, int which) {
  return which == 0 ? state.weight : which == 1 ? state.sums : state.products;
}

// The number of planes of a table, and where they begin.
static std::pair<Index, Index> extent(ProductSums& state, int which) {
  state.settle();
  const Planes& planes = table(state, which);
  return {planes.count(), planes.low()};
}

static void write(ProductSums& state, int which, WrittenLimbs out) {
  state.settle();
  const Planes& planes = table(state, which);
  const Index rows = which == 2 ? state.matrices() : state.groups(),
              columns = rows ? planes.cells() / rows : out.shape(2);
  require("out", out, {planes.count(), rows, columns});
  const Index limbs = planes.count() * planes.cells();
  for (Index i = 0; i < limbs; ++i) out.at()[i] = planes.plane(0)[i];
}

static void recentre_tables(Limbs3 weight, Index low0, Limbs3 sums, Index low1, Limbs3 products,
                            Index low2, Codes matrix, Written<2> pair_of_weight, Written<2> pivot,
                            Written<3> pair_of_sums, Written<4> pairs) {
  const Index g = matrix.shape(0), d = sums.shape(2), matrices = products.shape(1);
  require("weight", weight, {weight.shape(0), g, 1});
  require("sums", sums, {sums.shape(0), g, d});
  require("products", products, {products.shape(0), matrices, d * (d + 1) / 2});
  require_matrices(matrix, matrices);
  require("pair_of_weight", pair_of_weight, {g, 2});
  require("pivot", pivot, {g, d});
  require("pair_of_sums", pair_of_sums, {g, 2, d});
  require("pairs", pairs, {matrices, 2, d, d});
  const ProductTables of{table_of(weight, low0),
                         table_of(sums, low1),
                         table_of(products, low2),
                         matrix.at(),
                         g,
                         d,
                         matrices};
  Unlocked unlocked;
  recentre(of, pair_of_weight.at(), pivot.at(), pair_of_sums.at(), pairs.at());
}

void define_exact_comoments(nb::module_ m) {
  kernels = &CHOSEN(exact_comoments);
  m.doc() = "Exact co-moments Σw, Σwx, Σwxxᵀ in one pass over rows, as whole numbers.";
  nb::class_<ProductSums>(m, "ProductSums",
                          "Sums in the making, of d columns and as many groups as come.")
      .def("__init__", &make, "d"_a)
      .def(
          "add_rows", &add_rows, "x"_a, "y"_a, "codes"_a, "weights"_a, "matrix"_a,
          "Add complete rows (x, y) to the groups of their codes; ``weights`` is (n,) or empty.\n\n"
          "``matrix`` (g,) says which groups share their products. Returns −1, or the first of a\n"
          "chunk of rows that were not added, like those after it, because a cell is missing or\n"
          "too large.")
      .def(
          "extent", &extent, "which"_a,
          "Return how many planes a table has, and at which power of 2^64 they begin.\n\n"
          "Tables are 0, Σw (g, 1); 1, Σwx (g, d); 2, upper triangles of Σwxxᵀ (m, d (d + 1) / 2).")
      .def("write", &write, "which"_a, "out"_a, "Write the planes of a table.");
  m.def("recentre", &recentre_tables, "weight"_a, "low0"_a, "sums"_a, "low1"_a, "products"_a,
        "low2"_a, "matrix"_a, "pair_of_weight"_a, "pivot"_a, "pair_of_sums"_a, "pairs"_a,
        "Write the sums about the means of the groups, as pairs of doubles that are rounded once:\n"
        "Σw, p, Σw(x − p) and upper triangles of Σw(x − p)(x − p)ᵀ.");
}

}  // namespace suffice::bindings
