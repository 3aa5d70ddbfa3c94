#include "squares.hpp"

#include "class_tiles.hpp"

namespace suffice::LEVEL {
namespace {

Index add_gaussian(Matrix<const double> x, Matrix<const double> mean, Matrix<const double> root,
                   Matrix<const double> log_scale, Strided<double> out) {
  const Index n = x.shape[0], d = x.shape[1], k = mean.shape[0];
  const Layout layout(k, d);
  const Arranged means(layout, mean), roots(layout, root), logs(layout, log_scale);
  const auto add_squares = columns_adder<Squares>(layout.width);
  const auto add_shown = columns_adder<Shown>(layout.width);
  const RowTiles tiles(x);
  const Buffer<double> sums(layout.classes * TILE), constants(layout.classes * TILE);
  const Buffer<double> shown(layout.classes * TILE), sizes(TILE);
  add_shown(tiles.zeros(), tiles.apart(), layout, {logs}, constants, sizes);
  for (Index first = 0; first < n; first += TILE) {
    const double* rows = tiles.from(first);
    add_squares(rows, tiles.apart(), layout, {means, roots}, sums, sizes);
    const double* added = constants;
    if (!all_at_most(sizes, tiles.rows(first), LARGEST)) {
      if (tiles.too_large(first)) return first;
      add_shown(rows, tiles.apart(), layout, {logs}, shown, sizes);
      added = shown;
    }
    add_rows(out, first, tiles.rows(first), added, sums);
  }
  return -1;
}

}  // namespace

extern const SquaresKernels squares{add_gaussian};

}  // namespace suffice::LEVEL
