#include "gram.hpp"

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
      "add_gram",
      [](Read<2> a, Read<1> v, Written<2> out) {
        require("v", v, {a.shape(0)});
        require("out", out, {a.shape(1), a.shape(1)});
        const Arithmetic arithmetic;
        Unlocked unlocked;
        kernels.add_gram(a, v, out);
      },
      "a"_a, "v"_a, "out"_a, "Add Aᵀ diag(v) A to ``out`` (g, g), of A (m, g).");
}

}  // namespace suffice::bindings
