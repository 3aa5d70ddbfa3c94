// Rows are taken in chunks, grouped, and turned on their sides in tiles, whose columns are cut into
// slices. A row of which something is left behind the last slice is added by itself.
#include "exact_comoments.hpp"

#include "cut_products.hpp"
#include "interrupts.hpp"
#include "pivots.hpp"

namespace suffice::LEVEL {
namespace {

constexpr Index CHUNK_CELLS = 65'536;
constexpr Index LEAST_ROWS = 1'024;     // of a matrix in a chunk, about
constexpr Index FEW = 16;               // of a matrix in a chunk: fewer are added by themselves
constexpr Index MOST_MATRICES = 1'024;  // so many rows of them
constexpr double FAINT = 0x1p-900;  // products below may not have all their digits in two doubles

// Whether numbers are there, and none is too large.
INLINE bool usable(const double* row, Index d) {
  NativeBits bad{};
  Index j = 0;
  for (; j + WIDTH <= d; j += WIDTH) bad |= ~(magnitude(native_load(row + j)) <= native(LARGEST));
  bool any = false;
  UNROLL for (int i = 0; i < WIDTH; ++i) any |= bad[i] != 0;
  for (; j < d; ++j) any |= !(magnitude(row[j]) <= LARGEST);
  return !any;
}

INLINE double largest(const double* x, Index rows) {
  Native found = native(0.0);
  for (Index r = 0; r < rows; r += WIDTH) {
    const Native next = magnitude(native_load(x + r));
    found = next > found ? next : found;
  }
  double most = 0.0;
  UNROLL for (int i = 0; i < WIDTH; ++i) most = found[i] > most ? found[i] : most;
  return most;
}

class ExactAdder {
  ProductSums& state_;
  const Matrix<const double> x_, y_;
  const std::int64_t* codes_;
  const Vector<const double> weights_;
  const Index n_, p_, t_, d_, size_;  // p columns of x, t of y; rows of a chunk
  const bool weighted_;
  Buffer<Index> start_, order_;
  Buffer<double> strip_, v_, wv_, wv_lo_, w_;
  Buffer<bool> bad_;
  const Slices right_, left_;
  CutProducts products_;
  Work work_;

  static Index padded(Index d) { return (d + LANES - 1) / LANES * LANES; }
  Index of_weighted(Index many) const { return weighted_ ? many : 0; }

 public:
  ExactAdder(Matrix<const double> x, Matrix<const double> y, const std::int64_t* codes,
             Vector<const double> weights, ProductSums& state)
      : state_(state), x_(x), y_(y), codes_(codes), weights_(weights), n_(x.shape[0]),
        p_(x.shape[1]), t_(y.shape[1]), d_(p_ + t_),
        size_(least(n_, most(LEAST_ROWS * least(state.matrices(), MOST_MATRICES),
                             CHUNK_CELLS / most<Index>(1, d_)))),
        weighted_(weights.size() > 0), start_(state.groups() + 2), order_(size_),
        strip_(LANES * padded(d_)), v_(padded(d_) * STRIDE), wv_(of_weighted(d_ * STRIDE)),
        wv_lo_(of_weighted(d_ * STRIDE)), w_(TILE_ROWS), bad_(TILE_ROWS), right_(RIGHT_SLICES, d_),
        left_(weighted_ ? LEFT_SLICES : 0, d_), products_(d_) {}

  Index add() {
    Index first = 0;
    for (Index many; first < n_; first += many) {
      many = least(size_, n_ - first);
      work_.done(4 * many * d_);
      for (Index i = first; i < first + many; ++i)
        if (codes_[i] >= 0 && !(usable(&x_(i, 0), p_) && usable(&y_(i, 0), t_))) return first;
      group(codes_ + first, many, state_.groups(), start_, order_);
      for (Index i = 0; i < start_[state_.groups()]; ++i) order_[i] += first;
      for (Index c = 0, end; c < state_.groups(); c = end) {
        for (end = c + 1; end < state_.groups() && state_.matrix(end) == state_.matrix(c);) ++end;
        if (start_[c] < start_[end]) add_to_matrix(c, end);
      }
    }
    return -1;
  }

 private:
  // Add the rows of the groups of a matrix of products.
  void add_to_matrix(Index begin, Index end) {
    const Index matrix = state_.matrix(begin);
    for (Index c = begin; c < end; ++c) add_weights(c);
    if (start_[end] - start_[begin] < FEW)
      return add_few(order_ + start_[begin], order_ + start_[end]);
    for (Index at = start_[begin]; at < start_[end]; at += TILE_ROWS) {
      const Index rows = least(TILE_ROWS, start_[end] - at), filled = padded(rows);
      work_.done(16 * rows * d_);
      for (Index r = 0; r < filled; r += LANES) turn_rows(order_ + at, r, rows);
      fill<bool>(bad_, TILE_ROWS, false);
      if (weighted_) weigh(order_ + at, rows, filled);
      place(matrix, filled);
      cut(matrix, filled);
      for (Index r = 0; r < rows; ++r)
        if (bad_[r]) add_alone(order_[at + r], r), work_.done(16 * d_ * d_);
      const Slices& left = weighted_ ? left_ : right_;
      products_.add(left, right_, filled, weighted_ ? HELD / 2 : HELD, state_, matrix);
      for (Index c = begin; c < end; ++c) {
        const Index from = most<Index>(0, start_[c] - at), to = least(rows, start_[c + 1] - at);
        if (from < to) add_sums(left, c, from, to);
      }
    }
    products_.finish(state_, matrix);
    state_.count(matrix, start_[end] - start_[begin]);
  }

  void add_few(const Index* from, const Index* to) {
    Buffer<double> row(d_);
    for (; from < to; ++from) {
      work_.done(16 * d_ * d_);
      copy<double>(row, &x_(*from, 0), p_);
      copy<double>(row + p_, &y_(*from, 0), t_);
      state_.add_row(codes_[*from], weighted_ ? weights_[*from] : 1.0, row, 1);
    }
  }

  // Write eight rows, from the r-th on, to the tile; rows of zeros fill it up.
  void turn_rows(const Index* rows, Index r, Index count) {
    const Index width = padded(d_);
    for (Index i = 0; i < LANES; ++i) {
      double* to = strip_ + i * width;
      if (r + i >= count) {
        fill(to, width, 0.0);
        continue;
      }
      copy<double>(to, &x_(rows[r + i], 0), p_);
      copy<double>(to + p_, &y_(rows[r + i], 0), t_);
      prefetch(&x_(rows[r + i], 0) + size_ * p_);
    }
    for (Index j = 0; j < width; j += LANES)
      copy_transposed(strip_ + j, width, v_ + j * STRIDE + r, STRIDE);
  }

  // Write w x as two doubles.
  void weigh(const Index* rows, Index many, Index filled) {
    for (Index r = 0; r < filled; ++r) w_[r] = r < many ? weights_[rows[r]] : 0.0;
    for (Index j = 0; j < d_; ++j)
      for (Index r = 0; r < filled; ++r) {
        const double x = v_[j * STRIDE + r];
        const auto [product, error] = two_product(w_[r], x);
        wv_[j * STRIDE + r] = product, wv_lo_[j * STRIDE + r] = error;
        bad_[r] |= magnitude(product) < FAINT && w_[r] != 0.0 && x != 0.0;
      }
  }

  // Choose units, and others where there are larger numbers than before.
  void place(Index matrix, Index rows) {
    int *left = state_.left(matrix), *right = state_.right(matrix);
    for (Index j = 0; j < d_; ++j) {
      const int to_right = unit_of(v_ + j * STRIDE, rows, right[j]),
                to_left = weighted_ ? unit_of(wv_ + j * STRIDE, rows, left[j]) : to_right;
      if (to_left == left[j] && to_right == right[j]) continue;
      products_.finish(state_, matrix);
      state_.settle_column(matrix, j);
      left[j] = to_left, right[j] = to_right;
    }
  }

  // The unit, 2^unit, of the first slices of a column; `before` is 0 if it has none.
  static int unit_of(const double* x, Index rows, int before) {
    const double most = largest(x, rows);
    if (most == 0.0 || (before && most <= ldexp(1.0, before + CUT))) return before;
    const int unit = exponent(most) - CUT + (before != 0);  // again is seldom
    return unit < LEAST_UNIT ? LEAST_UNIT : unit ? unit : 1;
  }

  void cut(Index matrix, Index rows) {
    for (Index j = 0; j < d_; ++j) {
      const Index at = j * STRIDE;
      right_.cut(j, v_ + at, nullptr, rows, state_.right(matrix)[j], bad_);
      if (weighted_) left_.cut(j, wv_ + at, wv_lo_ + at, rows, state_.left(matrix)[j], bad_);
    }
  }

  void add_alone(Index row, Index r) {
    right_.leave_out(r, d_);
    if (weighted_) left_.leave_out(r, d_);
    state_.add_row(codes_[row], weighted_ ? weights_[row] : 1.0, v_ + r, STRIDE);
  }

  // Add the slices of rows of a group to its sums.
  void add_sums(const Slices& of, Index c, Index from, Index to) {
    double* sums = state_.slices(c);
    for (Index j = 0; j < d_; ++j)
      for (int i = 0; of.used(j) >> i; ++i) {
        if (!(of.used(j) >> i & 1)) continue;
        const double* slice = of.column(i, j);
        Native lanes = native(0.0);
        Index r = from;
        for (; r + WIDTH <= to; r += WIDTH) lanes += native_load(slice + r);
        double sum = 0.0;
        UNROLL for (int q = 0; q < WIDTH; ++q) sum += lanes[q];
        for (; r < to; ++r) sum += slice[r];
        sums[i * d_ + j] += sum;
      }
  }

  void add_weights(Index c) {
    if (!weighted_) {
      state_.weight.add(c, start_[c + 1] - start_[c], 0);
      return;
    }
    for (Index i = start_[c]; i < start_[c + 1]; ++i) state_.add_weight(c, weights_[order_[i]]);
  }
};

Index places(Index d) { return CutProducts::places_of(d); }

void arrange(Index d, Index* place) {
  each_product(d, [&](Index i, Index j, Index q) {
    if (i <= j && j < d) place[i * d - i * (i + 1) / 2 + j] = q;
  });
}

Index add_rows(Matrix<const double> x, Matrix<const double> y, Vector<const std::int64_t> codes,
               Vector<const double> weights, ProductSums& state) {
  return ExactAdder(x, y, codes.at, weights, state).add();
}

}  // namespace

extern const ExactComoments exact_comoments{places, arrange, add_rows};

}  // namespace suffice::LEVEL
