#include "pairs.hpp"

#include "double_double.hpp"

namespace suffice::LEVEL {
namespace {

using Number = Pair<double>;

Number pair_at(const double* at) { return {at[0], at[1]}; }
void keep(double* at, Number value) { at[0] = value.hi, at[1] = value.lo; }

double fused(double a, double b, double c) { return fma(a, b, c); }
void sum(double a, double b, double* result) { keep(result, two_sum(a, b)); }
void product(double a, double b, double* result) { keep(result, two_product(a, b)); }

void add(const double* a, const double* b, double* result) {
  keep(result, pair_at(a) + pair_at(b));
}

void multiply(const double* a, const double* b, double* result) {
  keep(result, pair_at(a) * pair_at(b));
}

void divide(const double* a, const double* b, double* result) {
  keep(result, pair_at(a) / pair_at(b));
}

}  // namespace

extern const PairFormulas pairs{fused, sum, product, add, multiply, divide};

}  // namespace suffice::LEVEL
