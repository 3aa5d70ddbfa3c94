#include "sums/counts.hpp"

#include "support/double_double.hpp"
#include "support/interrupts.hpp"
#include "support/memory.hpp"

namespace suffice::LEVEL {
namespace {

constexpr Index SIDE_BY_SIDE = 8;  // tallies of the same classes
constexpr Index BITS = 64;         // of a word

// How far a value lies above the least; one below it is farther than any.
template <class T>
INLINE std::uint64_t above(T value, std::int64_t low) {
  return static_cast<std::uint64_t>(value) - static_cast<std::uint64_t>(low);
}

// Add to a count, modulo 2⁶⁴: no number of rows comes near it.
INLINE void add_to(std::int64_t& count, std::int64_t more) {
  count = static_cast<std::int64_t>(static_cast<std::uint64_t>(count) +
                                    static_cast<std::uint64_t>(more));
}

template <class T>
bool read_codes(Vector<const T> stored, Validity valid, Vector<std::int32_t> codes,
                Vector<bool> shown) {
  const Index n = stored.size(), last = shown.size() - 1;
  const std::uint64_t places = last;
  std::uint64_t farthest = 0;
  for (Index i = 0; i < n; ++i) {
    farthest = most(farthest, above(stored[i], 0));
    codes[i] = static_cast<std::int32_t>(stored[i]);
  }
  if (farthest >= places)  // unless only those of nulls are outside
    for (Index i = 0; i < n; ++i)
      if (valid[i] && above(stored[i], 0) >= places) return false;
  if (!valid.bits.size()) {
    for (Index i = 0; i < n; ++i) shown[codes[i]] = true;
    return true;
  }
  for (Index i = 0; i < n; ++i) {
    codes[i] |=
        static_cast<std::int32_t>(valid[i]) - 1;  // −1 where null; a branch would be guessed
    shown[codes[i] + ((last + 1) & (codes[i] >> 31))] = true;
  }
  return true;
}

typedef std::uint64_t Words __attribute__((vector_size(8 * WIDTH)));

// How far values lie above the least, as many as a register holds.
template <class T>
INLINE Words words_above(const T* values, Words low) {
  typedef T Values __attribute__((vector_size(sizeof(T) * WIDTH)));
  Values given;
  __builtin_memcpy(&given, values, sizeof given);
  return __builtin_convertvector(given, Words) - low;
}

template <class T>
bool mark(Vector<const T> values, T low, Vector<bool> seen) {
  const std::uint64_t places = seen.size();
  const Index n = values.size();
  const Words lowest = Words{} + static_cast<std::uint64_t>(low), one = Words{} + 1;
  Words outside{}, shown{};
  std::uint64_t all = 0;
  Index i = 0;
  for (; i + WIDTH <= n; i += WIDTH) {
    const Words place = words_above(&values[i], lowest);
    outside |= (Words)(place >= places);
    shown |= one << (place & (BITS - 1));
  }
  for (; i < n; ++i) {
    outside[0] |= above(values[i], low) >= places;
    all |= std::uint64_t{1} << (above(values[i], low) & (BITS - 1));
  }
  for (int q = 0; q < WIDTH; ++q) {
    if (outside[q]) return false;
    all |= shown[q];
  }
  if (places <= BITS)
    for (Index q = 0; q < static_cast<Index>(places); ++q) seen[q] = all >> q & 1;
  else
    UNROLL for (i = 0; i < n; ++i) seen[above(values[i], low)] = true;
  return true;
}

template <class T>
bool look_up(Vector<const T> values, T low, Vector<const std::int64_t> table,
             Vector<std::int64_t> codes) {
  const Index n = values.size();
  const std::uint64_t places = table.size();
  if (!places) return n == 0;
  std::uint64_t farthest = 0;
  for (Index i = 0; i < n; ++i) {
    const std::uint64_t place = above(values[i], low);
    farthest = most(farthest, place);
    codes[i] = table.at[least(place, places - 1)];
  }
  return farthest < places;
}

template <class T>
bool are_below(Vector<const T> places, std::int64_t d, std::int64_t least_place) {
  if (!places.size()) return true;
  T low = places[0], high = places[0];
  for (Index q = 1; q < places.size(); ++q) {
    low = least(low, places[q]);
    high = most(high, places[q]);
  }
  return static_cast<std::int64_t>(high) < d && static_cast<std::int64_t>(low) >= least_place;
}

// Add a number to a pair.
INLINE void add_to(double& hi, double& lo, double value) {
  const auto sum = two_sum(hi, value);
  hi = sum.hi, lo += sum.lo;
}

bool add_rows(Vector<const std::int64_t> codes, Vector<const double> weights, Matrix<double> table,
              Matrix<double> unlabelled) {
  const Index n = codes.size(), k = table.shape[0];
  if (!are_below(codes, k, -1)) return false;
  const auto add_weight = [&](Index c, double w) {
    double* pair = c >= 0 && c < k ? &table(c, 0) : unlabelled.at;
    add_to(pair[0], pair[1], w);
  };
  if (weights.size()) {
    for (Index i = 0; i < n; ++i) add_weight(codes[i], weights[i]);
    return true;
  }
  // Of one tally, a count would wait for the count before. Place 0 is that of code −1.
  Buffer<std::int64_t> tallies(SIDE_BY_SIDE * (k + 1));
  std::int64_t* const counted = tallies + 1;
  Index i = 0;
  for (; i + SIDE_BY_SIDE <= n; i += SIDE_BY_SIDE)
    UNROLL for (Index q = 0; q < SIDE_BY_SIDE; ++q) counted[q * (k + 1) + codes[i + q]] += 1;
  for (; i < n; ++i) ++counted[codes[i]];
  for (Index c = 0; c <= k; ++c) {
    std::int64_t sum = 0;
    for (Index q = 0; q < SIDE_BY_SIDE; ++q) sum += counted[q * (k + 1) + (c < k ? c : -1)];
    add_weight(c, static_cast<double>(sum));
  }
  return true;
}

template <class T>
Index add_codes(Matrix<const T> values, CodeRange range, Vector<const std::int64_t> codes,
                Matrix<std::int64_t> tally) {
  const Index n = values.shape[0], d = values.shape[1];
  const Buffer<std::uint64_t> places(d);
  Work work;
  for (Index i = 0; i < n; ++i) {
    if (codes[i] < 0) continue;
    work.done(2 * d);
    const T* row = &values(i, 0);
    std::uint64_t outside = 0;
    for (Index j = 0; j < d; ++j) {
      const std::uint64_t place = above(row[j], range.low[j]);
      outside |= place >= static_cast<std::uint64_t>(range.size[j]);
      places[j] = static_cast<std::uint64_t>(range.offsets[j]) + place;
    }
    if (outside) return i;
    std::int64_t* counted = &tally(codes[i], 0);
    UNROLL for (Index j = 0; j < d; ++j) add_to(counted[places[j]], 1);
  }
  return -1;
}

template <class T>
Index add_weighted_codes(Matrix<const T> values, CodeRange range, Vector<const std::int64_t> codes,
                         Vector<const double> weights, Cube<double> table) {
  const Index n = values.shape[0], d = values.shape[1];
  Work work;
  for (Index i = 0; i < n; ++i) {
    if (codes[i] < 0) continue;
    work.done(4 * d);
    const T* row = &values(i, 0);
    for (Index j = 0; j < d; ++j)
      if (above(row[j], range.low[j]) >= static_cast<std::uint64_t>(range.size[j])) return i;
    for (Index j = 0; j < d; ++j) {
      const Index v = range.offsets[j] + above(row[j], range.low[j]);
      add_to(table(codes[i], 0, v), table(codes[i], 1, v), weights[i]);
    }
  }
  return -1;
}

// Bytes of a register that every level has, at any place; −1 is true.
typedef std::int8_t Bytes __attribute__((vector_size(16), aligned(1), may_alias));
constexpr Index BYTES = 16;

// Counts of ones and of missing cells in the rows of one class: bytes, until one of them is full.
class BinaryCounts {
  static constexpr Index FULL = 255;
  Index d_, width_;
  Buffer<std::uint8_t> bytes_;  // (k, 2, width): ones and missing cells
  Buffer<std::int64_t> sums_;   // the same, (k, 2, d)
  Buffer<std::int64_t> rows_;

  // Add the bytes of a class to its sums. The last bytes of a row overlap those before.
  void flush(Index c) const {
    for (Index kind = 0; kind < 2; ++kind) {
      std::uint8_t* bytes = bytes_ + (2 * c + kind) * width_;
      std::int64_t* sums = sums_ + (2 * c + kind) * d_;
      const Index skipped = width_ - d_, whole = d_ / BYTES * BYTES;
      for (Index j = 0; j < d_; ++j) sums[j] += bytes[j < whole ? j : j + skipped];
      fill<std::uint8_t>(bytes, width_, 0);
    }
  }

 public:
  BinaryCounts(Index k, Index d)
      : d_(d), width_((d + BYTES - 1) / BYTES * BYTES), bytes_(2 * k * width_), sums_(2 * k * d),
        rows_(k) {}

  // Count a row of at least 16 cells.
  INLINE void add(Index c, const std::int8_t* row) const {
    auto* ones = reinterpret_cast<Bytes*>(bytes_ + 2 * c * width_);
    auto* missing = reinterpret_cast<Bytes*>(bytes_ + (2 * c + 1) * width_);
    for (Index j = 0; j < width_; j += BYTES) {
      const Bytes v = *reinterpret_cast<const Bytes*>(row + least(j, d_ - BYTES));
      *ones -= (Bytes)(v == 1), *missing -= (Bytes)(v < 0);
      ++ones, ++missing;
    }
    if (++rows_[c] % FULL == 0) flush(c);
  }
  // Count a row of fewer cells.
  INLINE void add_few(Index c, const std::int8_t* row) const {
    std::int64_t *ones = sums_ + 2 * c * d_, *missing = ones + d_;
    for (Index j = 0; j < d_; ++j) ones[j] += row[j] == 1, missing[j] += row[j] < 0;
    ++rows_[c];
  }
  void write(Index k, Matrix<std::int64_t> tally) const {
    for (Index c = 0; c < k; ++c) {
      flush(c);
      const std::int64_t *ones = sums_ + 2 * c * d_, *missing = ones + d_;
      for (Index j = 0; j < d_; ++j) {
        add_to(tally(c, 3 * j), missing[j]);
        add_to(tally(c, 3 * j + 1), rows_[c] - missing[j] - ones[j]);
        add_to(tally(c, 3 * j + 2), ones[j]);
      }
    }
  }
};

void add_binary(Matrix<const std::int8_t> values, Vector<const std::int64_t> codes,
                Matrix<std::int64_t> tally) {
  const Index n = values.shape[0], d = values.shape[1], k = tally.shape[0];
  const BinaryCounts counts(k, d);
  Work work;
  for (Index i = 0; i < n; ++i) {
    if (codes[i] < 0) continue;
    work.done(d);
    const std::int8_t* row = values.at + i * d;
    if (d >= BYTES)
      counts.add(codes[i], row);
    else
      counts.add_few(codes[i], row);
  }
  counts.write(k, tally);
}

void add_events(Matrix<const double> x, Vector<const std::int64_t> codes,
                Vector<const double> weights, Matrix<double> hi, Matrix<double> lo) {
  const Index n = x.shape[0], d = x.shape[1];
  Work work;
  for (Index i = 0; i < n; ++i) {
    if (codes[i] < 0) continue;
    work.done(d);
    const double w = weights.size() ? weights[i] : 1.0;
    const double* row = &x(i, 0);
    double *sums = &hi(codes[i], 0), *errors = &lo(codes[i], 0);
    Index j = 0;
    for (; j + LANES <= d; j += LANES) {
      const Lanes value = load(row + j);
      const auto [p, f] = two_product(splat(w), present(value, splat(0.0)));
      const auto sum = two_sum(load(sums + j), p);
      store(sums + j, sum.hi);
      store(errors + j, load(errors + j) + (sum.lo + f));
    }
    for (; j < d; ++j) {
      const auto [p, f] = two_product(w, row[j] == row[j] ? row[j] : 0.0);
      const auto sum = two_sum(sums[j], p);
      sums[j] = sum.hi, errors[j] += sum.lo + f;
    }
  }
}

template <class T>
bool are_counts(Vector<const T> values, double largest) {
  std::int64_t beyond = 0;  // as wide as a double: the loop becomes vectors
  for (Index q = 0; q < values.size(); ++q) {
    const double value = static_cast<double>(values[q]);
    beyond |= value < 0.0 ? 1 : 0;
    beyond |= value > largest ? 1 : 0;
  }
  return !beyond;
}

// Of more sums than NEAR, which stay in no cache of one processor, that at the same place of the
// next row is asked for with every cell.
template <bool WEIGHTED, bool FAR, class T, class I>
INLINE bool add_cells(Vector<const T> data, Vector<const I> indices, Vector<const I> indptr,
                      Vector<const std::int64_t> codes, Vector<const double> weights,
                      Matrix<double> hi, Matrix<double> lo) {
  const Index n = codes.size(), last = indices.size() - 1;
  const std::uint64_t columns = hi.shape[1];
  Work work;
  for (Index i = 0; i < n; ++i) {
    if (codes[i] < 0) continue;
    const Index next = codes[least(i + 1, n - 1)];
    double *sums = &hi(codes[i], 0), *errors = &lo(codes[i], 0);
    const double* after = &hi(most<Index>(next, 0), 0);
    const Index first = indptr[i], stop = indptr[i + 1];
    work.done(4 * (1 + stop - first));
    for (Index q = first; q < stop; ++q) {
      if constexpr (FAR) prefetch(after + indices[least(q + (stop - first), last)]);
      if (static_cast<std::uint64_t>(indices[q]) >= columns) return false;
      if (data[q] != data[q]) continue;
      Pair<double> term{static_cast<double>(data[q]), 0.0};
      if constexpr (WEIGHTED) term = two_product(weights[i], term.hi);
      double& cell = sums[indices[q]];
      if constexpr (!WEIGHTED) {
        const double sum = cell + term.hi;
        if (sum - cell == term.hi && sum - term.hi == cell) {  // nothing was rounded
          cell = sum;
          continue;
        }
      }
      const auto sum = two_sum(cell, term.hi);
      const double error = WEIGHTED ? sum.lo + term.lo : sum.lo;
      cell = sum.hi;
      if (error != 0.0) errors[indices[q]] += error;
    }
  }
  return true;
}

template <class T, class I>
bool add_sparse_events(Vector<const T> data, Vector<const I> indices, Vector<const I> indptr,
                       Vector<const std::int64_t> codes, Vector<const double> weights,
                       Matrix<double> hi, Matrix<double> lo) {
  constexpr Index NEAR = 1 << 18;  // 2 MB
  const auto add = [&]<bool WEIGHTED, bool FAR>() {
    return add_cells<WEIGHTED, FAR>(data, indices, indptr, codes, weights, hi, lo);
  };
  if (weights.size()) return add.template operator()<true, true>();
  return hi.size() > NEAR ? add.template operator()<false, true>()
                          : add.template operator()<false, false>();
}

template <class T>
constexpr WholeNumbers<T> whole{read_codes<T>, mark<T>,      look_up<T>,
                                are_below<T>,  add_codes<T>, add_weighted_codes<T>};

template <class T>
constexpr Numbers<T> numbers{
    {add_sparse_events<T, std::int32_t>}, {add_sparse_events<T, std::int64_t>}, are_counts<T>};

}  // namespace

extern const Counts counts{whole<std::int8_t>,     whole<std::int16_t>,
                           whole<std::int32_t>,    whole<std::int64_t>,
                           whole<std::uint8_t>,    whole<std::uint16_t>,
                           whole<std::uint32_t>,   whole<std::uint64_t>,
                           numbers<bool>,          numbers<std::int8_t>,
                           numbers<std::int16_t>,  numbers<std::int32_t>,
                           numbers<std::int64_t>,  numbers<std::uint8_t>,
                           numbers<std::uint16_t>, numbers<std::uint32_t>,
                           numbers<std::uint64_t>, numbers<float>,
                           numbers<double>,        {add_rows, add_binary, add_events}};

}  // namespace suffice::LEVEL
