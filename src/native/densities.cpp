#include "densities.hpp"

#include <algorithm>

#include "elementary_functions.hpp"
#include "interrupts.hpp"
#include "memory.hpp"

namespace suffice::LEVEL {
namespace {

constexpr double ROOT_OF_2PI = 2.5066282746310002;
constexpr double FARTHEST = 39.0;  // deviations, beyond which a Gaussian is 0 in double

// The kernel at x_q is as high at x_i as that at x_i is at x_q: of every pair of numbers it is
// computed once. Each sum has its terms in the order of q all the same, added up lane by lane.
void sum_kernels(Vector<const double> x, Matrix<const double> count, Vector<const double> bandwidth,
                 Matrix<double> sums) {
  const Index b = x.size(), padded = (b + LANES - 1) / LANES * LANES;
  const Buffer<double> at(padded), weight(padded);  // zeros behind those that are copied
  const Buffer<double> before(LANES * padded);      // of every i the terms of earlier q, by lane
  copy<double>(at, x.at, b);
  Work work;
  for (Index c = 0; c < count.shape[0]; ++c) {
    copy<double>(weight, &count(c, 0), b);
    std::fill_n(&before[0], LANES * padded, 0.0);
    const double h = bandwidth[c], height = 1.0 / (ROOT_OF_2PI * h);
    const Lanes per_h = splat(1.0 / h), factor = splat(-0.5);
    const double reach = FARTHEST * h;
    for (Index block = 0; block < b; block += LANES) {
      Lanes sum[LANES];
      for (Index lane = 0; lane < LANES; ++lane) sum[lane] = load(before + lane * padded + block);
      transpose(sum);
      for (Index i = block; i < block + LANES && i < b; ++i) {
        const Lanes here = splat(x[i]), own = splat(weight[i]);
        const auto kernel = [&](Index q) {
          const Lanes distance = (load(at + q) - here) * per_h;
          return exp(distance * distance * factor);
        };
        double* const later = before + (i - block) * padded;
        Lanes total_here = sum[i - block] + load(weight + block) * kernel(block);
        for (Index q = block + LANES; q < padded && !(at[q] > x[i] + reach); q += LANES) {
          const Lanes of_pair = kernel(q);
          total_here += load(weight + q) * of_pair;
          store(later + q, load(later + q) + own * of_pair);
        }
        sums(c, i) = total(total_here) * height;
      }
      work.done(2 * LANES * padded);
    }
  }
}

}  // namespace

extern const Densities densities{sum_kernels};

}  // namespace suffice::LEVEL
