// Numbers into the cells of a fixed grid, counted by class; and hashes of rows of numbers.
//
// The grid is that of suffice.sums.bins: sign, exponent and 8 bits of the mantissa,
// whole numbers up to 256 apart. Cells are numbered by the order of the numbers in them.
#pragma once
#include "support/levels.hpp"
#include "support/views.hpp"

namespace suffice {

// Cells that hold a number, ascending in every class and column, and their counts: those of class c
// and column j begin at start[c · d + j].
template <class Start, class Cell, class Count>
struct CellCounts {
  Vector<Start> start;
  Vector<Cell> cell;
  Vector<Count> count;
};
using GivenCounts = CellCounts<const std::int64_t, const std::uint16_t, const double>;
using WrittenCounts = CellCounts<std::int64_t, std::uint16_t, double>;

// How many numbers lie in every cell, (k, d · places): column j has its cell v at j · places + 1 +
// v, and NaN before them. What a byte holds of a count, and how often that passed 256: the bytes of
// many columns stay in the cache.
template <class Low, class Carried>
struct Tally {
  Matrix<Low> low;
  Matrix<Carried> carried;
};

struct Bins {
  // Write the cell of every number less its origin, −1 for NaN.
  void (*cells)(Strided<const double> x, Vector<const double> origin, Matrix<std::int32_t> out);

  // Count the cells of rows with a class code of 0 or more, of fewer than 2^24 in all.
  //
  // Returns whether a number fell into one of the two outermost cells, as infinities do.
  bool (*count)(Strided<const double> x, Vector<const double> origin,
                Vector<const std::int64_t> codes, Tally<std::uint8_t, std::uint16_t> tally);

  // Write the cells of a tally that hold a number; return how many, or −1 if there is no room.
  Index (*shown)(Tally<const std::uint8_t, const std::uint16_t> tally, WrittenCounts to);

  // Count the cells of rows of k classes, and write those that hold a number; return how many. A
  // table is made for one class and column at a time.
  Index (*count_apart)(Strided<const double> x, Vector<const double> origin,
                       Vector<const std::int64_t> codes, Index k, WrittenCounts to);

  // Write the cells that any class shows of column j of d, ascending, and the counts of all classes
  // in each; return how many.
  Index (*cells_of)(GivenCounts counts, Index d, Index j, Vector<std::uint16_t> cells,
                    Vector<double> every);

  // Write the counts of every class, (k, b), in b parts of these cells: each part begins with the
  // first cell, or at one of the ascending `cuts`.
  void (*counts_of)(GivenCounts counts, Index d, Index j, Vector<const std::uint16_t> cells,
                    Vector<const std::int64_t> cuts, Matrix<double> out);

  // Write a + b or, with a sign of −1, a − b: the cells that hold a number. Return how many there
  // are, or −1 if a sum is rounded or below 0.
  Index (*add)(GivenCounts a, GivenCounts b, double sign, WrittenCounts to);

  // Write the bin of every number, −1 for NaN: the last of column j, from `start[j]` on, that
  // begins at or below it, or the first.
  void (*find)(Strided<const double> x, Vector<const std::int64_t> start, Vector<const double> low,
               Matrix<std::int64_t> out);

  // Add to the hash of every row those of its numbers, each mixed with the hash of its column's
  // name; NaN adds nothing, and −0 is 0.
  void (*hash)(Strided<const double> x, Vector<const std::uint64_t> names,
               Vector<std::uint64_t> hashes);
};

EVERY_LEVEL(Bins, bins)

}  // namespace suffice
