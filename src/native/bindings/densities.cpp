#include "densities.hpp"

#include "bindings/arrays.hpp"
#include "bindings/bindings.hpp"

namespace suffice::bindings {

void define_densities(nb::module_ m) {
  static const Densities& kernels = CHOSEN(densities);
  m.doc() = "Gaussian kernels at the numbers of a column, added up.";

  m.def(
      "sum_kernels",
      [](Read<1> x, Read<2> count, Read<1> bandwidth, Written<2> sums) {
        const Index k = count.shape(0), b = x.shape(0);
        require("count", count, {k, b});
        require("bandwidth", bandwidth, {k});
        require("sums", sums, {k, b});
        Unlocked unlocked;
        kernels.sum_kernels(x, count, bandwidth, sums);
      },
      "x"_a, "count"_a, "bandwidth"_a, "sums"_a,
      "Write Σ_q n_cq N(x_i; x_q, h_c²), (k, b), of every class, which has n_cq numbers at x_q: x "
      "ascends.");
}

}  // namespace suffice::bindings
