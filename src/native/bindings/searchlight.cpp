#include "searchlight/searchlight.hpp"

#include "bindings/arrays.hpp"
#include "bindings/bindings.hpp"

namespace suffice::bindings {

namespace {

using Places = Array<const std::int32_t, 1>;
using Marks = Array<const std::uint8_t, 2>;
using Offsets = Array<const std::int64_t, 1>;

template <class X, class T, class Kernel>
void define_add_volumes(nb::module_& m, Kernel kernel) {
  m.def(
      "add_volumes",
      [kernel](Array<const X, 2> x, Places block, Array<const T, 1> pivot, Array<T, 2> sums,
               Array<T, 2> squares) {
        const Index voxels = x.shape(1), blocks = sums.shape(0);
        require("block", block, {x.shape(0)});
        require("pivot", pivot, {voxels});
        require("sums", sums, {blocks, voxels});
        require("squares", squares, {blocks, voxels});
        for (Index t = 0; t < block.shape(0); ++t)
          require(block.at()[t] >= 0 && block.at()[t] < blocks, "block has a number out of range");
        Unlocked unlocked;
        kernel(x, block, pivot, sums, squares);
      },
      "x"_a, "block"_a, "pivot"_a, "sums"_a, "squares"_a,
      "Add x − p and (x − p)² of volumes (T, V) to the sums (B, V) of their blocks.");
}

// What is the same in both kernels, checked.
template <class T>
LearntSums<T> learnt_sums(Index voxels, const Array<const T, 2>& sums,
                          const Array<const T, 2>& squares, const Array<const T, 1>& pivot,
                          const Places& label, const Read<1>& count, const Marks& trained,
                          const Marks& silent, const Read<1>& prior) {
  const Index blocks = sums.shape(0), folds = trained.shape(0);
  require("sums", sums, {blocks, voxels});
  require("squares", squares, {blocks, voxels});
  require("pivot", pivot, {voxels});
  require("label", label, {blocks});
  require("count", count, {blocks});
  require("trained", trained, {folds, blocks});
  require("silent", silent, {folds, voxels});
  require("prior", prior, {4});
  Index k = 0;
  for (Index b = 0; b < blocks; ++b) {
    require(label.at()[b] >= 0, "label has a number below 0");
    if (label.at()[b] >= k) k = Index{label.at()[b]} + 1;
  }
  require(k <= 32767, "there are more than 32767 classes");
  return {sums, squares, pivot, label, count, trained, silent, prior, k};
}

void require_neighbours(const Offsets& indptr, const Places& indices, Index voxels) {
  require(indptr.shape(0) > 0 && indptr.at()[0] == 0 &&
              indptr.at()[indptr.shape(0) - 1] == indices.shape(0),
          "indptr goes from 0 to the number of indices");
  for (Index i = 1; i < indptr.shape(0); ++i)
    require(indptr.at()[i] >= indptr.at()[i - 1], "indptr decreases");
  for (Index i = 0; i < indices.shape(0); ++i)
    require(indices.at()[i] >= 0 && indices.at()[i] < voxels, "indices has a number out of range");
}

void require_folds(const Offsets& folds, const Array<const std::int64_t, 2>& bounds, Index number,
                   Index volumes) {
  require("bounds", bounds, {number, 2});
  for (Index f = 0; f < folds.shape(0); ++f)
    require(folds.at()[f] >= 0 && folds.at()[f] < number, "folds has a number out of range");
  for (Index f = 0; f < number; ++f) {
    const std::int64_t* pair = bounds.at() + 2 * f;
    require(0 <= pair[0] && pair[0] <= pair[1] && pair[1] <= volumes, "bounds are out of range");
  }
}

template <class X, class Kernel>
void define_predict(nb::module_& m, Kernel kernel) {
  m.def(
      "predict",
      [kernel](Array<const X, 2> x, Read<2> sums, Read<2> squares, Read<1> pivot, Places label,
               Read<1> count, Marks trained, Marks silent, Read<1> prior, Offsets indptr,
               Places indices, Offsets folds, Array<const std::int64_t, 2> bounds,
               Array<std::int16_t, 2> classes) {
        const Index volumes = x.shape(0), voxels = x.shape(1);
        const auto learnt =
            learnt_sums<double>(voxels, sums, squares, pivot, label, count, trained, silent, prior);
        require_neighbours(indptr, indices, voxels);
        require_folds(folds, bounds, trained.shape(0), volumes);
        require("classes", classes, {volumes, indptr.shape(0) - 1});
        Unlocked unlocked;
        kernel(x, learnt, {indptr, indices}, {folds, bounds}, classes);
      },
      "x"_a, "sums"_a, "squares"_a, "pivot"_a, "label"_a, "count"_a, "trained"_a, "silent"_a,
      "prior"_a, "indptr"_a, "indices"_a, "folds"_a, "bounds"_a, "classes"_a,
      "Write the most probable class of every held-out volume in every neighbourhood, (T, N).");
}

}  // namespace

void define_searchlight(nb::module_ m) {
  static const Searchlight& kernels = CHOSEN(searchlight);
  m.doc() = "Gaussian naive Bayes in the neighbourhood of every voxel.";
  define_add_volumes<double, double>(m, kernels.add_volumes);
  define_add_volumes<float, double>(m, kernels.add_volumes_of_single);
  define_add_volumes<float, float>(m, kernels.add_volumes_in_single);
  define_predict<double>(m, kernels.predict);
  define_predict<float>(m, kernels.predict_of_single);
  m.def(
      "count",
      [](Array<const float, 2> x, Array<const float, 2> sums, Array<const float, 2> squares,
         Array<const float, 1> pivot, Places label, Read<1> count, Marks trained, Marks silent,
         Read<1> prior, Offsets indptr, Places indices, Offsets folds,
         Array<const std::int64_t, 2> bounds, Places truth, Array<std::int32_t, 2> correct) {
        const Index volumes = x.shape(0), voxels = x.shape(1);
        const auto learnt =
            learnt_sums<float>(voxels, sums, squares, pivot, label, count, trained, silent, prior);
        require_neighbours(indptr, indices, voxels);
        require_folds(folds, bounds, trained.shape(0), volumes);
        require("truth", truth, {volumes});
        require("correct", correct, {trained.shape(0), indptr.shape(0) - 1});
        Unlocked unlocked;
        kernels.count(x, learnt, {indptr, indices}, {folds, bounds}, truth, correct);
      },
      "x"_a, "sums"_a, "squares"_a, "pivot"_a, "label"_a, "count"_a, "trained"_a, "silent"_a,
      "prior"_a, "indptr"_a, "indices"_a, "folds"_a, "bounds"_a, "truth"_a, "correct"_a,
      "Count the held-out volumes whose class is predicted, (F, N), in single precision.");
}

}  // namespace suffice::bindings
