#include "sums/pair_counts.hpp"

#include <limits>

#include "support/double_double.hpp"
#include "support/interrupts.hpp"
#include "support/memory.hpp"

namespace suffice::LEVEL {
namespace {

// The places that a row shows, ascending; returns how many there are.
INLINE Index shown_places(const std::int32_t* row, Index d, std::int32_t* shown) {
  Index size = 0;
  for (Index j = 0; j < d; ++j) {
    shown[size] = row[j];
    size += row[j] >= 0;
  }
  return size;
}

void count_weighted(Matrix<const std::int32_t> places, Vector<const std::int64_t> codes,
                    Vector<const double> weights, Cube<double> table) {
  const Index n = places.shape[0], d = places.shape[1];
  Buffer<std::int32_t> shown(d + 1);
  Work work;
  for (Index i = 0; i < n; ++i) {
    work.done(d * d);
    if (codes[i] < 0) continue;
    const Index size = shown_places(places.at + i * d, d, &shown[0]);
    const auto own = table.part(codes[i]);
    for (Index a = 0; a < size; ++a)
      for (Index b = 0; b <= a; ++b) {
        const Index w = shown[a], at = w * (w + 1) / 2 + shown[b];
        const auto sum = two_sum(own(0, at), weights[i]);
        own(0, at) = sum.hi, own(1, at) += sum.lo;
      }
  }
}

void sum_by_parent(Matrix<const std::int32_t> places, Vector<const bool> parent,
                   Cube<const double> terms, Cube<double> sums) {
  const Index n = places.shape[0], d = places.shape[1], k = terms.shape[0], m = terms.shape[1];
  Buffer<std::int32_t> shown(d + 1);
  Work work;
  for (Index i = 0; i < n; ++i) {
    const std::int32_t* row = places.at + i * d;
    const Index size = shown_places(row, d, &shown[0]);
    for (Index c = 0; c < k; ++c) {
      work.done(d * size);
      const double* own = terms.at + c * m * m;
      for (Index j = 0; j < d; ++j) {
        double sum = -std::numeric_limits<double>::infinity();
        if (row[j] >= 0 && parent[row[j]]) {
          const double* children = own + row[j] * m;
          sum = 0;
          for (Index b = 0; b < size; ++b) sum += children[shown[b]];
        }
        sums(i, c, j) = sum;
      }
    }
  }
}

}  // namespace

extern const PairCounts pair_counts{count_weighted, sum_by_parent};

}  // namespace suffice::LEVEL
