#include "scores/posterior.hpp"

#include "bindings/arrays.hpp"
#include "bindings/bindings.hpp"

namespace suffice::bindings {

void define_posterior(nb::module_ m) {
  static const Posterior& kernels = CHOSEN(posterior);
  m.doc() =
      "Posteriors of log joints a (n, k) in any order, with the same bits whatever rows stand "
      "around.";

  m.def(
      "log_sum_exp",
      [](Rows a, Written<1> out) {
        require("out", out, {a.shape(0)});
        Unlocked unlocked;
        kernels.log_sum_exp(a, out.at());
      },
      "a"_a, "out"_a,
      "Write m + log Σ_c exp(a_c − m), m = max_c a_c, of every row to ``out`` (n,).");

  m.def(
      "log_normalise",
      [](Rows a, Read<1> log_prior, Scores out) {
        require("log_prior", log_prior, {a.shape(1)});
        require("out", out, {a.shape(0), a.shape(1)});
        Unlocked unlocked;
        return kernels.log_normalise(a, log_prior, out);
      },
      "a"_a, "log_prior"_a, "out"_a,
      "Write a_c − log Σ_c exp(a_c) to ``out`` (n, k), which may be a.\n\n"
      "Rows of which every a_c is −∞ are answered by ``log_prior`` (k,), and counted.");

  m.def(
      "normalise",
      [](Scores a, Read<1> prior) {
        require("prior", prior, {a.shape(1)});
        Unlocked unlocked;
        return kernels.normalise(a, prior);
      },
      "a"_a, "prior"_a,
      "Write exp(a_c − m) / Σ_c exp(a_c − m), m = max_c a_c, over a.\n\n"
      "Rows of which every a_c is −∞ are answered by ``prior`` (k,), and counted.");
}

}  // namespace suffice::bindings
