#include "scores/squares.hpp"

#include "scores/class_tiles.hpp"
#include "support/interrupts.hpp"

namespace suffice::LEVEL {
namespace {

Index add_gaussian(const Table& x, Matrix<const double> mean, Matrix<const double> root,
                   Matrix<const double> log_scale, Strided<double> out) {
  const Layout layout(mean.shape[0], x.columns);
  const Arranged means(layout, mean), roots(layout, root), logs(layout, log_scale);
  const TileReader tiles(x);
  const ColumnsAdder<Squares> add_squares(layout.width, tiles.by_column());
  const ColumnsAdder<Shown> add_shown(layout.width, tiles.by_column());
  const Buffer<double> sums(layout.classes * TILE), constants(layout.classes * TILE);
  const Buffer<double> shown(layout.classes * TILE), sizes(TILE);
  add_shown(tiles.zeros(), layout, {logs}, constants, sizes);
  Work work;
  for (Index first = 0; first < x.rows; first += TILE) {
    const Tile tile = tiles.from(first);
    add_squares(tile, layout, {means, roots}, sums, sizes);
    const double* added = constants;
    if (!all_at_most(sizes, tiles.rows(first), LARGEST)) {
      if (tiles.too_large(tile, first)) return first;
      add_shown(tile, layout, {logs}, shown, sizes);
      added = shown;
    }
    add_rows(out, first, tiles.rows(first), added, sums);
    work.done(layout.classes * layout.columns);
  }
  return -1;
}

}  // namespace

extern const SquaresKernels squares{add_gaussian};

}  // namespace suffice::LEVEL
