#include "linear/factor.hpp"

#include "bindings/arrays.hpp"
#include "bindings/bindings.hpp"

namespace suffice::bindings {

static const Factor* kernels;

template <class T, int D>
static Pairs<T, D> pairs_of(const Array<T, D>& hi, const Array<T, D>& lo) {
  if constexpr (D == 1) require("lo", lo, {hi.shape(0)});
  if constexpr (D == 2) require("lo", lo, {hi.shape(0), hi.shape(1)});
  return {hi, lo};
}

// Two arrays of NumPy, all zeros.
static std::pair<nb::object, nb::object> zeros(nb::tuple shape) {
  const nb::object make = nb::module_::import_("numpy").attr("zeros");
  return {make(shape), make(shape)};
}

static nb::typed<nb::tuple, Written<2>, Written<2>> product(Read<2> a, Read<2> a_lo, Read<2> b,
                                                            Read<2> b_lo) {
  const auto first = pairs_of(a, a_lo), second = pairs_of(b, b_lo);
  require("b", b, {a.shape(1), b.shape(1)});
  const auto [c, c_lo] = zeros(nb::make_tuple(a.shape(0), b.shape(1)));
  {
    const auto hi = nb::cast<Written<2>>(c), lo = nb::cast<Written<2>>(c_lo);
    Unlocked unlocked;
    kernels->product(first, second, {hi, lo});
  }
  return nb::make_tuple(c, c_lo);
}

static nb::typed<nb::tuple, Index, Written<1>, Written<1>, Written<2>, Written<2>> factorise(
    Written<2> upper, Written<2> upper_lo, Read<1> noise) {
  const Index d = upper.shape(0);
  const auto matrix = pairs_of(upper, upper_lo);
  require("upper", upper, {d, d});
  require("noise", noise, {d});
  const auto [pivots, pivots_lo] = zeros(nb::make_tuple(d));
  const auto [inverse, inverse_lo] = zeros(nb::make_tuple(d, d));
  Index negative;
  {
    const auto hi = nb::cast<Written<1>>(pivots), lo = nb::cast<Written<1>>(pivots_lo);
    const auto rows = nb::cast<Written<2>>(inverse), rows_lo = nb::cast<Written<2>>(inverse_lo);
    Unlocked unlocked;
    negative = kernels->factorise(matrix, noise, {hi, lo}, {rows, rows_lo});
  }
  return nb::make_tuple(negative, pivots, pivots_lo, inverse, inverse_lo);
}

static void solve(Read<2> upper, Read<2> upper_lo, Read<1> pivots, Read<1> pivots_lo, Written<2> x,
                  Written<2> x_lo) {
  const Index d = upper.shape(0);
  const auto matrix = pairs_of(upper, upper_lo);
  const auto diagonal = pairs_of(pivots, pivots_lo);
  const auto unknowns = pairs_of(x, x_lo);
  require("upper", upper, {d, d});
  require("pivots", pivots, {d});
  require("x", x, {d, x.shape(1)});
  Unlocked unlocked;
  kernels->solve(matrix, diagonal, unknowns);
}

void define_factor(nb::module_ m) {
  kernels = &CHOSEN(factor);
  m.doc() = "LDLᵀ, substitution and products of matrices of double-double pairs.";
  m.def("product", &product, "a"_a, "a_lo"_a, "b"_a, "b_lo"_a,
        "Return the pairs a b of a (n, d) and b (d, m); zeros of a cost nothing.");
  m.def(
      "factorise", &factorise, "upper"_a, "upper_lo"_a, "noise"_a,
      "Turn the upper triangle of A (d, d), in place, into Lᵀ; return the pairs of D and L⁻¹.\n\n"
      "A pivot d_i = cᵀ A c, c = (L⁻¹)_i, of at most Σ_j c_j² noise_j is taken for 0, and so is\n"
      "column i of L below the diagonal. The first of the results is −1, or the index of a pivot\n"
      "that is negative by more than that.");
  m.def("solve", &solve, "upper"_a, "upper_lo"_a, "pivots"_a, "pivots_lo"_a, "x"_a, "x_lo"_a,
        "Replace x (d, t) by the solution of L D Lᵀ x = b, with 0 where a pivot is 0.");
}

}  // namespace suffice::bindings
