// Eigenvalues and eigenvectors of symmetric matrices, the same bits on every processor.
#pragma once
#include "support/levels.hpp"
#include "support/views.hpp"

namespace suffice {

struct Eigen {
  // Replace matrices a (s, d, d), finite, of which the lower triangles are read, by their
  // eigenvectors, row by row; write the eigenvalues (s, d), the least first.
  //
  // Householder's reflections to a tridiagonal matrix, then QL steps with implicit shifts (B. N.
  // Parlett, The Symmetric Eigenvalue Problem, 1998, chapters 7 and 8). Returns whether all
  // iterations converged.
  bool (*symmetric)(Cube<double> a, Matrix<double> values);
};

EVERY_LEVEL(Eigen, eigen)

}  // namespace suffice
