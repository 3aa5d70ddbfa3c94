#include "moment_sums.hpp"

#include <bit>
#include <cstring>

#include "interrupts.hpp"
#include "memory.hpp"

namespace suffice {

MomentSums::~MomentSums() {
  give_back(lots);
  give_back(weighted);
}

// More of the same, zeros; those that are there stay the first.
template <class T>
static T* longer(T* values, Index before, Index many) {
  auto* more = static_cast<T*>(reserve(many * sizeof(T)));
  if (values) std::memcpy(more, values, before * sizeof(T));
  give_back(values);
  return more;
}

void MomentSums::grow(Index classes) {
  if (classes <= k) return;
  lots = longer(lots, k * panels, classes * panels);
  if (weighted) weighted = longer(weighted, k * panels, classes * panels);
  k = classes;
  weight.grow(k * d), sums.grow(k * d), squares.grow(k * d);
}

constexpr Index CELL = 512;  // operations of a quotient of whole numbers, about
constexpr int HALF = 26;     // bits of the lower part of a level

using Product = unsigned __int128;

void MomentSums::add(Index cell, double x) {
  const Digits of_x(x);
  const auto digits = static_cast<std::int64_t>(of_x.digits);
  sums.add(cell, x < 0.0 ? -digits : digits, of_x.exponent);
  add_digits(squares, cell, Product{of_x.digits} * of_x.digits, false, 2 * of_x.exponent);
}

void MomentSums::add(Index cell, double w, double x) {
  const Digits of_w(w), of_x(x);
  weight.add(cell, static_cast<std::int64_t>(of_w.digits), of_w.exponent);
  const Index once = of_w.exponent + of_x.exponent, twice = once + of_x.exponent;
  add_digits(sums, cell, Product{of_w.digits} * of_x.digits, x < 0.0, once);
  const Product square = Product{of_x.digits} * of_x.digits;
  const Product low = square & ((Product{1} << 53) - 1), high = square >> 53;
  add_digits(squares, cell, of_w.digits * low, false, twice);
  add_digits(squares, cell, of_w.digits * high, false, twice + 53);
}

void MomentSums::gather(Lot& lot) {
  constexpr double POWERS[] = {1.0, 0x1p12, 0x1p24, 0x1p36, 0x1p48, 0x1p60, 0x1p72};  // 2^(12i)
  int p = 0;
  for (int i = 0; i < lot.slices; ++i)
    for (int m = i; m < lot.slices; ++m, ++p)
      for (int j = 0; j < PANEL; ++j) {
        const double scale = lot.down[j] * POWERS[i + m];
        lot.whole[p][j] += static_cast<std::int64_t>(lot.products[p][j] * scale * scale);
        lot.products[p][j] = 0.0;
      }
  lot.held = 0, ++lot.gathered;
}

void MomentSums::settle(Index c, Index panel) {
  Lot& lot = this->lot(c, panel);
  if (!lot.rows) return;
  gather(lot);
  const Index from = first(panel);
  for (Index j = panel * PANEL - from; j < PANEL && from + j < d; ++j) {
    const Index at = cell(c, from + j);
    weight.add(at, lot.rows - static_cast<Index>(lot.missing[j]), 0);
    int p = 0;
    for (int i = 0; i < lot.slices; ++i) {
      const Index unit = lot.unit[j] - 24 * i;
      // Both lie in one binade, where neighbours differ by one unit.
      sums.add(
          at,
          std::bit_cast<std::int64_t>(lot.sums[i][j]) - std::bit_cast<std::int64_t>(lot.bias[i][j]),
          unit);
      for (int m = i; m < lot.slices; ++m, ++p)
        squares.add(at, lot.whole[p][j], unit + lot.unit[j] - 24 * m + (m > i));
    }
  }
  std::memcpy(lot.sums, lot.bias, sizeof lot.sums);
  std::memset(lot.whole, 0, sizeof lot.whole);
  std::memset(lot.missing, 0, sizeof lot.missing);
  lot.rows = 0, lot.gathered = 0;
}

// Add a column of a level whose numbers, times 2^shift, are multiples of 2^exponent.
void MomentSums::add_level(Planes& table, const WeightedLot::Level& level, Index c, Index panel,
                           Index lane, Index shift, Index exponent) {
  const Index at = cell(c, first(panel) + lane);
  const auto power = static_cast<int>(shift);
  const double high = __builtin_ldexp(level.high[lane], power - HALF),
               low = __builtin_ldexp(level.low[lane], power);
  table.add(at, static_cast<std::int64_t>(high), exponent + HALF);
  table.add(at, static_cast<std::int64_t>(low), exponent);
}

void MomentSums::settle_weighted(Index c, Index panel) {
  WeightedLot& lot = weighted_lot(c, panel);
  if (!lot.gathered) return;
  const Index from = first(panel);
  for (Index j = panel * PANEL - from; j < PANEL && from + j < d; ++j) {
    const Index once = weight_unit + lot.unit[j], twice = once + lot.unit[j];
    for (Index i = 0; i < weight_slices; ++i)
      add_level(weight, lot.weight[i], c, panel, j, 24 * i, weight_unit - 24 * i);
    for (Index i = 0; i < lot.slices + weight_slices - 1; ++i)
      add_level(sums, lot.sums[i], c, panel, j, 24 * i, once - 24 * i);
    for (Index i = 0; i < 2 * lot.slices + weight_slices - 1; ++i)
      add_level(squares, lot.squares[i], c, panel, j, 24 * (i - 1), twice - 24 * (i - 1));
  }
  std::memset(lot.weight, 0, sizeof lot.weight);
  std::memset(lot.sums, 0, sizeof lot.sums);
  std::memset(lot.squares, 0, sizeof lot.squares);
  lot.gathered = 0;
}

void MomentSums::place_weights(int unit, int slices) {
  if (!weighted) weighted = longer(weighted, 0, k * panels);
  for (Index c = 0; c < k; ++c)
    for (Index panel = 0; panel < panels; ++panel) settle_weighted(c, panel);
  weight_unit = unit, weight_slices = slices;
}

void MomentSums::settle() {
  LEVEL::Work work;
  for (Index c = 0; c < k; ++c)
    for (Index panel = 0; panel < panels; ++panel) {
      work.done(CELL);
      settle(c, panel);
      if (weighted) settle_weighted(c, panel);
    }
}

constexpr double FAR = 64.0;  // standard deviations from 0 at which a mean is worth two doubles

void mean_and_scatter(const MomentTables& of, double* mean, double* mean_lo, double* scatter,
                      double* variance) {
  LEVEL::Work work;
  for (Index i = 0; i < of.weight.cells; ++i) {
    work.done(CELL);
    mean[i] = mean_lo[i] = scatter[i] = variance[i] = 0.0;
    const Dyadic w = of.weight.number(i), s = of.sums.number(i);
    if (w.zero() || w.negative) continue;
    mean[i] = quotient(s, w);
    const Dyadic spread = of.squares.number(i) * w - s * s;
    if (!spread.negative) scatter[i] = quotient(spread, w), variance[i] = quotient(spread, w * w);
    const double sd = __builtin_sqrt(variance[i]);
    if (__builtin_fabs(mean[i]) > FAR * sd) mean_lo[i] = quotient(s - Dyadic::of(mean[i]) * w, w);
  }
}

static bool possible(const Dyadic& w, const Dyadic& s, const Dyadic& q) {
  if (w.zero()) return s.zero() && q.zero();
  const Dyadic scatter = q * w - s * s;
  return !w.negative && (scatter.zero() || !scatter.negative);
}

Index impossible(const MomentTables& of) {
  LEVEL::Work work;
  for (Index i = 0; i < of.weight.cells; ++i) {
    work.done(CELL);
    if (!possible(of.weight.number(i), of.sums.number(i), of.squares.number(i))) return i;
  }
  return -1;
}

}  // namespace suffice
