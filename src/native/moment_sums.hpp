// What class-wise moments are gathered in: exact tables, and lots of lanes on the way to them.
#pragma once
#include "dyadic.hpp"

namespace suffice {

constexpr int PANEL = 8;  // columns of a lot
constexpr int MOST_SLICES = 4;
constexpr int MOST_WEIGHT_SLICES = 3;
constexpr int MOST_PRODUCTS = MOST_SLICES * (MOST_SLICES + 1) / 2;

// The sums of one class over eight columns.
//
// A cell x is cut into slices x = a₀ + a₁ + …, of which aᵢ is a multiple of the unit
// Uᵢ = 2^(unit − 24i). The lane of Σaᵢ begins at a bias that holds its last place at Uᵢ; that of
// Σaᵢaⱼ is exact below 2⁵³UᵢUⱼ, and goes into integers before it gets there.
struct Lot {
  double sums[MOST_SLICES][PANEL], bias[MOST_SLICES][PANEL];
  double products[MOST_PRODUCTS][PANEL], limit[PANEL], missing[PANEL];
  std::int64_t whole[MOST_PRODUCTS][PANEL];
  double down[PANEL];  // 2^−unit
  int unit[PANEL];
  int slices, held, gathered;  // rows whose products are in lanes, and how often they left
  bool gaps;                   // whether cells were missing
  Index rows;
};

// The sums of one class over eight columns, of rows with weights.
//
// A weight is cut into slices w = b₀ + b₁ + … as a cell is, and x² into slices of its own. Products
// of slices whose units are the same add up in one lane, a *level*. It is kept in two parts, above
// and below 2²⁶ units, and goes into tables before either is rounded. Units are those of a₀ and b₀.
struct WeightedLot {
  struct Level {
    double high[PANEL], low[PANEL];
  };
  Level weight[MOST_WEIGHT_SLICES];                         // 2^(−24i) times the unit
  Level sums[MOST_SLICES + MOST_WEIGHT_SLICES - 1];         // the same
  Level squares[2 * MOST_SLICES + MOST_WEIGHT_SLICES - 1];  // 2^(24 − 24i) times
  double down[PANEL], up[PANEL];                            // 2^−unit and 2^unit
  int unit[PANEL];
  int slices, gathered;  // how often something was added
};

struct MomentSums {
  Index k = 0, d, panels;
  Planes weight, sums, squares;            // of k · d cells
  Lot* lots = nullptr;                     // (k, panels)
  WeightedLot* weighted = nullptr;         // (k, panels), or none so far
  int weight_unit = 0, weight_slices = 0;  // where the slices of weights lie

  explicit MomentSums(Index d)
      : d(d), panels((d + PANEL - 1) / PANEL), weight(0), sums(0), squares(0) {}
  ~MomentSums();
  MomentSums(const MomentSums&) = delete;
  MomentSums& operator=(const MomentSums&) = delete;

  // Know more classes, of no rows so far.
  void grow(Index classes);

  // The first column of a panel; the last one overlaps that before it.
  Index first(Index panel) const {
    const Index column = panel * PANEL;
    return column + PANEL > d && d >= PANEL ? d - PANEL : column;
  }
  Lot& lot(Index c, Index panel) { return lots[c * panels + panel]; }
  WeightedLot& weighted_lot(Index c, Index panel) { return weighted[c * panels + panel]; }
  Index cell(Index c, Index j) const { return c * d + j; }

  // Add x to the sums, and x² to those of the squares, of a cell.
  void add(Index cell, double x);

  // Add w, wx and wx² to the sums of a cell.
  void add(Index cell, double w, double x);

  // Put what the lanes of products hold into integers.
  static void gather(Lot& lot);

  // Put what a lot holds into the tables.
  void settle(Index c, Index panel);
  void settle_weighted(Index c, Index panel);
  void settle();

  // Settle rows with weights, and place the slices of weights anew.
  void place_weights(int unit, int slices);

 private:
  void add_level(Planes& table, const WeightedLot::Level& level, Index c, Index panel, Index lane,
                 Index shift, Index exponent);
};

// The sums of k classes over d columns, of k · d cells each, that are only read.
struct MomentTables {
  DyadicTable weight, sums, squares;
};

// Write x̄, what rounding took off it, Σw(x − x̄)² and σ², each rounded once; zeros where W = 0.
void mean_and_scatter(const MomentTables& of, double* mean, double* mean_lo, double* scatter,
                      double* variance);

// The first cell whose sums no rows have, or −1: W < 0, or WΣwx² < (Σwx)², or sums without weight.
Index impossible(const MomentTables& of);

}  // namespace suffice
