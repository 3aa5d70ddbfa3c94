// What exact co-moments are gathered in: exact tables, and sums of slices on the way to them.
#pragma once
#include "dyadic.hpp"

namespace suffice {

constexpr int CUT = 23;          // bits of a slice
constexpr int LEFT_SLICES = 8;   // of w x at most
constexpr int RIGHT_SLICES = 6;  // of x at most
constexpr int PRODUCT_LEVELS = LEFT_SLICES + RIGHT_SLICES - 1;
constexpr double SPLIT = 0x1p26;  // units between the two parts of a sum of products

// The sums of d columns over g groups of rows, some of which share a matrix of products.
//
// A number x of column j is cut into slices x = Σᵢ aᵢ 2^(right(m)[j] − 23i) of whole aᵢ, and w x
// into those of left(m)[j]. Products of slices of one i + j, a *level*, have the same unit. Their
// sums are kept in two parts, multiples of 2²⁶ and what is left, neither of which is ever rounded.
class ProductSums {
  Index products_, g_ = 0, matrices_ = 0;
  struct Gathered;
  Gathered* of_ = nullptr;    // (matrices,)
  double* slices_ = nullptr;  // (g, LEFT_SLICES, d): sums of the slices of w x
  Index* matrix_ = nullptr;   // (g,)

 public:
  const Index d, places;  // cells of a matrix, and places that levels have for them
  Planes weight, sums, products;

  // `place` (d (d + 1) / 2,) is where products stand in levels, row by row of the upper triangle.
  ProductSums(Index d, const Index* place, Index places);
  ~ProductSums();
  ProductSums(const ProductSums&) = delete;
  ProductSums& operator=(const ProductSums&) = delete;

  // Know more groups, and the matrix of each.
  void grow(const std::int64_t* matrix, Index groups);

  Index groups() const { return g_; }
  Index matrices() const { return matrices_; }
  Index matrix(Index group) const { return matrix_[group]; }

  // Powers of two: the units of the first slices. 0 as long as a column had no numbers but 0.
  int* left(Index matrix) const;
  int* right(Index matrix) const;
  double* slices(Index group) const { return slices_ + group * LEFT_SLICES * d; }

  // The two parts of a level, (2, places).
  double* level(Index matrix, int which);

  // Say that so many rows were added to slices and levels.
  void count(Index matrix, Index rows);

  // Put the products, and the sums, of a column into the tables: its units change.
  void settle_column(Index matrix, Index column);
  void settle();

  void add_weight(Index group, double w);

  // Add a row to the tables, but for its weight: x (d,), each number `apart` from the next.
  void add_row(Index group, double w, const double* x, Index apart);

 private:
  Index* place_;
  void settle(Index matrix);
  void settle_product(Index matrix, Index i, Index j);
  void settle_sums(Index matrix, Index column);
  Index cell(Index i, Index j) const { return i * d - i * (i + 1) / 2 + j; }
};

// The sums of g groups that are only read: Σw (g, 1), Σwx (g, d) and upper triangles of Σwxxᵀ.
struct ProductTables {
  DyadicTable weight, sums, products;
  const std::int64_t* matrix;  // (g,)
  Index g, d, matrices;
};

// The same sums about the means of the groups, as pairs of doubles: each is rounded once.
//
// Writes Σw (g, 2), p = x̄ rounded (g, d), Σw(x − p) (g, 2, d) and upper triangles (m, 2, d, d) of
// Σw(x − p)(x − p)ᵀ = P − Σ [p Sᵀ + (S − Wp) pᵀ].
void recentre(const ProductTables& of, double* weight, double* pivot, double* sums,
              double* products);

}  // namespace suffice
