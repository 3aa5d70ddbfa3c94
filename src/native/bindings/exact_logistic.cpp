#include "exact_logistic.hpp"

#include "bindings/arrays.hpp"
#include "bindings/bindings.hpp"

namespace suffice::bindings {

static const ExactLogisticKernels& kernels() { return CHOSEN(exact_logistic); }

static void add_gradient(Read<2> x, Read<1> origin, Read<1> scale, Read<2> directions, Codes codes,
                         Read<1> weights, Read<1> class_weights, Read<1> scales, Written<1> loss,
                         Written<2> weight, Written<2> checksum, Written<3> gradient) {
  const Index n = x.shape(0), d = x.shape(1), m = directions.shape(0) - 1;
  const Index k = class_weights.shape(0);
  require(m >= 1, "directions must be coefficients, and then the vector of the checksum");
  require(m == 1 ? k == 2 : k == m,
          "there must be a coefficient vector of every class, or one of two");
  require("origin", origin, {d});
  require("scale", scale, {1 + d});
  require("directions", directions, {m + 1, 1 + d});
  require("codes", codes, {n});
  if (weights.shape(0)) require("weights", weights, {n});
  require("scales", scales, {3});
  require("loss", loss, {SUM_PARTS});
  require("weight", weight, {SUM_PARTS, k});
  require("checksum", checksum, {SUM_PARTS, k});
  require("gradient", gradient, {SUM_PARTS, m, 1 + d});
  require_between("codes", codes, 0, k);
  const double* of_scales = scales.at();
  const Arithmetic arithmetic;
  Unlocked unlocked;
  kernels().add_gradient(
      {x, origin, scale, codes, weights.shape(0) ? weights.at() : nullptr, class_weights},
      directions,
      {of_scales[0], of_scales[1], of_scales[2], loss.at(), weight, checksum, gradient});
}

static void add_products(Read<2> r, Read<2> z, Written<3> gradient) {
  require("r", r, {z.shape(0), r.shape(1)});
  require("gradient", gradient, {SUM_PARTS, r.shape(1), z.shape(1)});
  const Arithmetic arithmetic;
  Unlocked unlocked;
  kernels().add_products(r, z, gradient);
}

static void add_squares(Read<1> v, Read<2> z, Written<3> hessian) {
  require("v", v, {z.shape(0)});
  require("hessian", hessian, {SUM_PARTS, z.shape(1), z.shape(1)});
  const Arithmetic arithmetic;
  Unlocked unlocked;
  kernels().add_squares(v, z, hessian);
}

static void add_columns(Read<2> v, Written<2> sums) {
  require("sums", sums, {SUM_PARTS, v.shape(1)});
  const Arithmetic arithmetic;
  Unlocked unlocked;
  kernels().add_columns(v, sums);
}

static void widen(Read<2> x, Codes codes, Written<1> least, Written<1> largest) {
  require("codes", codes, {x.shape(0)});
  require("least", least, {x.shape(1)});
  require("largest", largest, {x.shape(1)});
  Unlocked unlocked;
  kernels().widen(x, codes, least.at(), largest.at());
}

void define_exact_logistic(nb::module_ m) {
  m.doc() =
      "Sums of the logistic loss, its gradient and its Hessian that no order of rows changes.\n\n"
      "Terms are at most 1, and are cut at fixed places: to multiples of 2⁻⁴⁴, and what is left\n"
      "to multiples of 2⁻⁸⁹. A sum has four parts, which add up to it: two of each level, which\n"
      "doubles add without rounding.";
  m.def("add_gradient", &add_gradient, "x"_a, "origin"_a, "scale"_a, "directions"_a, "codes"_a,
        "weights"_a, "class_weights"_a, "scales"_a, "loss"_a, "weight"_a, "checksum"_a,
        "gradient"_a,
        "Add what one pass over rows x (n, d) says of m coefficient vectors.\n\n"
        "With z = scale · (1, x − origin): Σ w f_y ℓ to ``loss`` (4,), Σ w and Σ w cᵀz to\n"
        "``weight`` and ``checksum`` (4, k) of every class, each times one of ``scales``, and\n"
        "Σ w f_y ∂ℓ/∂t_a z to ``gradient`` (4, m, 1 + d). ``directions`` (m + 1, 1 + d) are\n"
        "the coefficients and then c; ``weights`` (n,), or (0,) for all 1; f are\n"
        "``class_weights`` (k,).");
  m.def("add_products", &add_products, "r"_a, "z"_a, "gradient"_a,
        "Add Σ r_a z of rows z (n, D) and r (n, m) to ``gradient`` (4, m, D).");
  m.def("add_squares", &add_squares, "v"_a, "z"_a, "hessian"_a,
        "Add Σ v z zᵀ to ``hessian`` (4, D, D), of which the upper triangle counts.");
  m.def("add_columns", &add_columns, "v"_a, "sums"_a, "Add Σ v of v (n, m) to ``sums`` (4, m).");
  m.def("widen", &widen, "x"_a, "codes"_a, "least"_a, "largest"_a,
        "Lower ``least`` (d,) and raise ``largest`` to the cells of rows of code 0 or more.");
}

}  // namespace suffice::bindings
