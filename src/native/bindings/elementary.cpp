#include "support/elementary.hpp"

#include "bindings/arrays.hpp"
#include "bindings/bindings.hpp"

namespace suffice::bindings {

static void define(nb::module_& m, const char* name, Elementary::Function function,
                   const char* says) {
  m.def(
      name,
      [function](Rows x, Scores out) {
        require("out", out, {x.shape(0), x.shape(1)});
        Unlocked unlocked;
        function(x, out);
      },
      "x"_a, "out"_a, says);
}

void define_elementary(nb::module_ m) {
  static const Elementary& kernels = CHOSEN(elementary);
  m.doc() =
      "exp, log, log(1 + x), log Γ and digamma: the same bits on every processor, below 2 ulp.";
  define(m, "exp", kernels.exp, "Write eˣ of x (n, d) to ``out``, which may be x.");
  define(m, "log", kernels.log, "Write log x of x (n, d) to ``out``, which may be x.");
  define(m, "log1p", kernels.log1p, "Write log(1 + x) of x (n, d) to ``out``, which may be x.");
  define(m, "lgamma", kernels.lgamma,
         "Write log Γ(x) of x (n, d) ≥ 0 to ``out``, which may be x; NaN below.");
  define(m, "digamma", kernels.digamma,
         "Write (log Γ)′(x) of x (n, d) ≥ 0 to ``out``, which may be x; NaN below.");
}

}  // namespace suffice::bindings
