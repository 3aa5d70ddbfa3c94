// LDLᵀ, substitution and products of matrices of double-double pairs.
//
// Every loop adds a multiple of one row to another: rows are contiguous and their elements are
// independent of each other, so that double-double, a chain of some thirty operations, runs in
// vector registers. Matrices are pairs of arrays, row by row.
#pragma once
#include "support/levels.hpp"
#include "support/views.hpp"

namespace suffice {

template <class T, int D>
struct Pairs {
  View<T, D> hi, lo;
};

struct Factor {
  // Write the pairs a b of a (n, d) and b (d, m) to c, all zeros; zeros of a cost nothing.
  void (*product)(Pairs<const double, 2> a, Pairs<const double, 2> b, Pairs<double, 2> c);

  // Turn the upper triangle of A (d, d), in place, into Lᵀ; write the pairs of D and L⁻¹, all
  // zeros.
  //
  // Row i of A = L D Lᵀ and of L L⁻¹ = I say
  //
  //     d_i l_ji = a_ij − Σ_{k<i} l_ik d_k l_jk  (j ≥ i)    (L⁻¹)_i = e_i − Σ_{k<i} l_ik (L⁻¹)_k
  //
  // so that d_i = cᵀ A c with c = (L⁻¹)_i. Where it is at most Σ_j c_j² noise_j it is taken for 0,
  // and so is column i of L below the diagonal.
  //
  // Returns −1, or the index of a pivot that is negative by more than that.
  Index (*factorise)(Pairs<double, 2> upper, Vector<const double> noise, Pairs<double, 1> pivots,
                     Pairs<double, 2> inverse);

  // Replace x (d, t) by the solution of L D Lᵀ x = b, with 0 where a pivot is 0.
  void (*solve)(Pairs<const double, 2> upper, Pairs<const double, 1> pivots, Pairs<double, 2> x);
};

EVERY_LEVEL(Factor, factor)

}  // namespace suffice
