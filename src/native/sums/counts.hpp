// Exact class-wise counts of coded cells, dense event counts and sparse event counts.
//
// n rows, d columns, k classes. A row with a negative class code is left out. Codes of column j are
// whole numbers from `low[j]` to `low[j] + size[j] − 1`; the columns stand side by side in a table,
// column j from `offsets[j]` on. `tally` (k, M) holds numbers of rows; `table[c, :, v]` holds the
// pair of Σw over the rows of class c that show code v. The pairs of event counts Σwx are two
// arrays (k, M), `hi` and `lo`: pages of zeros take no memory before they are written to, and `lo`
// stays zero while all sums are doubles, as those of whole numbers are.
#pragma once
#include "support/levels.hpp"
#include "support/views.hpp"

namespace suffice {

// Where the codes of d columns stand in a table.
struct CodeRange {
  Vector<const std::int64_t> low, size, offsets;
};

// Bits of cells that are not null, none where all are not; that of cell 0 is the `first`.
struct Validity {
  Vector<const std::uint8_t> bits;
  Index first;

  INLINE bool operator[](Index cell) const {
    const std::size_t at = first + cell;
    return bits.size() == 0 || (bits.at[at >> 3] >> (at & 7) & 1);
  }
};

// Of whole numbers of type T.
template <class T>
struct WholeNumbers {
  // Write codes, −1 where a cell is null, and true to `shown` at each; the last is that of −1.
  //
  // Returns whether every code has a place.
  bool (*read_codes)(Vector<const T> stored, Validity valid, Vector<std::int32_t> codes,
                     Vector<bool> shown);

  // Write true to `seen` at values − low; returns whether all had a place there.
  bool (*mark)(Vector<const T> values, T low, Vector<bool> seen);

  // Write `table[values − low]` to `codes`; returns whether all had a place there.
  bool (*look_up)(Vector<const T> values, T low, Vector<const std::int64_t> table,
                  Vector<std::int64_t> codes);

  // Whether all values are below d, and none below the least.
  bool (*are_below)(Vector<const T> places, std::int64_t d, std::int64_t least);

  // Count rows of weight one.
  //
  // Returns −1, or the first row that has a code outside its range; from there on, nothing was
  // counted.
  Index (*add_codes)(Matrix<const T> values, CodeRange range, Vector<const std::int64_t> codes,
                     Matrix<std::int64_t> tally);

  // Add w for every row. Returns as add_codes does.
  Index (*add_weighted_codes)(Matrix<const T> values, CodeRange range,
                              Vector<const std::int64_t> codes, Vector<const double> weights,
                              Cube<double> table);
};

// Stored cells of type T, columns of type I: a CSR matrix.
template <class T, class I>
struct StoredEvents {
  // Add w · x to the pair of class and column for every stored cell.
  //
  // Returns false if a cell is outside the columns; what comes before it was added.
  bool (*add_sparse_events)(Vector<const T> data, Vector<const I> indices, Vector<const I> indptr,
                            Vector<const std::int64_t> codes, Vector<const double> weights,
                            Matrix<double> hi, Matrix<double> lo);
};

// Of numbers of type T.
template <class T>
struct Numbers : StoredEvents<T, std::int32_t>, StoredEvents<T, std::int64_t> {
  // Whether values are from 0 to `largest`, or NaN: missing.
  bool (*are_counts)(Vector<const T> values, double largest);
};

struct CountsOfLabels {
  // Add w to `table[class]`, the pair (k, 2) of each class, or to `unlabelled` (1, 2) without.
  //
  // Returns whether every code is below k; else nothing is added.
  bool (*add_rows)(Vector<const std::int64_t> codes, Vector<const double> weights,
                   Matrix<double> table, Matrix<double> unlabelled);

  // Count rows of weight one whose codes are −1, 0 or 1: no look-up, so rows are vectors.
  void (*add_binary)(Matrix<const std::int8_t> values, Vector<const std::int64_t> codes,
                     Matrix<std::int64_t> tally);

  // Add w · x[i, j] to the pair of class and column j; NaN is a missing cell.
  void (*add_events)(Matrix<const double> x, Vector<const std::int64_t> codes,
                     Vector<const double> weights, Matrix<double> hi, Matrix<double> lo);
};

struct Counts : WholeNumbers<std::int8_t>,
                WholeNumbers<std::int16_t>,
                WholeNumbers<std::int32_t>,
                WholeNumbers<std::int64_t>,
                WholeNumbers<std::uint8_t>,
                WholeNumbers<std::uint16_t>,
                WholeNumbers<std::uint32_t>,
                WholeNumbers<std::uint64_t>,
                Numbers<bool>,
                Numbers<std::int8_t>,
                Numbers<std::int16_t>,
                Numbers<std::int32_t>,
                Numbers<std::int64_t>,
                Numbers<std::uint8_t>,
                Numbers<std::uint16_t>,
                Numbers<std::uint32_t>,
                Numbers<std::uint64_t>,
                Numbers<float>,
                Numbers<double>,
                CountsOfLabels {};

EVERY_LEVEL(Counts, counts)

}  // namespace suffice
