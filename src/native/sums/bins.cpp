#include "sums/bins.hpp"

#include <algorithm>

#include "sums/bin_search.hpp"
#include "support/double_double.hpp"
#include "support/interrupts.hpp"
#include "support/memory.hpp"
#include "sums/pivots.hpp"
#include "support/simd.hpp"

namespace suffice::LEVEL {
namespace {

constexpr int parts = 256, octaves = 40, whole = 256;
constexpr int first = 2;  // rank of the cell that starts at 2^−40
constexpr int last = first + 2 * octaves * parts + whole;
constexpr int dropped = 52 - 8, tiny = (1023 - octaves) * parts;
constexpr Index tile = 8192;         // rows whose cells are found before they are counted,
constexpr Index of_class = 1024;     // or as many for each class,
constexpr Index most_rows = 65'536;  // at most,
constexpr Index widest = 64;         // and columns
constexpr Index strip = 512;         // rows of them that the second cache holds, and as many more
constexpr Index aside = 97;          // places that keep columns apart in the cache

typedef std::int32_t Whole __attribute__((vector_size(4 * WIDTH)));
typedef std::uint16_t Places __attribute__((vector_size(2 * WIDTH), aligned(2), may_alias));

INLINE Whole narrow(NativeBits x) { return __builtin_convertvector(x, Whole); }

// The cells of numbers, each plus one: 0 is NaN. Of numbers in one of the two outermost cells a bit
// of `outermost` is set.
#if defined(__AVX512DQ__)
using Outermost = __mmask16;

INLINE bool any(Outermost x) { return x; }

// Of a number that is no whole one ⌈|x|⌉ − 1 is the largest below it, of a whole one the last
// before.
INLINE __m512i places_of(Native a, Native b, Outermost& outermost) {
  constexpr int up = _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC;
  const auto one = _mm512_set1_epi32(1), farthest = _mm512_set1_epi32(last);
  const auto upper = _mm512_setr_epi32(1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
  const auto high = _mm512_permutex2var_epi32((__m512i)a, upper, (__m512i)b);
  const auto ceiling = [&](Native x) {  // at most 257; of NaN the least integer
    const auto size = _mm512_min_pd(_mm512_set1_pd(whole + 1), _mm512_abs_pd((__m512d)x));
    return _mm512_cvt_roundpd_epi32(size, up);
  };
  const auto next = _mm512_inserti64x4(_mm512_castsi256_si512(ceiling(a)), ceiling(b), 1);
  const auto size = _mm512_and_si512(high, _mm512_set1_epi32(0x7FFFFFFF));
  const auto octave = _mm512_srli_epi32(size, dropped - 32);
  const auto inner =
      _mm512_add_epi32(_mm512_add_epi32(octave, next), _mm512_set1_epi32(first - tiny - 1));
  const auto least = _mm512_min_epi32(next, one);  // 1 of tiny numbers, and 0 of 0
  const auto rank = _mm512_min_epi32(_mm512_max_epi32(inner, least), farthest);
  outermost |= _mm512_cmpeq_epi32_mask(rank, farthest);
  const __mmask16 negative = _mm512_movepi32_mask(high), number = ~_mm512_movepi32_mask(next);
  const auto middle = _mm512_add_epi32(farthest, one), place = _mm512_add_epi32(middle, rank);
  return _mm512_maskz_mov_epi32(number, _mm512_mask_sub_epi32(place, negative, middle, rank));
}

INLINE void write_places(Lanes x, std::uint16_t* to, Outermost& outermost) {
  const auto places = places_of(x.part[0], x.part[0], outermost);
  _mm_storeu_si128((__m128i*)to, _mm256_cvtepi32_epi16(_mm512_castsi512_si256(places)));
}

// Write those of eight rows (8, 8) by column; these are `apart`. The rows of one are in any order.
INLINE void write_square(const Lanes* x, std::uint16_t* to, Index apart, Outermost& outermost) {
  const auto four_rows = [&](const Lanes* of) {
    const auto low = places_of(of[0].part[0], of[1].part[0], outermost);
    const auto high = places_of(of[2].part[0], of[3].part[0], outermost);
    return _mm512_or_si512(low, _mm512_slli_epi32(high, 16));
  };
  const auto a = four_rows(x), b = four_rows(x + 4);
  const auto left = _mm512_setr_epi32(0, 8, 16, 24, 1, 9, 17, 25, 2, 10, 18, 26, 3, 11, 19, 27);
  const auto right = _mm512_add_epi32(left, _mm512_set1_epi32(4));
  const auto write_four = [&](__m512i columns, std::uint16_t* first_of) {
    const auto write = [&](Index j, __m128i rows) {
      _mm_storeu_si128((__m128i*)(first_of + j * apart), rows);
    };
    write(0, _mm512_castsi512_si128(columns));
    write(1, _mm512_extracti32x4_epi32(columns, 1));
    write(2, _mm512_extracti32x4_epi32(columns, 2));
    write(3, _mm512_extracti32x4_epi32(columns, 3));
  };
  write_four(_mm512_permutex2var_epi32(a, left, b), to);
  write_four(_mm512_permutex2var_epi32(a, right, b), to + 4 * apart);
}
#else
using Outermost = Whole;

INLINE bool any(Outermost x) {
  bool found = false;
  for (int q = 0; q < WIDTH; ++q) found |= x[q] != 0;
  return found;
}

INLINE void write_places(Lanes x, std::uint16_t* to, Outermost& outermost) {
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
    *reinterpret_cast<Places*>(to + WIDTH * p) = __builtin_convertvector(place & number, Places);
  }
}

// Write those of eight rows (8, 8) by column; these are `apart`.
INLINE void write_square(const Lanes* x, std::uint16_t* to, Index apart, Outermost& outermost) {
  for (Index r = 0; r < LANES; ++r) {
    std::uint16_t places[LANES];
    write_places(x[r], places, outermost);
    UNROLL for (Index j = 0; j < LANES; ++j) to[j * apart + r] = places[j];
  }
}
#endif

// Up to eight numbers that are so far apart, and zeros.
INLINE Lanes some(const double* at, Index apart, Index many) {
  if (apart == 1 && many == LANES) return load(at);
  double number[LANES] = {};
  for (Index q = 0; q < many; ++q) number[q] = at[q * apart];
  return load(number);
}

void cells(Strided<const double> x, Vector<const double> origin, Matrix<std::int32_t> out) {
  std::uint16_t places[LANES];
  Outermost outermost{};
  Work work;
  for (Index i = 0; i < x.rows; ++i)
    for (Index j = 0; j < x.columns; j += LANES) {
      work.done(2 * LANES);
      const Index width = least<Index>(LANES, x.columns - j);
      write_places(some(&x(i, j), x.across, width) - some(&origin[j], 1, width), places, outermost);
      for (Index g = 0; g < width; ++g) out(i, j + g) = places[g] - 1;
    }
}

// The cells of a tile of numbers, plus one, by column, class and row: those of the counts of one
// class and column lie side by side, so that these stay in the nearest cache.
class Tile {
  const Index k_;
  Buffer<Index> start_, next_;  // of every class: its first row, and the first not yet found
  Buffer<Index> rows_;          // by class
  Index apart_;                 // of columns
  Buffer<std::uint16_t> places_;

 public:
  Tile(Index k, Index rows, Index columns)
      : k_(k), start_(k + 2), next_(k), rows_(rows), apart_(rows + LANES * k + aside),
        places_(apart_ * most<Index>(columns, LANES)) {}

  void sort(const std::int64_t* codes, Index n) {
    group(codes, n, k_, start_, rows_);
    copy<Index>(next_, start_, k_);
  }
  INLINE const std::uint16_t* of_class(Index j, Index c) const { return place(j, c, start_[c]); }
  INLINE Index rows_of_class(Index c) const { return start_[c + 1] - start_[c]; }

  // Find the cells of rows that lie one after the other. A strip is read once, of all classes,
  // while the next is asked for.
  void find_by_rows(Strided<const double> x, const double* origin, Index after,
                    Outermost& outermost) {
    const Index columns = least<Index>(LANES, x.columns);
    for (Index stop = strip, asked = strip; stop < x.rows + strip; stop += strip)
      for (Index c = 0; c < k_; ++c)
        for (Index& q = next_[c]; q < start_[c + 1] && rows_[q] < stop;) {
          Index many = 0, row[LANES];
          do row[many++] = rows_[q++];
          while (many < LANES && q < start_[c + 1] && rows_[q] < stop);
          for (Index r = many; r < LANES; ++r) row[r] = row[r - 1];  // its place is written again
          for (Index r = 0; r < many; ++r, ++asked) ask_for(x, least(asked, after));
          for (Index j = 0; j < x.columns; j += columns) {
            const Index at = least(j, x.columns - columns);  // some columns are found again
            const Lanes from = some(origin + at, 1, columns);
            Lanes numbers[LANES];
            UNROLL for (Index r = 0; r < LANES; ++r) numbers[r] =
                some(&x(row[r], at), x.across, columns) - from;
            write_square(numbers, place(at, c, q - many), apart_, outermost);
          }
        }
  }

  // Find the cells of columns that lie one after the other.
  void find_by_columns(Strided<const double> x, const double* origin, Outermost& outermost) {
    for (Index j = 0; j < x.columns; ++j)
      for (Index c = 0; c < k_; ++c)
        for (Index q = start_[c]; q < start_[c + 1]; q += LANES) {
          double numbers[LANES];
          for (Index r = 0; r < LANES; ++r)
            numbers[r] = x(rows_[least(q + r, start_[c + 1] - 1)], j);
          write_places(load(numbers) - splat(origin[j]), place(j, c, q), outermost);
        }
  }

 private:
  // Up to seven places more are written, before the next class.
  INLINE std::uint16_t* place(Index j, Index c, Index q) const {
    return places_ + j * apart_ + c * LANES + q;
  }
  static INLINE void ask_for(Strided<const double> x, Index i) {
    for (Index j = 0; j < x.columns; j += LANES) prefetch(&x(i, j));
    prefetch(&x(i, x.columns - 1));
  }
};

// Add one; return whether that made it 0.
INLINE bool count_one(std::uint8_t& low) {
#if defined(__x86_64__)
  bool carries;  // the compiler would take four instructions
  __asm__("addb $1, %0" : "+m"(low), "=@ccc"(carries));
  return carries;
#else
  return !++low;
#endif
}

INLINE void count_places(const std::uint16_t* q, Index many, std::uint8_t* low,
                         std::uint16_t* carried) {
  const std::uint16_t* const stop = q + many;
  const auto one = [&](std::uint64_t place) {
    if (count_one(low[place])) [[unlikely]]
      ++carried[place];
  };
  for (; q + 4 <= stop; q += 4) {
    std::uint64_t four;
    __builtin_memcpy(&four, q, sizeof four);
    one(four & 0xFFFF), one(four >> 16 & 0xFFFF), one(four >> 32 & 0xFFFF), one(four >> 48);
  }
  for (; q < stop; ++q) one(*q);
}

bool count(Strided<const double> x, Vector<const double> origin, Vector<const std::int64_t> codes,
           Tally<std::uint8_t, std::uint16_t> tally) {
  constexpr Index places = 2 * last + 2;
  const Index k = tally.low.shape[0], d = x.columns;
  if (!k || !d) return false;
  const Index blocks = (d + widest - 1) / widest, width = (d + blocks - 1) / blocks;
  const Index size = least(x.rows, least(most_rows, most(tile, k * of_class)));
  Tile found(k, size, width);
  bool reached = false;
  Work work;
  for (Index i = 0; i < x.rows; i += size) {
    const Index n = least(size, x.rows - i);
    for (Index left = 0; left < d; left += width) {
      const Strided<const double> part{&x(i, left), n, least(width, d - left), x.down, x.across};
      Outermost outermost{};
      found.sort(&codes[i], n);
      if (x.down < x.across)
        found.find_by_columns(part, &origin[left], outermost);
      else
        found.find_by_rows(part, &origin[left], x.rows - 1 - i, outermost);
      work.done(4 * n * part.columns);
      for (Index j = 0; j < part.columns; ++j)
        for (Index c = 0; c < k; ++c) {
          const std::uint16_t* const at = found.of_class(j, c);
          const Index many = found.rows_of_class(c);
          if (any(outermost))  // unless it was one of a row without a class
            for (Index q = 0; q < many; ++q) reached |= at[q] == 1 || at[q] == 2 * last + 1;
          const Index first = (left + j) * places;
          count_places(at, many, &tally.low(c, first), &tally.carried(c, first));
        }
    }
  }
  return reached;
}

Index shown(Tally<const std::uint8_t, const std::uint16_t> tally, WrittenCounts to) {
  constexpr Index places = 2 * last + 2, step = 64;
  const Index columns = to.start.size() - 1;
  Index size = 0;
  Work work;
  for (Index column = 0; column < columns; ++column) {
    work.done(places);
    to.start[column] = size;
    const auto* const low = tally.low.at + column * places + 1;
    const auto* const carried = tally.carried.at + column * places + 1;
    for (Index v = 0; v < places - 1; v += step) {
      const Index many = least(step, places - 1 - v);
      std::int32_t counts[step], any = 0;
      for (Index q = 0; q < many; ++q) any |= counts[q] = low[v + q] + 256 * carried[v + q];
      if (!any) continue;
      for (Index q = 0; q < many; ++q) {
        if (!counts[q]) continue;
        if (size == to.cell.size()) return -1;
        to.cell[size] = static_cast<std::uint16_t>(v + q), to.count[size++] = counts[q];
      }
    }
  }
  to.start[columns] = size;
  return size;
}

// The places of some numbers and how many lie at each, ascending; 0 is left out.
class Runs {
  static constexpr Index FEW = 96;  // are sorted: a table takes time to be looked through,
  static constexpr Index STEP = 8;  // so many places at a time
  const Buffer<std::uint16_t> sorted_;
  const Buffer<std::uint32_t> table_;

 public:
  Runs() : sorted_(FEW), table_(2 * last + 2 + STEP) {}

  template <class Run>
  INLINE void each(const std::uint16_t* places, Index many, const Run& run) const {
    if (many < FEW) {
      std::copy_n(places, many, &sorted_[0]);
      std::sort(&sorted_[0], &sorted_[many]);
      for (Index q = 0, next; q < many; q = next) {
        for (next = q + 1; next < many && sorted_[next] == sorted_[q];) ++next;
        if (sorted_[q]) run(sorted_[q], next - q);
      }
      return;
    }
    Index lowest = 2 * last + 1, highest = 0;
    for (Index q = 0; q < many; ++q) {
      const Index place = places[q];
      lowest = least(lowest, place), highest = most(highest, place);
      ++table_[place];
    }
    for (Index first = lowest; first <= highest; first += STEP) {
      std::uint32_t any = 0;
      for (Index q = 0; q < STEP; ++q) any |= table_[first + q];
      if (!any) continue;
      for (Index place = first; place < first + STEP; ++place) {
        if (place && table_[place]) run(place, table_[place]);
        table_[place] = 0;
      }
    }
  }
};

Index count_apart(Strided<const double> x, Vector<const double> origin,
                  Vector<const std::int64_t> codes, Index k, WrittenCounts to) {
  const Index d = x.columns, width = least(d, widest);
  fill(to.start.at, to.start.size(), std::int64_t{0});
  if (!k || !d || !x.rows) return 0;
  Tile found(k, x.rows, width);
  const Runs runs;
  const Buffer<Index> room(k);  // where that for a class begins: a place for each of its numbers
  Work work;
  for (Index left = 0; left < d; left += width) {
    const Strided<const double> part{&x(0, left), x.rows, least(width, d - left), x.down, x.across};
    Outermost outermost{};
    found.sort(codes.at, x.rows);
    for (Index c = 1; c < k; ++c) room[c] = room[c - 1] + d * found.rows_of_class(c - 1);
    if (x.down < x.across)
      found.find_by_columns(part, &origin[left], outermost);
    else
      found.find_by_rows(part, &origin[left], x.rows - 1, outermost);
    work.done(16 * x.rows * part.columns);
    for (Index j = left; j < left + part.columns; ++j)
      for (Index c = 0; c < k; ++c) {
        const Index many = found.rows_of_class(c), begin = room[c] + j * many;
        Index at = begin;
        runs.each(found.of_class(j - left, c), many, [&](Index place, Index count) {
          to.cell[at] = static_cast<std::uint16_t>(place - 1);
          to.count[at++] = static_cast<double>(count);
        });
        to.start[c * d + j + 1] = at - begin;
      }
  }
  Index size = 0;
  for (Index column = 0; column < k * d; ++column) {
    const Index c = column / d, begin = room[c] + column % d * found.rows_of_class(c);
    const Index many = to.start[column + 1];
    copy<std::uint16_t>(&to.cell[size], &to.cell[begin], many);
    copy<double>(&to.count[size], &to.count[begin], many);
    to.start[column + 1] = size += many;
  }
  return size;
}

Index cells_of(GivenCounts counts, Index d, Index j, Vector<std::uint16_t> cells,
               Vector<double> every) {
  constexpr Index all = 2 * last + 1, word = sizeof(std::uint64_t);
  const Buffer<std::uint8_t> is_shown(all + word);
  const Buffer<std::uint16_t> rank(all);
  const auto each = [&](const auto& add) {
    for (Index place = j; place + 1 < counts.start.size(); place += d)
      for (Index q = counts.start[place]; q < counts.start[place + 1]; ++q) add(q, counts.cell[q]);
  };
  each([&](Index, std::uint16_t cell) { is_shown[cell] = 1; });
  Index size = 0;
  for (Index v = 0; v < all; v += word) {
    std::uint64_t some;
    __builtin_memcpy(&some, is_shown + v, word);
    if (!some) continue;
    for (Index q = v; q < v + word; ++q)
      if (is_shown[q]) {
        rank[q] = static_cast<std::uint16_t>(size), every[size] = 0.0;
        cells[size++] = static_cast<std::uint16_t>(q);
      }
  }
  each([&](Index q, std::uint16_t cell) { every[rank[cell]] += counts.count[q]; });
  return size;
}

void counts_of(GivenCounts counts, Index d, Index j, Vector<const std::uint16_t> cells,
               Vector<const std::int64_t> cuts, Matrix<double> out) {
  const Buffer<std::uint16_t> place(2 * last + 1);
  for (Index i = 0, part = 0; i < cells.size(); ++i) {
    if (part < cuts.size() && cuts[part] == i) ++part;
    place[cells[i]] = static_cast<std::uint16_t>(part);
  }
  for (Index c = 0; c < out.shape[0]; ++c) {
    fill(&out(c, 0), out.shape[1], 0.0);
    for (Index q = counts.start[c * d + j]; q < counts.start[c * d + j + 1]; ++q)
      out(c, place[counts.cell[q]]) += counts.count[q];
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

void find(Strided<const double> x, Vector<const std::int64_t> start, Vector<const double> low,
          Matrix<std::int64_t> out) {
  Work work;
  for (Index i = 0; i < x.rows; i += LANES) {
    const Index rows = least<Index>(LANES, x.rows - i);
    for (Index j = 0; j < x.columns; ++j) {
      double numbers[LANES];
      std::int64_t bins[LANES];
      read_column(x, i, j, rows, numbers);
      find_bins(numbers, low.at, start[j], start[j + 1] - start[j], -1, bins);
      for (Index r = 0; r < rows; ++r) out(i + r, j) = bins[r];
    }
    work.done(16 * rows * x.columns);
  }
}

template <class Bits>
INLINE Bits mixed(Bits x) {
  x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
  x = (x ^ x >> 27) * 0x94D049BB133111EBu;
  return x ^ x >> 31;
}

// What a number adds to the hash of its row: that of its bits and the name; of NaN 0.
INLINE std::uint64_t term(double value, std::uint64_t name) {
  const std::uint64_t own = mixed(__builtin_bit_cast(std::uint64_t, value + 0.0) + name);
  return value == value ? own : 0;
}

// The hash of a row of at least eight numbers side by side. The last eight overlap those before,
// of which they add nothing again.
INLINE std::uint64_t of_row(const double* x, const std::uint64_t* names, Index d) {
  typedef std::uint64_t Bits __attribute__((vector_size(8 * WIDTH)));
  typedef std::uint64_t InMemory __attribute__((vector_size(8 * WIDTH), aligned(8), may_alias));
  static constexpr double none = __builtin_nan("");
  static constexpr double fresh[2 * LANES] = {none, none, none, none, none, none, none, none};
  Bits total{};
  const auto add = [&](Index at, Native value) {
    const Bits name = *reinterpret_cast<const InMemory*>(names + at);
    const Bits own = mixed((Bits)value + name);
    total = value == value ? total + own : total;
  };
  const Index ending = d - LANES;
  for (Index j = 0; j <= ending; j += LANES)
    for (int q = 0; q < LANES; q += WIDTH) add(j + q, native_load(x + j + q) + native(0.0));
  if (d % LANES)
    for (int q = 0; q < LANES; q += WIDTH)
      add(ending + q, native_load(x + ending + q) + native_load(fresh + d % LANES + q));
  std::uint64_t sum = 0;
  for (int q = 0; q < WIDTH; ++q) sum += total[q];
  return sum;
}

void hash(Strided<const double> x, Vector<const std::uint64_t> names,
          Vector<std::uint64_t> hashes) {
  const Index d = x.columns;
  Work work;
  if (x.down < x.across) {
    for (Index j = 0; j < d; ++j) {
      for (Index i = 0; i < x.rows; ++i) hashes[i] += term(x(i, j), names[j]);
      work.done(2 * x.rows);
    }
    return;
  }
  const bool side_by_side = x.across == 1 && d >= LANES;
  for (Index i = 0; i < x.rows; ++i) {
    if (side_by_side)
      hashes[i] += of_row(&x(i, 0), names.at, d);
    else
      for (Index j = 0; j < d; ++j) hashes[i] += term(x(i, j), names[j]);
    work.done(2 * d);
  }
}

}  // namespace

extern const Bins bins{cells, count, shown, count_apart, cells_of, counts_of, add, find, hash};

}  // namespace suffice::LEVEL
