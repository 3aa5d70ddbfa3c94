// Coordinate descent on a quadratic with a penalty of absolute values.
#pragma once
#include "support/levels.hpp"
#include "support/views.hpp"

namespace suffice {

struct CoordinateKernels {
  // One sweep over the coordinates of f(x) = gᵀx + ½ xᵀHx + Σⱼ cⱼ|xⱼ|, with H (p, p) symmetric and
  // c (p,): each in turn goes to its own minimum, x (p,) in place, and the gradient g + Hx (p,)
  // follows. A coordinate without curvature stays. With `nonnegative`, x ≥ 0 only.
  void (*sweep)(Matrix<const double> hessian, Vector<const double> cost, bool nonnegative,
                Vector<double> x, Vector<double> gradient);
};
EVERY_LEVEL(CoordinateKernels, coordinate)

}  // namespace suffice
