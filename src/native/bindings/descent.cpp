#include "linear/descent.hpp"

#include <nanobind/stl/variant.h>

#include <variant>

#include "bindings/arrays.hpp"
#include "bindings/bindings.hpp"

namespace suffice::bindings {

using Targets = std::variant<Read<2>, Codes>;

static const DescentKernels& kernels() { return CHOSEN(descent); }

// Check what both functions share; t is of m targets, or of the classes.
static DescentRows rows_of(const Read<2>& table, const Targets& targets, const Read<1>& weights,
                           const Codes& order, const Read<1>& center, const Read<1>& inverse,
                           const Written<1>& z, const Written<1>& t, const Written<1>& loss) {
  const Index n = table.shape(0), p = center.shape(0), m = t.shape(0);
  require(table.shape(1) >= p, "the table must have a column for every centre");
  require(m >= 1, "there must be a score at least");
  require("weights", weights, {n});
  require("inverse", inverse, {p});
  require("z", z, {1 + p});
  require_between("order", order, 0, n);
  DescentRows rows{table, {}, nullptr, weights.at(), center.at(), inverse.at()};
  if (const auto* numbers = std::get_if<Read<2>>(&targets)) {
    require("targets", *numbers, {n, m});
    require("loss", loss, {m});
    rows.targets = *numbers;
  } else {
    const Codes& codes = std::get<Codes>(targets);
    require("targets", codes, {n});
    require("loss", loss, {1});
    require_between("targets", codes, 0, m == 1 ? 2 : m);
    rows.codes = codes.at();
  }
  return rows;
}

static void add_gradient(Read<2> table, Targets targets, Read<1> weights, Codes order,
                         Read<1> center, Read<1> inverse, Read<2> v, Written<1> z, Written<1> t,
                         Written<2> g, Written<1> loss) {
  const DescentRows rows = rows_of(table, targets, weights, order, center, inverse, z, t, loss);
  require("v", v, {t.shape(0), z.shape(0)});
  require("g", g, {t.shape(0), z.shape(0)});
  Unlocked unlocked;
  kernels().add_gradient(rows, order, {z.at(), t.at()}, v, g, loss.at());
}

static void descend(Read<2> table, Targets targets, Read<1> weights, Codes order, Index size,
                    Read<1> center, Read<1> inverse, Read<1> penalty, double rate, double momentum,
                    bool nesterov, Written<1> z, Written<1> t, Written<2> v, Written<2> velocity,
                    Written<1> loss, Written<2> path) {
  const DescentRows rows = rows_of(table, targets, weights, order, center, inverse, z, t, loss);
  const Index m = t.shape(0), width = z.shape(0);
  require(size >= 1, "a step must be of a row at least");
  require("penalty", penalty, {width});
  require("v", v, {m, width});
  require("velocity", velocity, {m, width});
  require("path", path, {m, width});
  Unlocked unlocked;
  kernels().descend(rows, order, {z.at(), t.at()}, {size, penalty.at(), rate, momentum, nesterov},
                    v, velocity, loss.at(), path);
}

void define_descent(nb::module_ m) {
  m.doc() =
      "Gradient descent on sums over rows: gradients, and steps after every few rows.\n\n"
      "Conventions: of a table (n, ≥ p) the first p columns are read. With centres and inverse\n"
      "units (p,) a row is standardised as it is read,\n\n"
      "    z = (constant, (x − m)/s)      t = V z\n\n"
      "with coefficients v (m, 1 + p) and ``constant`` 1 or 0. Rows are taken in a given order,\n"
      "by one thread. What the loss is follows from the targets: numbers (n, m) have squared\n"
      "errors, class codes (n,) the logistic loss.";
  m.def(
      "add_gradient", &add_gradient, "table"_a, "targets"_a, "weights"_a, "order"_a, "center"_a,
      "inverse"_a, "v"_a, "z"_a, "t"_a, "g"_a, "loss"_a,
      "Add Σ ω ℓ to ``loss`` and Σ ω ∂ℓ/∂t zᵀ to ``g`` (m, 1 + p), over the rows in\n"
      "``order``.\n\n"
      "``z`` (1 + p,) is a buffer for a row, whose first element is the constant, ``t`` (m,) for\n"
      "scores.");
  m.def("descend", &descend, "table"_a, "targets"_a, "weights"_a, "order"_a, "size"_a, "center"_a,
        "inverse"_a, "penalty"_a, "rate"_a, "momentum"_a, "nesterov"_a, "z"_a, "t"_a, "v"_a,
        "velocity"_a, "loss"_a, "path"_a,
        "Step after every ``size`` rows of ``order``: v ← v + d with d ← βd − ηg, in place.\n\n"
        "Nesterov's step is βd − ηg with that d. The ``loss`` added is that of each row before\n"
        "its step; v after every step is added to ``path``.");
}

}  // namespace suffice::bindings
