// Densities of one column of numbers in every class, and what they say of a number held out.
//
// Where numbers were counted: n_cm of class c at place m, N_c of a class.
#pragma once
#include "support/levels.hpp"
#include "support/views.hpp"

namespace suffice {

// log p(x | c), (k, m), and the same where class c has one number less, that at x.
struct LogDensities {
  Matrix<double> all, without_one;
};

// Neighbouring cells: their bounds (m,), and the numbers of each class in them (k, m).
struct GivenCells {
  Vector<const double> low, high;
  Matrix<const double> count;
};
struct WrittenCells {
  Vector<double> low, high;
  Matrix<double> count;
};

// How broad kernels are: min(s_c, (q₃ − q₁)_c / 1.34) and N_c^(−1/5), (k,), and a broad one, (b,).
struct KernelShape {
  Vector<double> spreads, narrower, broad;
};

struct Densities {
  // Write the shape of kernels at b ascending numbers. Returns their deviation from their mean.
  double (*kernel_shape)(Vector<const double> x, Matrix<const double> count, KernelShape shape);

  // Write log (Σ_q n_cq N(x_i; x_q, h_c²) + broad_i)/(N_c + 1), (k, b), and the same without the
  // kernel at x_i. A class without numbers has the density of all.
  void (*kernel_logs)(Vector<const double> x, Matrix<const double> count,
                      Vector<const double> bandwidth, Vector<const double> broad,
                      LogDensities logs);

  // Join cells: each of those written begins with the first, or one of the ascending `cuts`.
  void (*merge)(GivenCells cells, Vector<const std::int64_t> cuts, WrittenCells merged);

  // Write s q_b, q_b = (N_b + ½)/(N + ½ m) of m bins: s is the power of 2 from ½ to 4,096 that
  // maximises the evidence Π_c ∫ p(data | θ_c) Dirichlet(θ_c; s q) dθ_c.
  void (*back_off)(Matrix<const double> count, Vector<double> prior);

  // Write the log densities of bins, (count + prior)/(N_c + Σ prior) over their widths.
  void (*bin_logs)(GivenCells bins, Vector<const double> prior, LogDensities logs);

  // Return Σ −log P(c | x) over all numbers, each left out of the density of its own class.
  double (*log_losses)(Matrix<const double> count, Matrix<const double> logs,
                       Matrix<const double> without_one);
};

EVERY_LEVEL(Densities, densities)

}  // namespace suffice
