// Gaussian naive Bayes in the neighbourhood of every voxel, without the fold that is predicted.
//
// T volumes (rows) of V voxels, of which F folds are held out in turn; N neighbourhoods. Sums over
// B blocks of volumes of one label, about a pivot of each voxel, say what a fold has learnt.
#pragma once
#include "support/levels.hpp"
#include "support/views.hpp"

namespace suffice {

// Sums over blocks, and which of them each fold learns from.
template <class T>
struct LearntSums {
  Matrix<const T> sums, squares;       // (B, V): Σ(x − p), Σ(x − p)²
  Vector<const T> pivot;               // (V,)
  Vector<const std::int32_t> label;    // (B,): from 0 to k − 1
  Vector<const double> count;          // (B,): volumes
  Matrix<const std::uint8_t> trained;  // (F, B): whether a fold learns from a block
  Matrix<const std::uint8_t> silent;   // (F, V): whether a voxel has no spread in what it learns
  Vector<const double> prior;          // (4,): ν, κ, strength, floor: see searchlight.cpp
  Index k;
};

// The voxels of each neighbourhood: those of row n stand at indices[indptr[n]] to indices[indptr[n
// + 1] − 1].
struct Neighbours {
  Vector<const std::int64_t> indptr;  // (N + 1,)
  Vector<const std::int32_t> indices;
};

// Which volumes are predicted: those of fold f are rows bounds[f, 0] to bounds[f, 1] − 1.
struct HeldOut {
  Vector<const std::int64_t> folds;   // to be done by this call
  Matrix<const std::int64_t> bounds;  // (F, 2)
};

struct Searchlight {
  // Add x − p and (x − p)² of volumes (T, V) to the sums (B, V) of their blocks.
  void (*add_volumes)(Matrix<const double> x, Vector<const std::int32_t> block,
                      Vector<const double> pivot, Matrix<double> sums, Matrix<double> squares);
  // "of single": volumes in single precision, sums in double; "in single": sums too.
  void (*add_volumes_of_single)(Matrix<const float> x, Vector<const std::int32_t> block,
                                Vector<const double> pivot, Matrix<double> sums,
                                Matrix<double> squares);
  void (*add_volumes_in_single)(Matrix<const float> x, Vector<const std::int32_t> block,
                                Vector<const float> pivot, Matrix<float> sums,
                                Matrix<float> squares);

  // Write the most probable class of every held-out volume in every neighbourhood, (T, N).
  void (*predict)(Matrix<const double> x, LearntSums<double> learnt, Neighbours neighbours,
                  HeldOut held_out, Matrix<std::int16_t> classes);
  void (*predict_of_single)(Matrix<const float> x, LearntSums<double> learnt, Neighbours neighbours,
                            HeldOut held_out, Matrix<std::int16_t> classes);

  // Count the held-out volumes whose class `truth` (T,) is predicted, (F, N), in single precision.
  void (*count)(Matrix<const float> x, LearntSums<float> learnt, Neighbours neighbours,
                HeldOut held_out, Vector<const std::int32_t> truth, Matrix<std::int32_t> correct);
};

EVERY_LEVEL(Searchlight, searchlight)

}  // namespace suffice
