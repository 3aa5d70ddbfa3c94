#include "densities/densities.hpp"

#include "bindings/arrays.hpp"
#include "bindings/bindings.hpp"

namespace suffice::bindings {

static const Densities* kernels;

static double kernel_shape(Read<1> x, Read<2> count, Written<1> spreads, Written<1> narrower,
                           Written<1> broad) {
  const Index k = count.shape(0), b = x.shape(0);
  require(b > 0, "there is a number");
  require("count", count, {k, b});
  require("spreads", spreads, {k});
  require("narrower", narrower, {k});
  require("broad", broad, {b});
  Unlocked unlocked;
  return kernels->kernel_shape(x, count, {spreads, narrower, broad});
}

static void kernel_logs(Read<1> x, Read<2> count, Read<1> bandwidth, Read<1> broad, Written<2> logs,
                        Written<2> without_one) {
  const Index k = count.shape(0), b = x.shape(0);
  require(b > 0, "there is a number");
  require("count", count, {k, b});
  require("bandwidth", bandwidth, {k});
  require("broad", broad, {b});
  require("logs", logs, {k, b});
  require("without_one", without_one, {k, b});
  Unlocked unlocked;
  kernels->kernel_logs(x, count, bandwidth, broad, {logs, without_one});
}

static void merge(Read<1> low, Read<1> high, Read<2> count, Array<const std::int64_t, 1> cuts,
                  Written<1> new_low, Written<1> new_high, Written<2> new_count) {
  const Index k = count.shape(0), m = low.shape(0), b = cuts.shape(0) + 1;
  require("high", high, {m});
  require("count", count, {k, m});
  require("new_low", new_low, {b});
  require("new_high", new_high, {b});
  require("new_count", new_count, {k, b});
  const Vector<const std::int64_t> places = cuts;
  for (Index i = 0, before = 0; i < b; ++i) {
    const Index next = i < b - 1 ? places[i] : m;
    require(next > before && next <= m, "cuts ascend, between the first cell and the last");
    before = next;
  }
  Unlocked unlocked;
  kernels->merge({low, high, count}, places, {new_low, new_high, new_count});
}

static void back_off(Read<2> count, Written<1> prior) {
  require("prior", prior, {static_cast<Index>(count.shape(1))});
  Unlocked unlocked;
  kernels->back_off(count, prior);
}

static void bin_logs(Read<1> low, Read<1> high, Read<2> count, Read<1> prior, Written<2> logs,
                     Written<2> without_one) {
  const Index k = count.shape(0), b = low.shape(0);
  require("high", high, {b});
  require("count", count, {k, b});
  require("prior", prior, {b});
  require("logs", logs, {k, b});
  require("without_one", without_one, {k, b});
  Unlocked unlocked;
  kernels->bin_logs({low, high, count}, prior, {logs, without_one});
}

static double log_losses(Read<2> count, Read<2> logs, Read<2> without_one) {
  const Index k = count.shape(0), m = count.shape(1);
  require(k > 0, "there is a class");
  require("logs", logs, {k, m});
  require("without_one", without_one, {k, m});
  Unlocked unlocked;
  return kernels->log_losses(count, logs, without_one);
}

void define_densities(nb::module_ m) {
  kernels = &CHOSEN(densities);
  m.doc() = "Densities of one column of numbers in every class, and of a number held out.";
  m.def(
      "kernel_shape", &kernel_shape, "x"_a, "count"_a, "spreads"_a, "narrower"_a, "broad"_a,
      "Write how broad the kernels of each class are: the smaller of two measures of its spread,\n"
      "and N_c^(−1/5), (k,); and the broad kernel at b ascending numbers. Returns the deviation "
      "of\n"
      "all of these from their mean.");
  m.def(
      "kernel_logs", &kernel_logs, "x"_a, "count"_a, "bandwidth"_a, "broad"_a, "logs"_a,
      "without_one"_a,
      "Write log (Σ_q n_cq N(x_i; x_q, h_c²) + broad_i)/(N_c + 1), (k, b), where class c has n_cq\n"
      "numbers at x_q, and the same without the kernel at x: x ascends, and each broad_i is above\n"
      "0. A class without numbers has the density of all.");
  m.def(
      "merge", &merge, "low"_a, "high"_a, "count"_a, "cuts"_a, "new_low"_a, "new_high"_a,
      "new_count"_a,
      "Write the bounds (b,) and the counts (k, b) of fewer cells, each of which begins with one\n"
      "of the ascending cuts, or the first.");
  m.def("back_off", &back_off, "count"_a, "prior"_a,
        "Write s q of b bins, q = (N_b + ½)/(N + ½ b): s is the power of 2 from ½ to 4,096 of the\n"
        "greatest evidence Π_c ∫ p(data | θ_c) Dirichlet(θ_c; s q) dθ_c.");
  m.def(
      "bin_logs", &bin_logs, "low"_a, "high"_a, "count"_a, "prior"_a, "logs"_a, "without_one"_a,
      "Write the log densities (k, b) of bins, (count + prior)/(N_c + Σ prior) over their widths,\n"
      "and the same where class c has one number less in the bin.");
  m.def(
      "log_losses", &log_losses, "count"_a, "logs"_a, "without_one"_a,
      "Return Σ −log P(c | x) over all numbers, (k, m) of them at m places, each left out of the\n"
      "density of its own class.");
}

}  // namespace suffice::bindings
