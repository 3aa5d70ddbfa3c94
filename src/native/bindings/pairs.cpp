#include "pairs.hpp"

#include <nanobind/nanobind.h>

#include "arithmetic.hpp"
#include "bindings/bindings.hpp"

namespace suffice::bindings {

namespace nb = nanobind;
using namespace nb::literals;

static nb::typed<nb::tuple, double, double> as_tuple(const double* pair) {
  return nb::make_tuple(pair[0], pair[1]);
}

void define_pairs(nb::module_ m) {
  static const PairFormulas& kernels = CHOSEN(pairs);
  m.doc() = "The compiled formulas of ``error_free.py``, one by one: for tests.";
  m.def("fma", kernels.fma, "a"_a, "b"_a, "c"_a, "Return fl(a · b + c), rounded once.");
  const auto of_two = [&m](const char* name, auto formula, const char* text) {
    m.def(
        name,
        [formula](double a, double b) {
          const Arithmetic arithmetic;
          double result[2];
          formula(a, b, result);
          return as_tuple(result);
        },
        "a"_a, "b"_a, text);
  };
  of_two("two_sum", kernels.two_sum, "Return fl(a + b) and its error.");
  of_two("two_product", kernels.two_product, "Return fl(a · b) and its error.");
  const auto of_pairs = [&m](const char* name, auto formula, const char* text) {
    m.def(
        name,
        [formula](double a, double a_lo, double b, double b_lo) {
          const double first[2] = {a, a_lo}, second[2] = {b, b_lo};
          const Arithmetic arithmetic;
          double result[2];
          formula(first, second, result);
          return as_tuple(result);
        },
        "a"_a, "a_lo"_a, "b"_a, "b_lo"_a, text);
  };
  of_pairs("add", kernels.add, "Return the pair (a + a_lo) + (b + b_lo).");
  of_pairs("multiply", kernels.multiply, "Return the pair (a + a_lo) · (b + b_lo).");
  of_pairs("divide", kernels.divide, "Return the pair (a + a_lo) / (b + b_lo).");
}

}  // namespace suffice::bindings
