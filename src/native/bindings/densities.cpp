#include "densities.hpp"

#include "bindings/arrays.hpp"
#include "bindings/bindings.hpp"

namespace suffice::bindings {

static const Densities* kernels;

static void student(Read<1> x, Read<1> count, Read<1> mean, Read<1> scatter, double mean0,
                    double variance0, Written<2> logs, Written<2> without_one) {
  const Index k = count.shape(0), m = x.shape(0);
  require("mean", mean, {k});
  require("scatter", scatter, {k});
  require("logs", logs, {k, m});
  require("without_one", without_one, {k, m});
  Unlocked unlocked;
  kernels->student(x, {count, mean, scatter, mean0, variance0}, {logs, without_one});
}

static void sum_kernels(Read<1> x, Read<2> count, Read<1> bandwidth, Written<2> sums) {
  const Index k = count.shape(0), b = x.shape(0);
  require("count", count, {k, b});
  require("bandwidth", bandwidth, {k});
  require("sums", sums, {k, b});
  Unlocked unlocked;
  kernels->sum_kernels(x, count, bandwidth, sums);
}

static void kernel_logs(Read<2> sums, Read<1> count, Read<1> bandwidth, Read<1> broad,
                        Written<2> logs, Written<2> without_one) {
  const Index k = count.shape(0), b = broad.shape(0);
  require("sums", sums, {k, b});
  require("bandwidth", bandwidth, {k});
  require("logs", logs, {k, b});
  require("without_one", without_one, {k, b});
  Unlocked unlocked;
  kernels->kernel_logs(sums, count, bandwidth, broad, {logs, without_one});
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
      "student", &student, "x"_a, "count"_a, "mean"_a, "scatter"_a, "mean0"_a, "variance0"_a,
      "logs"_a, "without_one"_a,
      "Write log p(x | c), (k, m), of the Gaussian's posterior predictive by the moments of each\n"
      "class (k,) and a prior, and the same where class c has one number less, that at x.");
  m.def(
      "sum_kernels", &sum_kernels, "x"_a, "count"_a, "bandwidth"_a, "sums"_a,
      "Write Σ_q n_cq N(x_i; x_q, h_c²), (k, b), of every class, which has n_cq numbers at x_q: x\n"
      "ascends.");
  m.def("kernel_logs", &kernel_logs, "sums"_a, "count"_a, "bandwidth"_a, "broad"_a, "logs"_a,
        "without_one"_a,
        "Write log (sum + broad)/(N_c + 1), (k, b), and the same without the kernel at x, of the\n"
        "classes with N_c > 0 numbers.");
  m.def(
      "log_losses", &log_losses, "count"_a, "logs"_a, "without_one"_a,
      "Return Σ −log P(c | x) over all numbers, (k, m) of them at m places, each left out of the\n"
      "density of its own class.");
}

}  // namespace suffice::bindings
