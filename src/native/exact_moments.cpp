// Rows are taken in tiles, grouped by class, and added to lots of eight columns. Where numbers do
// not fit into a lot as it is, they are looked at closely: the lot is opened anew for them, missing
// cells are counted, and the few that lie far from all others are added by themselves.
#include "exact_moments.hpp"

#include "interrupts.hpp"
#include "pivots.hpp"
#include "weighted_slices.hpp"
#include "windows.hpp"

namespace suffice::LEVEL {
namespace {

constexpr Index TILE_CELLS = 12'288;
constexpr Index FEW = 16;  // rows that are added while a class is gone to, about

// Some rows at a time, and which of them are of which class.
class Tiles {
  const Matrix<const double> x_;
  Buffer<double> padded_;  // rows that are narrower than a vector

 public:
  const Index d, size, k;
  Buffer<Index> start, order;
  const double* at = nullptr;
  Index apart = 0, many = 0;

  Tiles(Matrix<const double> x, Index k)
      : x_(x), padded_(x.shape[1] < LANES ? rows_of(x.shape[1]) * LANES : 0), d(x.shape[1]),
        size(rows_of(d)), k(k), start(k + 2), order(size) {}

  // Take the rows from one on.
  void take(Index from, const std::int64_t* codes) {
    many = least(size, x_.shape[0] - from);
    at = x_.at + from * d, apart = d;
    if (d < LANES) {
      for (Index i = 0; i < many; ++i) copy<double>(padded_ + i * LANES, at + i * d, d);
      at = padded_, apart = LANES;
    }
    group(codes, many, k, start, order);
  }

  // Rows of a class from one on, of the columns from one on.
  Members members(Index c, Index first, Index column, Index most_rows) const {
    return {at + column, apart, order + first, least(most_rows, start[c + 1] - first)};
  }

  // What will be read a tile later.
  const double* ahead(Index from, Index first) const { return x_.at + (from + size + first) * d; }

 private:
  static Index rows_of(Index d) { return most<Index>(16, TILE_CELLS / most<Index>(1, d)); }
};

// Copy members to a block of (many, 8); false if a number is too large to be squared.
bool copy_block(Members of, Index shown, double* block) {
  for (Index r = 0; r < of.many; ++r)
    for (Index j = 0; j < LANES; ++j) {
      const double v = j < shown ? of.at[of.rows[r] * of.apart + j] : 0.0;
      if (magnitude(v) > LARGEST) return false;
      block[r * LANES + j] = v;
    }
  return true;
}

// Rows of weight one.
class Adder {
  MomentSums& state_;
  Tiles tiles_;
  const Index shown_;
  Buffer<Index> identity_;
  Buffer<double> block_;
  Work work_;

 public:
  Adder(MomentSums& state, Matrix<const double> x)
      : state_(state), tiles_(x, state.k), shown_(least<Index>(state.d, LANES)), identity_(HOLD),
        block_(HOLD * LANES) {
    for (Index r = 0; r < HOLD; ++r) identity_[r] = r;
  }

  Index add(const std::int64_t* codes, Index n) {
    for (Index from = 0; from < n; from += tiles_.size) {
      tiles_.take(from, codes + from);
      for (Index c = 0; c < state_.k; ++c)
        for (Index first = tiles_.start[c]; first < tiles_.start[c + 1]; first += HOLD)
          if (!add_class(c, first, tiles_.ahead(from, first))) return from;
    }
    return -1;
  }

 private:
  bool add_class(Index c, Index first, const double* ahead) {
    for (Index panel = 0; panel < state_.panels; ++panel) {
      const Members of = tiles_.members(c, first, state_.first(panel), HOLD);
      work_.done((of.many + FEW) * LANES);
      Lot& lot = state_.lot(c, panel);
      if (lot.held + of.many > HOLD) MomentSums::gather(lot);
      if (lot.gathered >= GATHERED) state_.settle(c, panel);
      if (!add_to(lot, of, ahead) && !add_closely(c, panel, of)) return false;
      ahead += of.many * LANES;
    }
    return true;
  }

  bool add_closely(Index c, Index panel, Members of) {
    Lot& lot = state_.lot(c, panel);
    if (!copy_block(of, shown_, block_)) return false;
    if (!well_placed(lot, block_, of.many)) {
      state_.settle(c, panel);
      place(lot, block_, of.many);
    }
    const Index from = state_.first(panel), own = panel * PANEL - from;
    for (Index r = 0; r < of.many; ++r)
      for (Index j = 0; j < LANES; ++j) {
        double& v = block_[r * LANES + j];
        if (v != v) {
          ++lot.missing[j], lot.gaps = true;
        } else if (v == 0.0 || covers(lot.unit[j], lot.slices, span_of(v))) {
          continue;
        } else if (j >= own) {
          state_.add(state_.cell(c, from + j), v);
        }
        v = 0.0;
      }
    MomentSums::gather(lot);
    const bool gaps = lot.gaps;
    lot.gaps = false;
    add_to(lot, {block_, LANES, identity_, of.many}, block_);
    lot.gaps = gaps;
    return true;
  }
};

// Rows with weights.
class WeightedAdder {
  MomentSums& state_;
  Tiles tiles_;
  const Index shown_;
  Buffer<std::int64_t> codes_;  // of a tile, −1 for rows that are added by themselves
  Buffer<double> slices_, block_, close_slices_;
  Buffer<Index> identity_;
  Work work_;

 public:
  WeightedAdder(MomentSums& state, Matrix<const double> x)
      : state_(state), tiles_(x, state.k), shown_(least<Index>(state.d, LANES)),
        codes_(tiles_.size), slices_(MOST_WEIGHT_SLICES * tiles_.size), block_(TOGETHER * LANES),
        close_slices_(MOST_WEIGHT_SLICES * TOGETHER), identity_(TOGETHER) {
    for (Index r = 0; r < TOGETHER; ++r) identity_[r] = r;
  }

  Index add(Matrix<const double> x, const std::int64_t* codes, Column weights) {
    place_weights(weights);
    for (Index from = 0; from < weights.many; from += tiles_.size) {
      const Index many = least(tiles_.size, weights.many - from);
      for (Index i = 0; i < many; ++i) {
        codes_[i] = codes[from + i];
        if (codes_[i] < 0 || cut_weight(weights[from + i], i)) continue;
        if (!add_alone(codes_[i], weights[from + i], &x(from + i, 0))) return from;
        codes_[i] = -1;
      }
      tiles_.take(from, codes_);
      for (Index c = 0; c < state_.k; ++c)
        for (Index first = tiles_.start[c]; first < tiles_.start[c + 1]; first += TOGETHER)
          if (!add_class(c, first, weights.at + from)) return from;
    }
    return -1;
  }

 private:
  void place_weights(Column weights) {
    if (state_.weight_slices &&
        uncovered(weights, state_.weight_unit, state_.weight_slices) * SELDOM <= weights.many)
      return;
    int unit = 0;
    const int slices = choose_slices(weights, MOST_WEIGHT_SLICES, &unit);
    state_.place_weights(unit, slices);
  }

  // Write the slices of the weight of a row, in units of the first; false if they do not hold it.
  bool cut_weight(double weight, Index row) {
    const int slices = state_.weight_slices;
    if (weight != 0.0 && !covers(state_.weight_unit, slices, span_of(weight))) return false;
    double rest = ldexp(weight, -state_.weight_unit), rounder = ROUNDER;
    for (int i = 0; i < slices; ++i, rounder *= 0x1p-24) {
      slices_[i * tiles_.size + row] = (rounder + rest) - rounder;
      rest -= slices_[i * tiles_.size + row];
    }
    return true;
  }

  // Add a row by itself; false if a number is too large to be squared.
  bool add_alone(Index c, double weight, const double* row) {
    for (Index j = 0; j < state_.d; ++j)
      if (magnitude(row[j]) > LARGEST) return false;
    for (Index j = 0; j < state_.d; ++j)
      if (row[j] == row[j]) state_.add(state_.cell(c, j), weight, row[j]);
    return true;
  }

  bool add_class(Index c, Index first, const double* weights) {
    for (Index panel = 0; panel < state_.panels; ++panel) {
      const Members of = tiles_.members(c, first, state_.first(panel), TOGETHER);
      WeightedLot& lot = state_.weighted_lot(c, panel);
      work_.done(4 * (of.many + FEW) * LANES);
      if (lot.gathered >= MOST_GATHERED) state_.settle_weighted(c, panel);
      if (!add_to(lot, of, slices_, tiles_.size, state_.weight_slices) &&
          !add_closely(c, panel, of, weights))
        return false;
    }
    return true;
  }

  bool add_closely(Index c, Index panel, Members of, const double* weights) {
    WeightedLot& lot = state_.weighted_lot(c, panel);
    if (!copy_block(of, shown_, block_)) return false;
    if (!well_placed(lot, block_, of.many)) {
      state_.settle_weighted(c, panel);
      place(lot, block_, of.many);
    }
    const Index from = state_.first(panel), own = panel * PANEL - from;
    for (Index r = 0; r < of.many; ++r) {
      for (Index j = 0; j < LANES; ++j) {
        double& v = block_[r * LANES + j];
        if (v != v || v == 0.0 || covers(lot.unit[j], lot.slices, span_of(v))) continue;
        if (j >= own) state_.add(state_.cell(c, from + j), weights[of.rows[r]], v);
        v = __builtin_nan("");
      }
      for (Index i = 0; i < state_.weight_slices; ++i)
        close_slices_[i * TOGETHER + r] = slices_[i * tiles_.size + of.rows[r]];
    }
    add_to(lot, {block_, LANES, identity_, of.many}, close_slices_, TOGETHER, state_.weight_slices);
    return true;
  }
};

Index add_rows(Matrix<const double> x, Vector<const std::int64_t> codes, MomentSums& state) {
  return Adder(state, x).add(codes.at, x.shape[0]);
}

Index add_weighted_rows(Matrix<const double> x, Vector<const std::int64_t> codes,
                        Vector<const double> weights, MomentSums& state) {
  return WeightedAdder(state, x).add(x, codes.at, {weights.at, 1, weights.shape[0]});
}

}  // namespace

extern const ExactMoments exact_moments{add_rows, add_weighted_rows};

}  // namespace suffice::LEVEL
