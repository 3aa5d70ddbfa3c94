#include "linear/logistic.hpp"

#include "bindings/arrays.hpp"
#include "bindings/compressed.hpp"
#include "bindings/bindings.hpp"

namespace suffice::bindings {

static const LogisticKernels& kernels() { return CHOSEN(logistic); }

static void loss_derivatives(Read<2> t, Codes codes, Written<1> loss, Written<2> residual,
                             Written<2> p, Written<2> other) {
  const Index n = t.shape(0), m = t.shape(1);
  require(m >= 1, "there must be a score at least");
  require("codes", codes, {n});
  require("loss", loss, {n});
  require("residual", residual, {n, m});
  require("p", p, {n, m});
  require("other", other, {n, m});
  require_between("codes", codes, 0, m == 1 ? 2 : m);
  Unlocked unlocked;
  kernels().loss_derivatives(t, codes, loss.at(), residual, p, other);
}

// Check what both kinds of rows share: n rows, and m coefficient vectors of so many numbers.
static LogisticSums sums_of(Index n, Index m, const Codes& codes, const Read<1>& weights,
                            const Read<1>& class_weights, const Written<1>& weight,
                            const Written<1>& checksum, const Written<2>& gradient) {
  const Index k = class_weights.shape(0);
  require(m == 1 ? k <= 2 : k <= m,
          "there must be a coefficient vector of every class, or one of two");
  require("codes", codes, {n});
  if (weights.shape(0)) require("weights", weights, {n});
  require("weight", weight, {k});
  require("checksum", checksum, {k});
  const double* of_rows = weights.shape(0) ? weights.at() : nullptr;
  return {of_rows, class_weights, weight.at(), checksum.at(), gradient};
}

static double add_gradient(Read<2> x, Read<1> origin, Read<2> directions, Codes codes,
                           Read<1> weights, Read<1> class_weights, Written<1> weight,
                           Written<1> checksum, Written<2> gradient) {
  const Index d = x.shape(1), m = directions.shape(0) - 1;
  require(m >= 1, "directions must be coefficients, and then the vector of the checksum");
  const LogisticSums sums =
      sums_of(x.shape(0), m, codes, weights, class_weights, weight, checksum, gradient);
  require("origin", origin, {d});
  require("directions", directions, {m + 1, 1 + d});
  require("gradient", gradient, {m, 1 + d});
  require_between("codes", codes, 0, class_weights.shape(0));
  Unlocked unlocked;
  return kernels().add_gradient(x, origin, directions, codes, sums);
}

// Call `add` with compressed rows and their sums, if all of these fit.
template <class Add>
static double add_sparse(const AnyArray<1>& indptr, const AnyArray<1>& indices,
                         const AnyArray<1>& data, const Read<2>& directions, const Codes& codes,
                         const LogisticSums& sums, const Add& add) {
  const auto starts = row_starts(indptr, codes.shape(0), data.shape(0));
  const Index k = sums.class_weights.shape[0], m = k == 2 ? 1 : k;
  const Index rows = directions.shape(0), width = directions.shape(1);
  require(rows >= 1 && width % 8 == 0 && width > m,
          "directions must have a row for every column of x, and one, padded to whole lanes");
  double loss = 0.0;
  Unlocked unlocked;
  require_between("codes", codes, -1, k);
  indices.visit<std::int32_t, std::int64_t>(
      [&](auto places) { require_between("indices", places, 0, rows - 1); });
  with_rows(data, indices, starts, [&]<class T, class I>(Compressed<T, I> x) {
    const SparseLogistic<T, I>& sparse = kernels().sparse;
    loss = add(sparse, x);
  });
  return loss;
}

static LogisticSums sparse_sums(const Read<2>& directions, const Codes& codes,
                                const Read<1>& weights, const Read<1>& class_weights,
                                const Written<1>& weight, const Written<1>& checksum,
                                const Written<2>& gradient) {
  const Index n = codes.shape(0), k = class_weights.shape(0), m = k == 2 ? 1 : k;
  require(k >= 1, "there must be a class at least");
  require("gradient", gradient, {directions.shape(0), directions.shape(1)});
  return sums_of(n, m, codes, weights, class_weights, weight, checksum, gradient);
}

static double add_sparse_gradient(AnyArray<1> indptr, AnyArray<1> indices, AnyArray<1> data,
                                  Read<2> directions, Codes codes, Read<1> weights,
                                  Read<1> class_weights, Written<1> weight, Written<1> checksum,
                                  Written<2> gradient) {
  const LogisticSums sums =
      sparse_sums(directions, codes, weights, class_weights, weight, checksum, gradient);
  return add_sparse(indptr, indices, data, directions, codes, sums, [&](auto& sparse, auto x) {
    return sparse.add_sparse_gradient(x, directions, codes, sums);
  });
}

static double add_sparse_hessian(AnyArray<1> indptr, AnyArray<1> indices, AnyArray<1> data,
                                 Read<2> directions, Codes codes, Read<1> weights,
                                 Read<1> class_weights, Written<1> weight, Written<1> checksum,
                                 Written<2> gradient, Written<2> hessian) {
  const LogisticSums sums =
      sparse_sums(directions, codes, weights, class_weights, weight, checksum, gradient);
  const Index k = class_weights.shape(0), m = k == 2 ? 1 : k, d = directions.shape(0);
  const Index pairs = m * (m + 1) / 2;
  require("hessian", hessian, {d * d, pairs == 1 ? 1 : (pairs + 7) / 8 * 8});
  return add_sparse(indptr, indices, data, directions, codes, sums, [&](auto& sparse, auto x) {
    return sparse.add_sparse_hessian(x, directions, codes, sums, hessian);
  });
}

void define_logistic(nb::module_ m) {
  m.doc() =
      "Logistic loss: −log P(y | x) as a function of scores t, and its sums over rows.\n\n"
      "::\n\n"
      "    two classes       ℓ = log(1 + e⁻ˢ),  s = ±t        ∂ℓ/∂t = p − y            p = 1/(1 + "
      "e⁻ᵗ)\n"
      "    k > 2 classes     ℓ = log Σ_c exp(t_c) − t_y        ∂ℓ/∂t_c = p_c − [c = y]   p_c ∝ "
      "exp(t_c)\n\n"
      "Nothing overflows, and neither p nor 1 − p is ever a difference of numbers near 1.";
  m.def("loss_derivatives", &loss_derivatives, "t"_a, "codes"_a, "loss"_a, "residual"_a, "p"_a,
        "other"_a,
        "Write ℓ (n,), ∂ℓ/∂t, p and 1 − p (n, m) of scores ``t`` (n, m); m = 1 for two classes.");
  m.def("add_gradient", &add_gradient, "x"_a, "origin"_a, "directions"_a, "codes"_a, "weights"_a,
        "class_weights"_a, "weight"_a, "checksum"_a, "gradient"_a,
        "Add what one pass over rows x (n, d) says of m coefficient vectors; return Σ w f_y ℓ.\n\n"
        "With z = (1, x − origin): Σ w and Σ w cᵀz to ``weight`` and ``checksum`` (k,) of\n"
        "every class, Σ w f_y ∂ℓ/∂t_a z to ``gradient`` (m, 1 + d). ``directions`` (m + 1, 1 +\n"
        "d) are the coefficients and then c; ``codes`` (n,) the classes; ``weights`` (n,), or\n"
        "(0,) for all 1; f are ``class_weights``.");
  m.def("add_sparse_gradient", &add_sparse_gradient, "indptr"_a, "indices"_a, "data"_a,
        "directions"_a, "codes"_a, "weights"_a, "class_weights"_a, "weight"_a, "checksum"_a,
        "gradient"_a,
        "Do what `add_gradient` does for compressed rows x, with z = (1, x).\n\n"
        "``directions`` and ``gradient`` (1 + d, width) have a row for every column of x: m\n"
        "coefficients and c, or m sums, padded to whole lanes. Rows whose code is −1 are\n"
        "left out.");
  m.def("add_sparse_hessian", &add_sparse_hessian, "indptr"_a, "indices"_a, "data"_a,
        "directions"_a, "codes"_a, "weights"_a, "class_weights"_a, "weight"_a, "checksum"_a,
        "gradient"_a, "hessian"_a,
        "Do what `add_sparse_gradient` does, and add Σ w f_y ∂²ℓ/∂t_a∂t_b z zᵀ to ``hessian``.\n\n"
        "``hessian`` ((1 + d)², pairs) has a row for each two columns, and a column for each two\n"
        "classes b ≤ a: (0, 0), (1, 0), (1, 1), (2, 0), ..., padded to whole lanes if there are\n"
        "several. Each pair of cells of a row, in different columns, is added in one of its two\n"
        "places: of H (1 + d, 1 + d) of two classes, H + Hᵀ − diag H is the block.");
}

}  // namespace suffice::bindings
