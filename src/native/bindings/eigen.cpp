#include "linear/eigen.hpp"

#include "bindings/arrays.hpp"
#include "bindings/bindings.hpp"

namespace suffice::bindings {

void define_eigen(nb::module_ m) {
  static const Eigen& kernels = CHOSEN(eigen);
  m.doc() = "Eigenvalues and eigenvectors of symmetric matrices.";

  m.def(
      "symmetric",
      [](Written<3> a, Written<2> values) {
        const Index s = a.shape(0), d = a.shape(1);
        require("a", a, {s, d, d});
        require("values", values, {s, d});
        Unlocked unlocked;
        return kernels.symmetric(a, values);
      },
      "a"_a, "values"_a,
      "Replace finite matrices a (s, d, d) by their eigenvectors, row by row.\n\n"
      "Lower triangles are read. ``values`` (s, d) are the eigenvalues, the least first. Returns\n"
      "whether all iterations converged.");
}

}  // namespace suffice::bindings
