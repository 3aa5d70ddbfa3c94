#include "scores/linear.hpp"

#include "scores/class_tiles.hpp"
#include "support/interrupts.hpp"

namespace suffice::LEVEL {
namespace {

// (x − o)ᵀ slope_c of 16 rows at a time.
class Functions {
  Layout layout_;
  Buffer<double> origin_;
  Arranged slope_;
  ColumnsAdder<Products> add_;
  Work work_;

 public:
  const Buffer<double> constants, sums, sizes;  // (k · 16,), (k · 16,) and Σⱼ |xⱼ − oⱼ| (16,)

  Functions(const TileReader& tiles, Vector<const double> origin, Matrix<const double> slope,
            Vector<const double> constant)
      : layout_(slope.shape[0], slope.shape[1]), origin_(layout_.columns), slope_(layout_, slope),
        add_(layout_.width, tiles.by_column()), constants(layout_.classes * TILE),
        sums(layout_.classes * TILE), sizes(TILE) {
    Layout(1, origin.shape[0]).arrange({origin.at, {1, origin.shape[0]}}, origin_);
    for (Index c = 0; c < constant.shape[0]; ++c) fill(constants + c * TILE, TILE, constant[c]);
  }

  INLINE void of(Tile tile) {
    add_(tile, layout_, {origin_, slope_}, sums, sizes);
    work_.done(layout_.classes * layout_.columns);
  }
};

double largest_size(Vector<const double> values) {
  double largest = 0.0;
  for (Index j = 0; j < values.shape[0]; ++j) largest = most(largest, magnitude(values[j]));
  return largest;
}

Index add_complete(const Table& x, Vector<const double> origin, Matrix<const double> slope,
                   Vector<const double> constant, Vector<bool> done, Strided<double> out) {
  const TileReader tiles(x);
  Functions functions(tiles, origin, slope, constant);
  const double largest = LARGEST - largest_size(origin);
  for (Index first = 0; first < x.rows; first += TILE) {
    const Index rows = tiles.rows(first);
    const Tile tile = tiles.from(first);
    functions.of(tile);
    const double* sizes = functions.sizes;
    const bool near = all_at_most(sizes, rows, largest);
    if (!near && tiles.too_large(tile, first)) return first;
    for (Index i = 0; i < rows; ++i) done[first + i] = sizes[i] == sizes[i];  // no cell is NaN
    if (near) {
      add_rows(out, first, rows, functions.constants, functions.sums);
      continue;
    }
    for (Index i = 0; i < rows; ++i)
      if (done[first + i]) add_row(out, first, i, functions.constants, functions.sums);
  }
  return -1;
}

void write(const Table& x, Vector<const double> origin, Matrix<const double> slope,
           Vector<const double> constant, Strided<double> out) {
  const TileReader tiles(x);
  Functions functions(tiles, origin, slope, constant);
  for (Index first = 0; first < x.rows; first += TILE) {
    functions.of(tiles.from(first));
    for (Index c = 0; c < out.columns; ++c)
      for (Index i = 0; i < tiles.rows(first); ++i) out(first + i, c) = 0.0;
    add_rows(out, first, tiles.rows(first), functions.constants, functions.sums);
  }
}

}  // namespace

extern const LinearKernels linear{add_complete, write};

}  // namespace suffice::LEVEL
