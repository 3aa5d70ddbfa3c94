#include "bins.hpp"

#include "double_double.hpp"
#include "interrupts.hpp"
#include "memory.hpp"
#include "simd.hpp"

namespace suffice::LEVEL {
namespace {

constexpr int parts = 256, octaves = 40, whole = 256;
constexpr int first = 2;  // rank of the cell that starts at 2^−40
constexpr int last = first + 2 * octaves * parts + whole;
constexpr int dropped = 52 - 8, tiny = (1023 - octaves) * parts;
constexpr Index tile = 65536;   // rows whose cells are found before they are counted,
constexpr Index group = LANES;  // and columns: a cache line of a row
constexpr Index aside = 97;     // places that keep columns apart in the cache
constexpr Index ahead = 32;     // rows between asking for one and reading it

typedef std::int32_t Whole __attribute__((vector_size(4 * WIDTH)));
typedef std::uint16_t Places __attribute__((vector_size(2 * WIDTH), aligned(2), may_alias));

INLINE Whole narrow(NativeBits x) { return __builtin_convertvector(x, Whole); }

// Write the cells of eight numbers, each plus one: 0 is NaN. Of numbers in one of the two outermost
// cells a bit of `outermost` is set.
#if defined(__AVX512DQ__)
INLINE void write_places(Lanes x, std::uint16_t* places, Whole& outermost) {
  const auto value = (__m512d)x.part[0], size = _mm512_abs_pd(value);
  const auto one = _mm512_set1_epi64(1), farthest = _mm512_set1_epi64(last);
  const __mmask8 number = _mm512_cmp_pd_mask(value, value, _CMP_ORD_Q);
  const auto least = _mm512_cvttpd_epi64(_mm512_min_pd(size, _mm512_set1_pd(whole)));
  const __mmask8 is_whole = _mm512_cmp_pd_mask(size, _mm512_cvtepi64_pd(least), _CMP_EQ_OQ);
  const auto octave = _mm512_srli_epi64((__m512i)size, dropped) + _mm512_set1_epi64(first - tiny);
  const auto inner = _mm512_max_epi64(octave + least, one);  // 1 is tiny, and 0, as it is whole, 0
  const auto rank = _mm512_min_epi64(_mm512_mask_sub_epi64(inner, is_whole, inner, one), farthest);
  outermost |= (Whole)_mm256_movm_epi32(_mm512_mask_cmpeq_epi64_mask(number, rank, farthest));
  const __mmask8 negative = _mm512_movepi64_mask((__m512i)value);
  const auto middle = farthest + one;
  const auto place = _mm512_mask_sub_epi64(middle + rank, negative, middle, rank);
  _mm_storeu_si128((__m128i*)places, _mm512_maskz_cvtepi64_epi16(number, place));
}
#else
INLINE void write_places(Lanes x, std::uint16_t* places, Whole& outermost) {
  const Whole farthest = Whole{} + last;
  EACH_PART {
    const Native value = x.part[p], size = magnitude(value), most = native(whole);
    const Whole number = narrow((NativeBits)(value == value));
    const Whole negative = narrow((NativeBits)value < 0);
    const Whole positive = narrow((NativeBits)size != 0);
    const Whole octave = narrow((NativeBits)size >> dropped) - tiny;
    const Whole least = __builtin_convertvector(size < most ? size : most, Whole);
    const Whole is_whole =
        narrow((NativeBits)(size == __builtin_convertvector(least, Native)));  // −1 if it is
    const Whole inner = octave + least + first + is_whole;
    const Whole rank = octave < 0 ? -positive : inner < farthest ? inner : farthest;
    const Whole place = farthest + 1 + ((rank ^ negative) - negative);
    outermost |= (rank == farthest) & number;
    *reinterpret_cast<Places*>(places + WIDTH * p) =
        __builtin_convertvector(place & number, Places);
  }
}
#endif

INLINE bool any(Whole x) {
  bool found = false;
  for (int q = 0; q < WIDTH; ++q) found |= x[q] != 0;
  return found;
}

// Up to eight numbers that are so far apart, and zeros.
INLINE Lanes some(const double* at, Index apart, Index many) {
  if (apart == 1 && many == LANES) return load(at);
  double number[LANES] = {};
  for (Index q = 0; q < many; ++q) number[q] = at[q * apart];
  return load(number);
}

void cells(Strided<const double> x, Vector<const double> origin, Matrix<std::int32_t> out) {
  std::uint16_t places[group];
  Whole outermost{};
  Work work;
  for (Index i = 0; i < x.rows; ++i)
    for (Index j = 0; j < x.columns; j += group) {
      work.done(2 * group);
      const Index width = least(group, x.columns - j);
      write_places(some(&x(i, j), x.across, width) - some(&origin[j], 1, width), places, outermost);
      for (Index g = 0; g < width; ++g) out(i, j + g) = places[g] - 1;
    }
}

// Rows of a tile in the order of their classes, so that the counts of one stay in cache.
class RowsByClass {
  Buffer<std::uint32_t> place_;  // of every row; of those without a class the last
  Buffer<Index> stop_;           // of every class
  Index k_, rows_;

 public:
  RowsByClass(Index k, Index rows) : place_(rows), stop_(k), k_(k), rows_(rows) {}

  INLINE void sort(const std::int64_t* codes, Index n) const {
    fill<Index>(stop_, k_, 0);
    for (Index q = 0; q < n; ++q)
      if (codes[q] >= 0) ++stop_[codes[q]];
    for (Index c = 0, before = 0; c < k_; ++c) {
      const Index rows = stop_[c];
      stop_[c] = before;  // where its next row has its place
      before += rows;
    }
    for (Index q = 0; q < n; ++q)
      place_[q] = static_cast<std::uint32_t>(codes[q] < 0 ? rows_ : stop_[codes[q]]++);
  }
  INLINE Index place(Index q) const { return place_[q]; }
  INLINE Index start(Index c) const { return c ? stop_[c - 1] : 0; }
  INLINE Index stop(Index c) const { return stop_[c]; }
};

bool count(Strided<const double> x, Vector<const double> origin, Vector<const std::int64_t> codes,
           Matrix<std::uint32_t> tally) {
  const Index places = 2 * last + 2, k = tally.shape[0];
  if (!k) return false;
  const Index most_rows = least(tile, x.rows);
  const RowsByClass order(k, most_rows);
  const Index apart = most_rows + 1 + aside;  // cells of a column, by class and row
  const Buffer<std::uint16_t> found(apart * group);
  bool reached = false;
  Work work;
  for (Index i = 0; i < x.rows; i += tile) {
    const Index n = least(tile, x.rows - i);
    order.sort(&codes[i], n);
    for (Index done = 0; done < x.columns; done += group) {
      const Index width = least(group, x.columns), j = least(done, x.columns - width);
      Whole outermost{};
      if (x.down < x.across)
        for (Index g = done - j; g < width; ++g)
          for (Index q = 0; q < n; q += LANES) {
            std::uint16_t some_places[LANES];
            const Index many = least<Index>(LANES, n - q);
            const Lanes numbers = some(&x(i + q, j + g), x.down, many);
            write_places(numbers - splat(origin[j + g]), some_places, outermost);
            for (Index r = 0; r < many; ++r) found[g * apart + order.place(q + r)] = some_places[r];
          }
      else {
        const Lanes from = some(&origin[j], 1, width);
        for (Index q = 0; q < n; ++q) {
          const double* const later = &x(least(i + q + ahead, x.rows - 1), j);
          prefetch(later), prefetch(later + (width - 1) * x.across);
          std::uint16_t some_places[group];
          write_places(some(&x(i + q, j), x.across, width) - from, some_places, outermost);
          std::uint16_t* const to = found + order.place(q);
          UNROLL for (Index g = 0; g < group; ++g) to[g * apart] = some_places[g];
        }
      }
      const bool near = any(outermost);
      work.done(4 * n * group);
      for (Index g = done - j; g < width; ++g)  // without columns of the group before
        for (Index c = 0; c < k; ++c) {
          std::uint32_t* const counts = &tally(c, (j + g) * places);
          const std::uint16_t* const cells = found + g * apart;
          const std::uint16_t *q = cells + order.start(c), *const stop = cells + order.stop(c);
          if (near)  // unless it was one of a row without a class
            for (const auto* r = q; r < stop; ++r) reached |= *r == 1 || *r == 2 * last + 1;
          for (; q + 4 <= stop; q += 4) {
            std::uint64_t four;
            __builtin_memcpy(&four, q, sizeof four);
            ++counts[four & 0xFFFF], ++counts[four >> 16 & 0xFFFF];
            ++counts[four >> 32 & 0xFFFF], ++counts[four >> 48];
          }
          for (; q < stop; ++q) ++counts[*q];
        }
    }
  }
  return reached;
}

Index shown(Matrix<const std::uint32_t> tally, WrittenCounts to) {
  constexpr Index places = 2 * last + 2, step = 16;
  const Index columns = to.start.size() - 1;
  Index size = 0;
  Work work;
  for (Index column = 0; column < columns; ++column) {
    work.done(places);
    to.start[column] = size;
    const std::uint32_t* const counts = tally.at + column * places + 1;
    for (Index v = 0; v < places - 1; v += step) {
      const Index stop = least(v + step, places - 1);
      std::uint32_t any = 0;
      for (Index q = v; q < stop; ++q) any |= counts[q];
      if (!any) continue;
      for (Index q = v; q < stop; ++q)
        if (counts[q]) {
          if (size == to.cell.size()) return -1;
          to.cell[size] = static_cast<std::uint16_t>(q);
          to.count[size++] = counts[q];
        }
    }
  }
  to.start[columns] = size;
  return size;
}

Index cells_of(GivenCounts counts, Index d, Index j, Vector<std::uint16_t> cells) {
  constexpr Index every = 2 * last + 1, word = sizeof(std::uint64_t);
  const Buffer<std::uint8_t> is_shown(every + word);
  for (Index place = j; place + 1 < counts.start.size(); place += d)
    for (Index q = counts.start[place]; q < counts.start[place + 1]; ++q)
      is_shown[counts.cell[q]] = 1;
  Index size = 0;
  for (Index v = 0; v < every; v += word) {
    std::uint64_t some;
    __builtin_memcpy(&some, is_shown + v, word);
    if (!some) continue;
    for (Index q = v; q < v + word; ++q)
      if (is_shown[q]) cells[size++] = static_cast<std::uint16_t>(q);
  }
  return size;
}

void counts_of(GivenCounts counts, Index d, Index j, Vector<const std::uint16_t> cells,
               Matrix<double> out) {
  for (Index c = 0; c < out.shape[0]; ++c) {
    const Index place = c * d + j, stop = counts.start[place + 1];
    for (Index i = 0, q = counts.start[place]; i < cells.size(); ++i) {
      const bool own = q < stop && counts.cell[q] == cells[i];
      out(c, i) = own ? counts.count[q] : 0.0;
      q += own;
    }
  }
}

Index add(GivenCounts a, GivenCounts b, double sign, WrittenCounts to) {
  const Index columns = to.start.size() - 1;
  Index size = 0;
  bool exact = true;
  Work work;
  for (Index column = 0; column < columns; ++column) {
    to.start[column] = size;
    Index i = a.start[column], j = b.start[column];
    const Index i_stop = a.start[column + 1], j_stop = b.start[column + 1];
    work.done(4 * (i_stop - i + j_stop - j));
    while (i < i_stop || j < j_stop) {
      const bool in_a = i < i_stop && (j == j_stop || a.cell[i] <= b.cell[j]);
      const bool in_b = j < j_stop && (i == i_stop || b.cell[j] <= a.cell[i]);
      const auto sum = two_sum(in_a ? a.count[i] : 0.0, in_b ? sign * b.count[j] : 0.0);
      exact &= sum.lo == 0.0 && sum.hi >= 0.0;
      to.cell[size] = in_a ? a.cell[i] : b.cell[j];
      to.count[size] = sum.hi;
      size += sum.hi > 0.0;
      i += in_a, j += in_b;
    }
  }
  to.start[columns] = size;
  return exact ? size : -1;
}

Index unite(Vector<const std::int64_t> a, Vector<const std::int64_t> b, Vector<std::int64_t> at_a,
            Vector<std::int64_t> at_b) {
  Index size = 0;
  for (Index i = 0, j = 0; i < a.size() || j < b.size(); ++size) {
    const bool in_a = i < a.size() && (j == b.size() || a[i] <= b[j]);
    const bool in_b = j < b.size() && (i == a.size() || b[j] <= a[i]);
    if (in_b) at_b[j] = size;
    if (in_a) at_a[i] = size;
    i += in_a;
    j += in_b;
  }
  return size;
}

void find(Strided<const double> x, Vector<const std::int64_t> start, Vector<const double> low,
          Matrix<std::int64_t> out) {
  Work work;
  for (Index i = 0; i < x.rows; ++i)
    for (Index j = 0; j < x.columns; ++j) {
      work.done(16);
      const double value = x(i, j);
      Index bin = start[j], bins = start[j + 1] - bin;
      while (bins > 1) {  // it is one of so many from `bin` on
        const Index half = bins / 2;
        bin += low[bin + half] <= value ? half : 0;
        bins -= half;
      }
      out(i, j) = value == value ? bin : -1;
    }
}

INLINE std::uint64_t mixed(std::uint64_t x) {
  x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
  x = (x ^ x >> 27) * 0x94D049BB133111EBu;
  return x ^ x >> 31;
}

void hash(Strided<const double> x, Vector<const std::uint64_t> names,
          Vector<std::uint64_t> hashes) {
  const auto term = [&](Index i, Index j) {
    const double value = x(i, j) + 0.0;
    const std::uint64_t own = mixed(__builtin_bit_cast(std::uint64_t, value) + names[j]);
    return value == value ? own : 0;
  };
  Work work;
  if (x.down < x.across)
    for (Index j = 0; j < x.columns; ++j) {
      for (Index i = 0; i < x.rows; ++i) hashes[i] += term(i, j);
      work.done(2 * x.rows);
    }
  else
    for (Index i = 0; i < x.rows; ++i) {
      std::uint64_t total = 0;
      for (Index j = 0; j < x.columns; ++j) total += term(i, j);
      hashes[i] += total;
      work.done(2 * x.columns);
    }
}

}  // namespace

extern const Bins bins{cells, count, shown, cells_of, counts_of, add, unite, find, hash};

}  // namespace suffice::LEVEL
