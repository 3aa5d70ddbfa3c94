#include "linear/coordinate.hpp"

#include "support/interrupts.hpp"

namespace suffice::LEVEL {
namespace {

// argmin ½(x − z)² + c|x|.
INLINE double soft_threshold(double z, double c, bool nonnegative) {
  if (z > c) return z - c;
  if (z < -c && !nonnegative) return z + c;
  return 0.0;
}

void sweep(Matrix<const double> hessian, Vector<const double> cost, bool nonnegative,
           Vector<double> x, Vector<double> gradient) {
  const Index p = x.shape[0];
  Work work;
  for (Index j = 0; j < p; ++j) {
    const double curvature = hessian(j, j);
    if (!(curvature > 0.0)) continue;
    const double middle = curvature * x[j] - gradient[j];
    const double reached = soft_threshold(middle, cost[j], nonnegative) / curvature;
    const double step = reached - x[j];
    if (step == 0.0) continue;
    x[j] = reached;
    const double* row = hessian.at + j * p;
    for (Index i = 0; i < p; ++i) gradient[i] += step * row[i];
    work.done(p);
  }
}

}  // namespace

extern const CoordinateKernels coordinate{sweep};

}  // namespace suffice::LEVEL
