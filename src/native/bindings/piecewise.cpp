#include "scores/piecewise.hpp"

#include "bindings/arrays.hpp"
#include "bindings/bindings.hpp"

namespace suffice::bindings {

// Every column has bins, one column after the other.
static void require_bins(const Codes& start, const Read<1>& low, Index d) {
  require("start", start, {d + 1});
  const Vector<const std::int64_t> begins = start;
  bool follow = begins[0] >= 0 && begins[d] <= low.shape(0);
  for (Index j = 0; j < d; ++j) follow = follow && begins[j] < begins[j + 1];
  require(follow, "every column needs a bin, one column after the other");
}

void define_piecewise(nb::module_ m) {
  static const Piecewise& kernels = CHOSEN(piecewise);
  m.doc() = "Log densities that are constant in bins.";

  m.def(
      "add",
      [](Rows x, Codes start, Read<1> low, Read<2> logs, Scores out) {
        const Index d = x.shape(1), bins = low.shape(0);
        require("logs", logs, {out.shape(1), bins});
        require("out", out, {x.shape(0), logs.shape(0)});
        require_bins(start, low, d);
        Unlocked unlocked;
        return kernels.add(x, start, low, logs, out);
      },
      "x"_a, "start"_a, "low"_a, "logs"_a, "out"_a,
      "Add Σⱼ logs[c, b(x[i, j])] to ``out`` (n, k): b(x) is the last bin of column j that begins\n"
      "not above x, or the first. Its bins are those from ``start[j]`` on.\n\n"
      "NaN adds nothing. Returns −1, or the first of some rows one of which holds an infinite\n"
      "number.");
  m.def(
      "terms",
      [](Rows x, Codes start, Read<1> low, Read<2> logs, Written<3> terms) {
        const Index d = x.shape(1);
        require_bins(start, low, d);
        require("logs", logs, {terms.shape(1), low.shape(0)});
        require("terms", terms, {d, logs.shape(0), x.shape(0)});
        Unlocked unlocked;
        kernels.terms(x, start, low, logs, terms);
      },
      "x"_a, "start"_a, "low"_a, "logs"_a, "terms"_a,
      "Write the terms of which `add` adds those of a row, (d, k, n); 0 where x is NaN.");
}

}  // namespace suffice::bindings
