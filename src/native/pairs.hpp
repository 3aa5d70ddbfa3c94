// The formulas of pairs, one by one: tests hold them against those of `error_free.py`.
#pragma once
#include "levels.hpp"
#include "views.hpp"

namespace suffice {

struct PairFormulas {
  double (*fma)(double a, double b, double c);
  // Each writes its pair to `result`.
  void (*two_sum)(double a, double b, double* result);
  void (*two_product)(double a, double b, double* result);
  void (*add)(const double* a, const double* b, double* result);
  void (*multiply)(const double* a, const double* b, double* result);
  void (*divide)(const double* a, const double* b, double* result);
};

EVERY_LEVEL(PairFormulas, pairs)

}  // namespace suffice
