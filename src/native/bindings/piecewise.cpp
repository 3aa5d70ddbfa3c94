#include "scores/piecewise.hpp"

#include "bindings/arrays.hpp"
#include "bindings/bindings.hpp"

namespace suffice::bindings {

void define_piecewise(nb::module_ m) {
  static const Piecewise& kernels = CHOSEN(piecewise);
  m.doc() = "Log densities that are constant in bins.";

  m.def(
      "add",
      [](Rows x, Codes start, Read<1> low, Read<2> logs, Scores out) {
        const Index d = x.shape(1), bins = low.shape(0);
        require("start", start, {d + 1});
        require("logs", logs, {out.shape(1), bins});
        require("out", out, {x.shape(0), logs.shape(0)});
        const Vector<const std::int64_t> begins = start;
        require(begins[0] == 0 && begins[d] == bins, "start goes from 0 to the number of bins");
        for (Index j = 0; j < d; ++j) require(begins[j] < begins[j + 1], "every column has a bin");
        Unlocked unlocked;
        return kernels.add(x, start, low, logs, out);
      },
      "x"_a, "start"_a, "low"_a, "logs"_a, "out"_a,
      "Add Σⱼ logs[c, b(x[i, j])] to ``out`` (n, k): b(x) is the last bin of column j that begins\n"
      "not above x, or the first. Its bins are those from ``start[j]`` on.\n\n"
      "NaN adds nothing. Returns −1, or the first of some rows one of which holds an infinite\n"
      "number.");
}

}  // namespace suffice::bindings
