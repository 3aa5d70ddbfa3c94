#include "sums/sums.hpp"

#include "bindings/arrays.hpp"
#include "bindings/bindings.hpp"

namespace suffice::bindings {

using Apart = Array<double, 2, Order::any>;  // parts of a table of pairs

void define_sums(nb::module_ m) {
  static const Sums& kernels = CHOSEN(sums);
  m.doc() = "Sums of arrays of pairs, in one pass without temporaries.";

  m.def(
      "add_pairs",
      [](Read<1> a, Read<1> a_lo, Read<1> b, Read<1> b_lo, double sign, Written<1> hi,
         Written<1> lo) {
        const Index n = a.shape(0);
        require("a_lo", a_lo, {n});
        require("b", b, {n});
        require("b_lo", b_lo, {n});
        require("hi", hi, {n});
        require("lo", lo, {n});
        Unlocked unlocked;
        kernels.add_pairs(a, a_lo, b, b_lo, sign, hi, lo);
      },
      "a"_a, "a_lo"_a, "b"_a, "b_lo"_a, "sign"_a, "hi"_a, "lo"_a,
      "Write the pairs (a + a_lo) + sign · (b + b_lo) to ``hi`` and ``lo``, all (n,).");

  m.def(
      "normalise",
      [](Apart hi, Apart lo) {
        require("lo", lo, {hi.shape(0), hi.shape(1)});
        Unlocked unlocked;
        kernels.normalise(hi, lo);
      },
      "hi"_a, "lo"_a, "Make the pairs (k, m) hold the rounded value first, in place.");

  m.def(
      "scale",
      [](Read<3> pairs, double factor, Written<3> out) {
        require("pairs", pairs, {pairs.shape(0), 2, pairs.shape(2)});
        require("out", out, {pairs.shape(0), 2, pairs.shape(2)});
        Unlocked unlocked;
        kernels.scale(pairs, factor, out);
      },
      "pairs"_a, "factor"_a, "out"_a, "Write the pairs (m, 2, n) times a factor to ``out``.");
}

}  // namespace suffice::bindings
