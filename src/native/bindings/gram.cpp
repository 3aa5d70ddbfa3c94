#include "linear/gram.hpp"

#include "bindings/arrays.hpp"
#include "bindings/bindings.hpp"

namespace suffice::bindings {

void define_gram(nb::module_ m) {
  static const GramKernels& kernels = CHOSEN(gram);
  m.doc() = "Products of a matrix whose sums have one order, on every processor.";

  m.def(
      "times",
      [](Read<2> a, Read<1> x, Written<1> out) {
        require("x", x, {a.shape(1)});
        require("out", out, {a.shape(0)});
        const Arithmetic arithmetic;
        Unlocked unlocked;
        kernels.times(a, x, out);
      },
      "a"_a, "x"_a, "out"_a, "Write A x to ``out`` (m,), of A (m, g).");
  m.def(
      "add_transposed",
      [](Read<2> a, Read<1> r, Written<1> out) {
        require("r", r, {a.shape(0)});
        require("out", out, {a.shape(1)});
        const Arithmetic arithmetic;
        Unlocked unlocked;
        kernels.add_transposed(a, r, out);
      },
      "a"_a, "r"_a, "out"_a, "Add Aᵀ r to ``out`` (g,), of A (m, g).");
  m.def(
      "add_covariances",
      [](Read<2> a, Read<2> p, Read<1> weights, Index first, Index stop, Written<2> out) {
        const Index n = p.shape(0), k = p.shape(1), g = a.shape(1);
        require(k >= 1, "there must be a class at least");
        require(a.shape(0) == n * k, "a must have a row for every row and class");
        require("weights", weights, {n});
        require("out", out, {g, g});
        require(first >= 0 && first % 4 == 0 && first <= stop && stop <= g,
                "rows are those of out from first, a multiple of 4, to stop");
        const Arithmetic arithmetic;
        Unlocked unlocked;
        kernels.add_covariances(a, p, weights, first, stop, out);
      },
      "a"_a, "p"_a, "weights"_a, "first"_a, "stop"_a, "out"_a,
      "Add Σ_i ω_i (Σ_c p_ic ℓ_ic ℓ_icᵀ − m_i m_iᵀ), m_i = Σ_c p_ic ℓ_ic, to ``out`` (g, g).\n\n"
      "ℓ_ic is row i k + c of A (n k, g), p (n, k) adds up to 1 in every row, ω are ``weights``\n"
      "(n,). Of the rows above the diagonal those from ``first``, a multiple of 4, to ``stop`` "
      "are\n"
      "added, and what is symmetric to them.");
  m.def(
      "place_terms",
      [](Array<const double, 2, Order::any> terms, Array<const std::int64_t, 1> place,
         double lowest, Written<3> out) {
        const Index n = out.shape(0), k = out.shape(1), g = out.shape(2);
        require("terms", terms, {g * k, place.shape(0)});
        require_between("place", place, 0, n);
        Unlocked unlocked;
        kernels.place_terms(terms, place, lowest, out);
      },
      "terms"_a, "place"_a, "lowest"_a, "out"_a,
      "Write what g terms say of m rows under k classes, (g k, m), term by term, to rows of "
      "``out``\n"
      "(n, k, g), of the ith to that at ``place`` i; what is below ``lowest`` is raised to it.");
}

}  // namespace suffice::bindings
