#include "densities.hpp"

#include "elementary_functions.hpp"
#include "interrupts.hpp"
#include "memory.hpp"

namespace suffice::LEVEL {
namespace {

constexpr double ROOT_OF_2PI = 2.5066282746310002;
constexpr double FARTHEST = 39.0;  // deviations, beyond which a Gaussian is 0 in double

void sum_kernels(Vector<const double> x, Matrix<const double> count, Vector<const double> bandwidth,
                 Matrix<double> sums) {
  const Index b = x.size(), padded = (b + LANES - 1) / LANES * LANES;
  const Buffer<double> at(padded), weight(padded);  // zeros behind those that are copied
  copy<double>(at, x.at, b);
  Work work;
  for (Index c = 0; c < count.shape[0]; ++c) {
    copy<double>(weight, &count(c, 0), b);
    const double h = bandwidth[c], height = 1.0 / (ROOT_OF_2PI * h);
    const Lanes per_h = splat(1.0 / h), factor = splat(-0.5);
    const double reach = FARTHEST * h;
    for (Index i = 0, start = 0; i < b; ++i) {
      Lanes sum = splat(0.0);
      while (start < i && x[start] < x[i] - reach) ++start;  // those before it add 0
      for (Index q = start / LANES * LANES; q < padded && !(at[q] > x[i] + reach); q += LANES) {
        const Lanes distance = (load(at + q) - splat(x[i])) * per_h;
        sum += load(weight + q) * exp(distance * distance * factor);
      }
      sums(c, i) = total(sum) * height;
      work.done(4 * padded);
    }
  }
}

}  // namespace

extern const Densities densities{sum_kernels};

}  // namespace suffice::LEVEL
