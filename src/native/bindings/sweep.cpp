#include "linear/sweep.hpp"

#include "bindings/arrays.hpp"
#include "bindings/bindings.hpp"

namespace suffice::bindings {

// Whether the groups of the cells follow each other, from the first of n groups on.
static bool in_order(const Codes& start, Index n) {
  const std::int64_t* at = start.at();
  const Index cells = start.shape(0) - 1;
  bool sorted = at[0] >= 0 && at[cells] <= n;
  for (Index i = 0; i < cells; ++i) sorted &= at[i] <= at[i + 1];
  return sorted;
}

static void expect(Array<const bool, 2> observed, Codes start, Codes matrix, Codes place,
                   Read<3> products, Codes code, Read<1> weight, Read<2> mean, Read<3> covariance,
                   Written<2> x, Written<3> scatter, Written<1> log_likelihood) {
  static const SweepKernels& kernels = CHOSEN(sweep);
  const Index cells = observed.shape(0), groups = x.shape(0), d = x.shape(1);
  const Index s = covariance.shape(0), k = mean.shape(0);
  require("observed", observed, {cells, d});
  require("start", start, {cells + 1});
  require("matrix", matrix, {cells});
  require("place", place, {cells});
  require("products", products, {products.shape(0), d, d});
  require("code", code, {groups});
  require("weight", weight, {groups});
  require("mean", mean, {k, d});
  require("covariance", covariance, {s, d, d});
  require("scatter", scatter, {s, d, d});
  require("log_likelihood", log_likelihood, {cells});
  require(in_order(start, groups), "start must be where the groups of every cell begin, in order");
  require_between("matrix", matrix, 0, s);
  require_between("place", place, -1, products.shape(0));
  require_between("code", code, 0, k);
  Unlocked unlocked;
  kernels.expect({observed, start.at(), matrix.at(), place.at(), products}, code.at(), weight.at(),
                 mean, covariance, x, scatter, log_likelihood.at());
}

static void add_scatter(Read<2> x, Codes code, Read<1> weight, Read<2> mean, Written<3> scatter) {
  static const SweepKernels& kernels = CHOSEN(sweep);
  const Index g = x.shape(0), d = x.shape(1), k = mean.shape(0), s = scatter.shape(0);
  require(s == 1 || s == k, "there must be one scatter, or one of every class");
  require("code", code, {g});
  require("weight", weight, {g});
  require("mean", mean, {k, d});
  require("scatter", scatter, {s, d, d});
  require_between("code", code, 0, k);
  Unlocked unlocked;
  kernels.add_scatter(x, code.at(), weight.at(), mean, scatter);
}

void define_sweep(nb::module_ m) {
  m.doc() =
      "What rows with missing cells are expected to add to the sums of complete rows.\n\n"
      "Conventions: d features. Rows form *cells*: all those that show the same columns o, and\n"
      "lack the others m, under the same covariance Σ. A cell holds groups of rows, one for\n"
      "each of its classes.";
  m.def("expect", &expect, "observed"_a, "start"_a, "matrix"_a, "place"_a, "products"_a, "code"_a,
        "weight"_a, "mean"_a, "covariance"_a, "x"_a, "scatter"_a, "log_likelihood"_a,
        "Fill in the missing columns of groups of rows, and add what their cells scatter.\n\n"
        "Cell i shows the columns ``observed[i]`` (d,), has the groups from ``start[i]`` to\n"
        "``start[i + 1]``, the covariance ``covariance[matrix[i]]``, and the scatter of its\n"
        "groups, each about its own mean, at ``products[place[i]]``; −1 where that is 0.\n\n"
        "Group g is of class ``code[g]``, has the total ``weight[g]`` and the mean ``x[g]``\n"
        "(d,), to whose missing columns the expected ones are written. A S Aᵀ + nC is added to\n"
        "``scatter[matrix[i]]``, and the log-likelihood of the cell is written to\n"
        "``log_likelihood[i]``.");
  m.def("add_scatter", &add_scatter, "x"_a, "code"_a, "weight"_a, "mean"_a, "scatter"_a,
        "Add w (x − μ)(x − μ)ᵀ of rows x (g, d), with the mean (k, d) of the class of each, to\n"
        "``scatter`` (s, d, d): to that of its class, or to the only one.");
}

}  // namespace suffice::bindings
