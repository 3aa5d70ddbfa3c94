#include "counts.hpp"

#include "double_double.hpp"
#include "memory.hpp"

namespace suffice::LEVEL {
namespace {

constexpr Index SIDE_BY_SIDE = 4;  // tallies of the same classes
constexpr Index BITS = 64;         // of a word

// How far a value lies above the least; one below it is farther than any.
template <class T>
INLINE std::uint64_t above(T value, std::int64_t low) {
  return static_cast<std::uint64_t>(value) - static_cast<std::uint64_t>(low);
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
  if (valid.bits.size())
    for (Index i = 0; i < n; ++i)
      if (!valid[i]) codes[i] = -1;
  for (Index i = 0; i < n; ++i) shown[codes[i] >= 0 ? codes[i] : last] = true;
  return true;
}

template <class T>
bool mark(Vector<const T> values, T low, Vector<bool> seen) {
  const std::uint64_t places = seen.size();
  const Index n = values.size();
  std::uint64_t farthest = 0, shown = 0;
  for (Index i = 0; i < n; ++i) farthest = most(farthest, above(values[i], low));
  if (n && farthest >= places) return false;
  if (places > BITS) {
    for (Index i = 0; i < n; ++i) seen[above(values[i], low)] = true;
    return true;
  }
  UNROLL for (Index i = 0; i < n; ++i) shown |= std::uint64_t{1} << above(values[i], low);
  for (std::uint64_t q = 0; q < places; ++q) seen[q] = shown >> q & 1;
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
  Buffer<double> tally(SIDE_BY_SIDE * (k + 1));  // of one, a sum would wait for the sum before
  for (Index i = 0; i < n; ++i)
    tally[i % SIDE_BY_SIDE * (k + 1) + (codes[i] >= 0 ? codes[i] : k)] += 1.0;
  for (Index c = 0; c <= k; ++c) {
    double sum = 0.0;
    for (Index q = 0; q < SIDE_BY_SIDE; ++q) sum += tally[q * (k + 1) + c];
    add_weight(c, sum);
  }
  return true;
}

template <class T>
Index add_codes(Matrix<const T> values, CodeRange range, Vector<const std::int64_t> codes,
                Matrix<std::int64_t> tally) {
  const Index n = values.shape[0], d = values.shape[1];
  for (Index i = 0; i < n; ++i) {
    if (codes[i] < 0) continue;
    const T* row = &values(i, 0);
    std::int64_t* counted = &tally(codes[i], 0);
    for (Index j = 0; j < d; ++j) {
      const std::uint64_t place = above(row[j], range.low[j]);
      if (place >= static_cast<std::uint64_t>(range.size[j])) {
        while (j-- > 0) --counted[range.offsets[j] + above(row[j], range.low[j])];
        return i;
      }
      ++counted[range.offsets[j] + place];
    }
  }
  return -1;
}

template <class T>
Index add_weighted_codes(Matrix<const T> values, CodeRange range, Vector<const std::int64_t> codes,
                         Vector<const double> weights, Cube<double> table) {
  const Index n = values.shape[0], d = values.shape[1];
  for (Index i = 0; i < n; ++i) {
    if (codes[i] < 0) continue;
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

void add_binary(Matrix<const std::int8_t> values, Vector<const std::int64_t> codes,
                Matrix<std::int64_t> tally) {
  const Index n = values.shape[0], d = values.shape[1], k = tally.shape[0];
  Buffer<std::int32_t> ones(k * d), missing(k * d);
  Buffer<std::int64_t> rows(k);
  for (Index i = 0; i < n; ++i) {
    const Index c = codes[i];
    if (c < 0) continue;
    ++rows[c];
    const std::int8_t* row = &values(i, 0);
    std::int32_t* __restrict__ one = ones + c * d;
    std::int32_t* __restrict__ none = missing + c * d;
    for (Index j = 0; j < d; ++j) one[j] += row[j] == 1;
    for (Index j = 0; j < d; ++j) none[j] += row[j] < 0;
  }
  for (Index c = 0; c < k; ++c)
    for (Index j = 0; j < d; ++j) {
      tally(c, 3 * j) += missing[c * d + j];
      tally(c, 3 * j + 1) += rows[c] - missing[c * d + j] - ones[c * d + j];
      tally(c, 3 * j + 2) += ones[c * d + j];
    }
}

void add_events(Matrix<const double> x, Vector<const std::int64_t> codes,
                Vector<const double> weights, Matrix<double> hi, Matrix<double> lo) {
  const Index n = x.shape[0], d = x.shape[1];
  for (Index i = 0; i < n; ++i) {
    if (codes[i] < 0) continue;
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

// The sums are far apart: with every cell, that at the same place of the next row is asked for.
template <class T, class I>
bool add_sparse_events(Vector<const T> data, Vector<const I> indices, Vector<const I> indptr,
                       Vector<const std::int64_t> codes, Vector<const double> weights,
                       Matrix<double> hi, Matrix<double> lo) {
  const Index n = codes.size(), last = indices.size() - 1;
  const std::uint64_t columns = hi.shape[1];
  for (Index i = 0; i < n; ++i) {
    if (codes[i] < 0) continue;
    const Index next = codes[least(i + 1, n - 1)];
    double *sums = &hi(codes[i], 0), *errors = &lo(codes[i], 0);
    const double* after = &hi(most<Index>(next, 0), 0);
    const Index first = indptr[i], stop = indptr[i + 1];
    const double w = weights.size() ? weights[i] : 1.0;
    for (Index q = first; q < stop; ++q) {
      prefetch(after + indices[least(q + (stop - first), last)]);
      if (static_cast<std::uint64_t>(indices[q]) >= columns) return false;
      if (data[q] != data[q]) continue;
      const auto [p, f] = two_product(w, static_cast<double>(data[q]));
      double& cell = sums[indices[q]];
      const auto sum = two_sum(cell, p);
      cell = sum.hi;
      if (sum.lo + f != 0.0) errors[indices[q]] += sum.lo + f;
    }
  }
  return true;
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
