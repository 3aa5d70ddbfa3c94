#include "linear/coordinate.hpp"

#include "bindings/arrays.hpp"
#include "bindings/bindings.hpp"

namespace suffice::bindings {

void define_coordinate(nb::module_ m) {
  static const CoordinateKernels& kernels = CHOSEN(coordinate);
  m.doc() = "Coordinate descent on a quadratic with a penalty of absolute values.";

  m.def(
      "sweep",
      [](Read<2> hessian, Read<1> cost, bool nonnegative, Written<1> x, Written<1> gradient) {
        const Index p = x.shape(0);
        require("hessian", hessian, {p, p});
        require("cost", cost, {p});
        require("gradient", gradient, {p});
        Unlocked unlocked;
        kernels.sweep(hessian, cost, nonnegative, x, gradient);
      },
      "hessian"_a, "cost"_a, "nonnegative"_a, "x"_a, "gradient"_a,
      "Move each coordinate of x (p,) in turn to its minimum of gᵀx + ½ xᵀHx + Σⱼ cⱼ|xⱼ|.\n\n"
      "``x`` and the ``gradient`` g + Hx (p,) change in place. A coordinate without curvature\n"
      "stays. With ``nonnegative``, x ≥ 0 only.");
}

}  // namespace suffice::bindings
