// Numbers into the cells of a fixed grid, counted by class; and hashes of rows of numbers.
//
// The grid is that of suffice.sums.bins: sign, exponent and 8 bits of the mantissa,
// whole numbers up to 256 apart. Cells are numbered by the order of the numbers in them.
#pragma once
#include "support/levels.hpp"
#include "support/views.hpp"

namespace suffice {

// Cells that hold a number, ascending in every class and column, and Σw of the numbers in each:
// those of column j and class c in the bytes from start[j · k + c] on. One takes the numbers
//
//   4 (cell − cell before − 1) + min(Σw, 4) − 1    the cell before the first is −1
//   Σw                                             if it is 4 or more; 0 if it is no whole number
//                                                  below 2^53, and a double follows, 1 if a pair
//
// of 7 bits a byte, the lowest first; the eighth tells that another byte follows.
template <class Start, class Byte>
struct CellCounts {
  Vector<Start> start;
  Vector<Byte> packed;
};
using GivenCounts = CellCounts<const std::int64_t, const std::uint8_t>;
using WrittenCounts = CellCounts<std::int64_t, std::uint8_t>;

constexpr Index LONGEST_COUNT = 24;  // bytes at most

// Tables with a place for NaN and every cell, side by side, and room for 64 more: zeros, or what
// `count` has left there.
struct Tally {
  Matrix<std::uint8_t> low;
  Matrix<std::uint16_t> carried;
};

struct Bins {
  // Count the cells of fewer than 2^23 rows with a class code of 0 or more, below k, and write them
  // from one table; where there is no room to write, they stay in tables, one for each column and
  // class.
  //
  // Returns how many bytes they take, n, or −1 − n if a number fell into one of the two outermost
  // cells, as infinities do.
  Index (*count)(Strided<const double> x, Vector<const double> origin,
                 Vector<const std::int64_t> codes, Vector<const double> weights, Index k,
                 Tally tally, WrittenCounts to);

  // Write what lies in tables, and clear them; return how many bytes it takes.
  Index (*taken)(Tally tally, WrittenCounts to);

  // Write the cells that any of k classes shows of column j, ascending, and the counts of all
  // classes in each; return how many.
  Index (*cells_of)(GivenCounts counts, Index k, Index j, Vector<std::uint16_t> cells,
                    Vector<double> every);

  // Write the counts of every class, (k, b), in b parts of these cells: each part begins with the
  // first cell, or at one of the ascending `cuts`.
  void (*counts_of)(GivenCounts counts, Index j, Vector<const std::uint16_t> cells,
                    Vector<const std::int64_t> cuts, Matrix<double> out);

  // Write a + b or, with a sign of −1, a − b: the cells that hold a number. Return how many bytes
  // they take, or −1 − q if a sum of the class and column q is below 0.
  Index (*add)(GivenCounts a, GivenCounts b, double sign, WrittenCounts to);

  // Write counts times a factor, as whole numbers where they are within 1e-12 of these.
  Index (*scale)(GivenCounts counts, double factor, WrittenCounts to);

  // Add to the hash of every row those of its numbers, each mixed with the hash of its column's
  // name; NaN adds nothing, and −0 is 0.
  void (*hash)(Strided<const double> x, Vector<const std::uint64_t> names,
               Vector<std::uint64_t> hashes);
};

EVERY_LEVEL(Bins, bins)

}  // namespace suffice
