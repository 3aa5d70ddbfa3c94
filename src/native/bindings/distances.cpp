#include "scores/distances.hpp"

#include "bindings/arrays.hpp"
#include "bindings/bindings.hpp"

namespace suffice::bindings {

void define_distances(nb::module_ m) {
  static const DistancesKernels& kernels = CHOSEN(distances);
  m.doc() =
      "Mahalanobis distances of rows from k means, under a covariance of each class or one of\n"
      "all.\n\n"
      "Conventions: n rows, d features. W (s, d, d) is lower triangular and whitens: Σ⁻¹ = WᵀW.\n"
      "With an origin o near the means, ``shift`` (k, d) holds W(μ − o), so that\n\n"
      "    (x − μ)ᵀ Σ⁻¹ (x − μ) = |W(x − o) − W(μ − o)|².\n\n"
      "A class's score −½|…|² + ``log_scale`` is added to ``out`` (n, k).";
  static constexpr char one_or_all[] = "there must be one covariance, or one of every class";

  m.def(
      "add_complete",
      [](Rows x, Read<2> origin, Read<3> whitening, Read<2> shift, Read<1> log_scale,
         Array<bool, 1> done, Scores out) {
        const Index s = whitening.shape(0), k = shift.shape(0), d = x.shape(1);
        require(s == 1 || s == k, one_or_all);
        require("origin", origin, {s, d});
        require("whitening", whitening, {s, d, d});
        require("shift", shift, {k, d});
        require("log_scale", log_scale, {k});
        require("done", done, {x.shape(0)});
        require("out", out, {x.shape(0), k});
        Unlocked unlocked;
        return kernels.add_complete(x, origin, whitening, shift, log_scale.at(), done, out);
      },
      "x"_a, "origin"_a, "whitening"_a, "shift"_a, "log_scale"_a, "done"_a, "out"_a,
      "Score the tiles of rows that have no missing cell, and mark their rows as ``done`` (n,).\n\n"
      "Returns −1, or the first of a tile of rows that holds a number too large to be squared.");

  m.def(
      "add_marginal",
      [](Rows x, Read<2> mean, Read<2> mean_lo, Read<3> covariance, Written<2> distance,
         Written<2> log_determinant, Written<2> rank) {
        const Index n = x.shape(0), s = covariance.shape(0), k = mean.shape(0), d = x.shape(1);
        require(s == 1 || s == k, one_or_all);
        require("mean", mean, {k, d});
        require("mean_lo", mean_lo, {k, d});
        require("covariance", covariance, {s, d, d});
        require("distance", distance, {n, k});
        require("log_determinant", log_determinant, {n, s});
        require("rank", rank, {n, s});
        Unlocked unlocked;
        kernels.add_marginal(x, mean, mean_lo, covariance, distance, log_determinant, rank);
      },
      "x"_a, "mean"_a, "mean_lo"_a, "covariance"_a, "distance"_a, "log_determinant"_a, "rank"_a,
      "Write the distances (n, k) of rows in the columns that they show.\n\n"
      "Rows of one pattern stand together. ``log_determinant`` and ``rank`` (n, s) are those of\n"
      "the covariances (s, d, d) of these columns.");
}

}  // namespace suffice::bindings
