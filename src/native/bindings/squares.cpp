#include "scores/squares.hpp"

#include "bindings/arrays.hpp"
#include "bindings/bindings.hpp"

namespace suffice::bindings {

void define_squares(nb::module_ m) {
  static const SquaresKernels& kernels = CHOSEN(squares);
  m.doc() = "Log-likelihoods of independent Gaussians: scaled squares of distances from the means.";

  m.def(
      "add_gaussian",
      [](const AnyRows& x, Read<2> mean, Read<2> root, Read<2> log_scale, Scores out) {
        const Index k = mean.shape(0), d = x.shape(1);
        require("mean", mean, {k, d});
        require("root", root, {k, d});
        require("log_scale", log_scale, {k, d});
        require("out", out, {x.shape(0), k});
        Unlocked unlocked;
        return kernels.add_gaussian(x, mean, root, log_scale, out);
      },
      "x"_a, "mean"_a, "root"_a, "log_scale"_a, "out"_a,
      "Add Σⱼ log_scale[c, j] − (root[c, j] (x[i, j] − mean[c, j]))² to ``out`` (n, k).\n\n"
      "NaN adds nothing. Returns −1, or the first of a tile of rows one of which holds a number\n"
      "too large to be squared.");
}

}  // namespace suffice::bindings
