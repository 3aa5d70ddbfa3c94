// Densities of one column of numbers in every class, and what they say of a number held out.
//
// Where numbers were counted: n_cm of class c at place m, N_c of a class.
#pragma once
#include "levels.hpp"
#include "views.hpp"

namespace suffice {

// The moments of a column in every class, and the mean and variance of the prior.
struct ColumnMoments {
  Vector<const double> count, mean, scatter;
  double mean0, variance0;
};

// log p(x | c), (k, m), and the same where class c has one number less, that at x.
struct LogDensities {
  Matrix<double> all, without_one;
};

struct Densities {
  // Write those of the Gaussian's posterior predictive.
  void (*student)(Vector<const double> x, ColumnMoments moments, LogDensities logs);

  // Write Σ_q n_cq N(x_i; x_q, h_c²), (k, b), of every class c, which has n_cq numbers at x_q.
  void (*sum_kernels)(Vector<const double> x, Matrix<const double> count,
                      Vector<const double> bandwidth, Matrix<double> sums);

  // Write log (sum + broad)/(N_c + 1), and the same without the kernel at x, of classes that have
  // numbers.
  void (*kernel_logs)(Matrix<const double> sums, Vector<const double> count,
                      Vector<const double> bandwidth, Vector<const double> broad,
                      LogDensities logs);

  // Return Σ −log P(c | x) over all numbers, each left out of the density of its own class.
  double (*log_losses)(Matrix<const double> count, Matrix<const double> logs,
                       Matrix<const double> without_one);
};

EVERY_LEVEL(Densities, densities)

}  // namespace suffice
