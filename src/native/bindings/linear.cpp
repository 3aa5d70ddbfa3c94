#include "scores/linear.hpp"

#include "bindings/arrays.hpp"
#include "bindings/bindings.hpp"

namespace suffice::bindings {

static void require_terms(const AnyRows& x, const Read<1>& origin, const Read<2>& slope,
                          const Read<1>& constant, const Scores& out) {
  const Index k = constant.shape(0), d = x.shape(1);
  require("origin", origin, {d});
  require("slope", slope, {k, d});
  require("out", out, {x.shape(0), k});
}

void define_linear(nb::module_ m) {
  static const LinearKernels& kernels = CHOSEN(linear);
  m.doc() =
      "Linear functions of rows: eight rows are the lanes, and a tile of functions shares them.";

  m.def(
      "add_complete",
      [](const AnyRows& x, Read<1> origin, Read<2> slope, Read<1> constant, Array<bool, 1> done,
         Scores out) {
        require_terms(x, origin, slope, constant, out);
        require("done", done, {x.shape(0)});
        Unlocked unlocked;
        return kernels.add_complete(x, origin, slope, constant, done, out);
      },
      "x"_a, "origin"_a, "slope"_a, "constant"_a, "done"_a, "out"_a,
      "Add (x − o)ᵀ slope_c + constant_c, of slopes (k, d), to ``out`` (n, k) of complete rows.\n\n"
      "They are marked as ``done`` (n,). Returns −1, or the first of a tile of rows one of\n"
      "which holds a number too large to be squared.");

  m.def(
      "write",
      [](const AnyRows& x, Read<1> origin, Read<2> slope, Read<1> constant, Scores out) {
        require_terms(x, origin, slope, constant, out);
        Unlocked unlocked;
        kernels.write(x, origin, slope, constant, out);
      },
      "x"_a, "origin"_a, "slope"_a, "constant"_a, "out"_a,
      "Write (x − o)ᵀ slope_c + constant_c, of slopes (k, d), to ``out`` (n, k), of any rows.\n\n"
      "Where a cell is no finite number, the results of its row are none.");
}

}  // namespace suffice::bindings
