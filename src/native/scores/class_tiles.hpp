// Sums over the columns of a row, for every class: rows are the lanes, and sums stay in registers.
//
// A *class tile* is up to eight classes whose sums of some rows stay in registers together. What
// classes know of columns, (k, d), is laid out for it: tile by tile, column by column, the classes
// of a tile side by side.
//
// Columns are read eight at a time; the last eight overlap those before, and have zeros in the
// table where they do. Every row adds its columns in the same order.
#pragma once
#include "support/double_double.hpp"
#include "support/memory.hpp"
#include "support/simd.hpp"
#include "support/tile_reader.hpp"

namespace suffice::LEVEL {
namespace {

constexpr Index WIDEST = 8;  // classes whose sums stay in registers

INLINE Index rounded_up(Index n, Index unit) { return (n + unit - 1) / unit * unit; }

// The width of the class tiles for k classes: as few tiles as hold them, as narrow as can be.
// There is one at least: rows are looked at even if there is nothing to add.
INLINE Index tile_width(Index k) {
  const Index classes = most<Index>(k, 1), tiles = rounded_up(classes, WIDEST) / WIDEST;
  return rounded_up(classes, tiles) / tiles;
}

// The sizes of a table for class tiles.
struct Layout {
  Index classes, columns;  // k and d, rounded up to whole tiles and to eights
  Index last;              // where the last eight columns begin
  Index width;             // classes of a tile

  Layout(Index k, Index d)
      : classes(0), columns(rounded_up(d, LANES)), last(most<Index>(d, LANES) - LANES),
        width(tile_width(k)) {
    classes = rounded_up(most<Index>(k, 1), width);
  }

  // Write a table (k, d) to zeros (classes · columns,).
  void arrange(Matrix<const double> table, double* to) const {
    const Index d = table.shape[1], whole = d - d % LANES, skipped = columns - last - LANES;
    for (Index c = 0; c < table.shape[0]; ++c)
      for (Index j = 0; j < d; ++j) {
        const Index place = j < whole ? j : j + skipped;
        to[(c / width * columns + place) * width + c % width] = table(c, j);
      }
  }
};

// A table as class tiles read it.
class Arranged {
  Buffer<double> terms_;

 public:
  Arranged(const Layout& layout, Matrix<const double> table)
      : terms_(layout.classes * layout.columns) {
    layout.arrange(table, terms_);
  }
  INLINE operator const double*() const { return terms_; }
};

// What a column adds to a sum: one of these.

// (v − origin) · slope
struct Products {
  const double *origin, *slope;

  INLINE Native shifted_row(Native row, Index column) const {
    return row - native_load(origin + column);
  }
  INLINE Native shifted_column(Native v, Index column) const { return v - native(origin[column]); }
  INLINE Native add(Native v, Index entry, Native sum) const {
    return fma(native(slope[entry]), v, sum);
  }
};

INLINE Native where_shown(Native v, Native value) { return v == v ? value : native(0.0); }

// −(root · (v − mean))²; a missing cell adds nothing.
struct Squares {
  const double *mean, *root;

  INLINE Native shifted_row(Native row, Index) const { return row; }
  INLINE Native shifted_column(Native v, Index) const { return v; }
  INLINE Native add(Native v, Index entry, Native sum) const {
    const Native u = where_shown(v, native(root[entry]) * (v - native(mean[entry])));
    return fma(-u, u, sum);
  }
};

// A constant of each column that the row shows.
struct Shown {
  const double* constant;

  INLINE Native shifted_row(Native row, Index) const { return row; }
  INLINE Native shifted_column(Native v, Index) const { return v; }
  INLINE Native add(Native v, Index entry, Native sum) const {
    return sum + where_shown(v, native(constant[entry]));
  }
};

// Read W columns of V · W rows, whose cells lie row by row or column by column.
template <int V, class Term>
INLINE void read_squares(ByRow, const double* cells, Index apart, const Term& term, Index column,
                         Native (&v)[V][WIDTH]) {
  UNROLL for (int part = 0; part < V; ++part) {
    UNROLL for (int i = 0; i < WIDTH; ++i) {
      const double* row = cells + (part * WIDTH + i) * apart;
      v[part][i] = term.shifted_row(native_load(row), column);
    }
    transpose_native(v[part]);
  }
}
template <int V, class Term>
INLINE void read_squares(ByColumn, const double* cells, Index apart, const Term& term, Index column,
                         Native (&v)[V][WIDTH]) {
  UNROLL for (int j = 0; j < WIDTH; ++j) {
    UNROLL for (int part = 0; part < V; ++part) {
      const Native cell = native_load(cells + j * apart + part * WIDTH);
      v[part][j] = term.shifted_column(cell, column + j);
    }
  }
}

// Add W columns of V · W rows to sums, and their sizes |v| to `size`.
template <int P, int V, class Side, class Term>
INLINE void add_squares(Side side, const double* cells, Index apart, const Term& term, Index column,
                        Index entry, Native (&sum)[V][P], Native (&size)[V]) {
  Native v[V][WIDTH];
  read_squares<V>(side, cells, apart, term, column, v);
  UNROLL for (int j = 0; j < WIDTH; ++j) {
    UNROLL for (int part = 0; part < V; ++part) {
      size[part] = size[part] + magnitude(v[part][j]);
      UNROLL for (int p = 0; p < P; ++p) sum[part][p] =
          term.add(v[part][j], entry + j * P + p, sum[part][p]);
    }
  }
}

// Write the sums of 16 rows to `sums` (k · 16,), and Σ |v| to `sizes` (16,): NaN and infinity show.
template <int P, class Side, class Term>
[[gnu::noinline]] void add_columns(Tile tile, const Layout& layout, const Term& term, double* sums,
                                   double* sizes) {
  constexpr int V = P <= 4 && TILE % (2 * WIDTH) == 0 ? 2 : 1;  // chains that need not wait
  constexpr Side side;
  const Index apart = tile.apart;
  for (Index c = 0; c < layout.classes; c += P)
    for (Index i = 0; i < TILE; i += V * WIDTH) {
      const double* rows = tile.at + side.offset(i, 0, apart);
      Native sum[V][P], size[V];
      UNROLL for (int part = 0; part < V; ++part) {
        size[part] = native(0.0);
        UNROLL for (int p = 0; p < P; ++p) sum[part][p] = native(0.0);
      }
      for (Index j = 0; j < layout.columns; j += LANES) {
        const double* cells = rows + side.offset(0, least(j, layout.last), apart);
        side.template prefetch_square<V * WIDTH>(cells, apart);
        for (int q = 0; q < LANES; q += WIDTH)
          add_squares<P, V>(side, cells + side.offset(0, q, apart), apart, term, j + q,
                            c * layout.columns + (j + q) * P, sum, size);
      }
      UNROLL for (int part = 0; part < V; ++part) {
        native_store(sizes + i + part * WIDTH, size[part]);
        UNROLL for (int p = 0; p < P; ++p)
            native_store(sums + (c + p) * TILE + i + part * WIDTH, sum[part][p]);
      }
    }
}

INLINE bool all_at_most(const double* values, Index n, double limit) {
  Index near = 0;
  for (Index i = 0; i < n; ++i) near += values[i] <= limit;
  return near == n;
}

// `add_columns` for the width of a class tile, and for both ways that cells may lie.
template <class Term>
class ColumnsAdder {
  using Add = void (*)(Tile, const Layout&, const Term&, double*, double*);
  template <class Side>
  static constexpr Add by_width[] = {add_columns<1, Side, Term>, add_columns<2, Side, Term>,
                                     add_columns<3, Side, Term>, add_columns<4, Side, Term>,
                                     add_columns<5, Side, Term>, add_columns<6, Side, Term>,
                                     add_columns<7, Side, Term>, add_columns<8, Side, Term>};
  Add add_;

 public:
  ColumnsAdder(Index width, bool by_column)
      : add_(by_column ? by_width<ByColumn>[width - 1] : by_width<ByRow>[width - 1]) {}

  INLINE void operator()(Tile tile, const Layout& layout, const Term& term, double* sums,
                         double* sizes) const {
    add_(tile, layout, term, sums, sizes);
  }
};

// Add constants and sums, both (k · 16,), of row i of a tile to scores (n, k).
INLINE void add_row(Strided<double> out, Index first, Index i, const double* constants,
                    const double* sums) {
  for (Index c = 0; c < out.columns; ++c)
    out(first + i, c) += constants[c * TILE + i] + sums[c * TILE + i];
}

// Add constants and sums of a tile, eight rows at once where those of a class lie so.
INLINE void add_rows(Strided<double> out, Index first, Index rows, const double* constants,
                     const double* sums) {
  if (rows < TILE || out.down != 1) {
    for (Index i = 0; i < rows; ++i) add_row(out, first, i, constants, sums);
    return;
  }
  for (Index c = 0; c < out.columns; ++c) UNROLL for (Index i = 0; i < TILE; i += LANES) {
      double* to = &out(first + i, c);
      store(to, load(to) + (load(constants + c * TILE + i) + load(sums + c * TILE + i)));
    }
}

}  // namespace
}  // namespace suffice::LEVEL
