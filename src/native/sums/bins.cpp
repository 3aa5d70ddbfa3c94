#include "sums/bins.hpp"

#include <algorithm>

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
constexpr Index cell_count = 2 * last + 1, place_count = cell_count + 1;  // one for NaN
constexpr Index strip = 512;  // rows that the second cache holds, and as many more
constexpr Index aside = 97;   // places that keep columns apart in the cache

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

// Write those of eight rows (8, 8) by column; these are `apart`.
INLINE void write_square(const Lanes* x, std::uint16_t* to, Index apart, Outermost& outermost) {
  const auto four_rows = [&](const Lanes* of) {
    const auto low = places_of(of[0].part[0], of[2].part[0], outermost);
    const auto high = places_of(of[1].part[0], of[3].part[0], outermost);
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
  INLINE const Index* rows_of(Index c) const { return rows_ + start_[c]; }
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

// The counts of one class and column, cell by cell. Of others than those that `Writer` writes it
// reads some cells of the grid.
class Reader {
  const std::uint8_t *at_, *const stop_;

  INLINE std::uint64_t number() {
    std::uint64_t found = 0;
    for (int shift = 0; at_ < stop_ && shift < 63; shift += 7) {
      const std::uint64_t byte = *at_++;
      found |= (byte & 127) << shift;
      if (byte < 128) break;
    }
    return found;
  }

 public:
  Index cell = -1;  // past the last one at the end
  Pair<double> weight{0.0, 0.0};

  INLINE Reader(GivenCounts counts, Index column)
      : at_(counts.packed.at + counts.start[column]),
        stop_(counts.packed.at + counts.start[column + 1]) {}

  INLINE bool next() {
    if (at_ == stop_) return cell = cell_count, false;
    const std::uint64_t head = number();
    cell = head / 4 < cell_count ? least(cell + 1 + static_cast<Index>(head / 4), cell_count)
                                 : cell_count;
    const std::uint64_t many = head % 4 < 3 ? head % 4 + 1 : number();
    weight = {static_cast<double>(many), 0.0};
    const bool is_whole = head % 4 < 3 || many >= 2;
    const Index more = is_whole ? 0 : static_cast<Index>((many + 1) * sizeof(double));
    if (stop_ - at_ >= more) __builtin_memcpy(&weight, at_, more), at_ += more;
    return cell < cell_count;
  }
};

// Write counts one after the other, as long as there is room.
class Writer {
  const Vector<std::uint8_t> to_;
  Index size_ = 0, cell_ = -1;

  INLINE void number(std::uint64_t x) {
    for (; x >= 128; x >>= 7) to_[size_++] = static_cast<std::uint8_t>(x | 128);
    to_[size_++] = static_cast<std::uint8_t>(x);
  }

 public:
  explicit Writer(Vector<std::uint8_t> to) : to_(to) {}
  INLINE Index size() const { return size_; }
  INLINE void begin() { cell_ = -1; }  // another class or column

  INLINE void put(Index cell, Pair<double> weight) {
    const bool normal = weight.hi <= LARGEST && weight.hi + weight.lo == weight.hi;
    if (size_ + LONGEST_COUNT > to_.size() || !normal) return;
    const bool whole =
        weight.lo == 0.0 && weight.hi == __builtin_floor(weight.hi) && weight.hi < 0x1p53;
    const auto many = static_cast<std::uint64_t>(whole ? weight.hi : weight.lo != 0.0);
    const bool few = whole && many < 4;
    number(4 * (cell - cell_ - 1) + (few ? many - 1 : 3));
    cell_ = cell;
    if (few) return;
    number(many);
    if (whole) return;
    const auto bytes = static_cast<Index>((many + 1) * sizeof(double));
    __builtin_memcpy(to_.at + size_, &weight, bytes);
    size_ += bytes;
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

// A place for every cell, in which the numbers of one class and column are counted, or their
// weights added.
class CellTable {
  static constexpr Index BLOCK = 64, WORD = 8;  // places that are looked at together
  std::uint8_t* const low_;                     // 0 where there is no number; how many, less
  std::uint16_t* const carried_;                // 128 times these
  double *const weight_, *const rounding_;      // and what it left

 public:
  CellTable(Tally tally, Index table, double* weight)
      : low_(&tally.low(table, 0)), carried_(&tally.carried(table, 0)), weight_(weight),
        rounding_(weight == nullptr ? nullptr : weight + place_count) {}

  INLINE void add(const std::uint16_t* place, Index many) const {
    const std::uint16_t* const stop = place + many;
    const auto one = [&](std::uint64_t at) {
      if (count_one(low_[at])) [[unlikely]]
        low_[at] = 128, ++carried_[at];
    };
    for (; place + 4 <= stop; place += 4) {
      std::uint64_t four;
      __builtin_memcpy(&four, place, sizeof four);
      one(four & 0xFFFF), one(four >> 16 & 0xFFFF), one(four >> 32 & 0xFFFF), one(four >> 48);
    }
    for (; place < stop; ++place) one(*place);
  }
  INLINE void add_weighted(const std::uint16_t* place, const Index* row, Index many,
                           const double* weights) const {
    for (Index q = 0; q < many; ++q) {
      const double w = weights[row[q]];
      const auto sum = two_sum(weight_[place[q]], w);
      weight_[place[q]] = sum.hi, rounding_[place[q]] += sum.lo;
      low_[place[q]] |= w > 0.0;
    }
  }

  // Write what lies at places up to `highest`, and clear it.
  INLINE void take(Index lowest, Index highest, bool weighted, Writer& to) const {
    for (Index first = lowest - lowest % BLOCK; first <= highest; first += BLOCK) {
      std::uint64_t words[BLOCK / WORD], any = 0;
      __builtin_memcpy(words, low_ + first, BLOCK);
      for (const std::uint64_t word : words) any |= word;
      if (!any) continue;
      for (Index w = 0; w < BLOCK; w += WORD)
        for (Index v = first + w; words[w / WORD] && v < first + w + WORD; ++v)
          take_one(v, weighted, to);
    }
  }
  // The same of fewer numbers than `FEW`, whose places are sorted.
  INLINE void take_few(const std::uint16_t* place, Index many, bool weighted, Writer& to) const {
    std::uint16_t sorted[FEW];
    std::copy_n(place, many, sorted);
    std::sort(sorted, sorted + many);
    for (Index q = 0; q < many; ++q) take_one(sorted[q], weighted, to);
  }

  static constexpr Index FEW = 96;

 private:
  // The first place is that of NaN.
  INLINE void take_one(Index v, bool weighted, Writer& to) const {
    if (!low_[v]) return;
    Pair<double> count{static_cast<double>(low_[v] + 128 * carried_[v]), 0.0};
    if (weighted) {
      count = two_sum(weight_[v], rounding_[v]);
      weight_[v] = rounding_[v] = 0.0;
    }
    if (v) to.put(v - 1, count);
    low_[v] = 0, carried_[v] = 0;
  }
};

Index count(Strided<const double> x, Vector<const double> origin, Vector<const std::int64_t> codes,
            Vector<const double> weights, Index k, Tally tally, WrittenCounts to) {
  const bool weighted = weights.size(), stay = !to.packed.size();
  Writer writer(to.packed);
  fill<std::int64_t>(to.start.at, to.start.size(), 0);
  if (!k || !x.columns) return 0;
  Tile found(k, x.rows, x.columns);
  const Buffer<double> sums(weighted ? 2 * place_count : 0);
  Outermost outermost{};
  found.sort(codes.at, x.rows);
  if (x.down < x.across)
    found.find_by_columns(x, origin.at, outermost);
  else
    found.find_by_rows(x, origin.at, x.rows - 1, outermost);
  Work work;
  for (Index j = 0; j < x.columns; ++j)
    for (Index c = 0; c < k; ++c) {
      const std::uint16_t* const at = found.of_class(j, c);
      const Index many = found.rows_of_class(c);
      work.done(16 * many);
      const CellTable table(tally, stay ? j * k + c : 0, sums);
      if (weighted)
        table.add_weighted(at, found.rows_of(c), many, weights.at);
      else
        table.add(at, many);
      if (stay) continue;
      writer.begin();
      if (many < CellTable::FEW) {
        table.take_few(at, many, weighted, writer);
      } else {
        std::uint16_t lowest = place_count, highest = 0;
        for (Index q = 0; q < many; ++q)
          lowest = least(lowest, at[q]), highest = most(highest, at[q]);
        table.take(lowest, highest, weighted, writer);
      }
      to.start[j * k + c + 1] = writer.size();
    }
  return any(outermost) ? -1 - writer.size() : writer.size();
}

Index taken(Tally tally, WrittenCounts to) {
  Writer writer(to.packed);
  to.start[0] = 0;
  for (Index table = 0; table < tally.low.shape[0]; ++table) {
    writer.begin();
    CellTable(tally, table, nullptr).take(0, cell_count, false, writer);
    to.start[table + 1] = writer.size();
  }
  return writer.size();
}

Index cells_of(GivenCounts counts, Index k, Index j, Vector<std::uint16_t> cells,
               Vector<double> every) {
  constexpr Index word = sizeof(std::uint64_t);
  const Buffer<std::uint8_t> is_shown(cell_count + word);
  const Buffer<std::uint16_t> rank(cell_count);
  const auto each = [&](const auto& add) {
    for (Index c = 0; c < k; ++c)
      for (Reader at(counts, j * k + c); at.next();) add(at);
  };
  each([&](const Reader& at) { is_shown[at.cell] = 1; });
  Index size = 0;
  for (Index v = 0; v < cell_count; v += word) {
    std::uint64_t some;
    __builtin_memcpy(&some, is_shown + v, word);
    if (!some) continue;
    for (Index q = v; q < v + word; ++q)
      if (is_shown[q]) {
        rank[q] = static_cast<std::uint16_t>(size), every[size] = 0.0;
        cells[size++] = static_cast<std::uint16_t>(q);
      }
  }
  each([&](const Reader& at) { every[rank[at.cell]] += at.weight.hi; });
  return size;
}

void counts_of(GivenCounts counts, Index j, Vector<const std::uint16_t> cells,
               Vector<const std::int64_t> cuts, Matrix<double> out) {
  const Buffer<std::uint16_t> place(cell_count);
  for (Index i = 0, part = 0; i < cells.size(); ++i) {
    if (part < cuts.size() && cuts[part] == i) ++part;
    place[cells[i]] = static_cast<std::uint16_t>(part);
  }
  for (Index c = 0; c < out.shape[0]; ++c) {
    fill(&out(c, 0), out.shape[1], 0.0);
    for (Reader at(counts, j * out.shape[0] + c); at.next();)
      out(c, place[at.cell]) += at.weight.hi;
  }
}

Index add(GivenCounts a, GivenCounts b, double sign, WrittenCounts to) {
  constexpr double noise = 0x1p-90;  // what rounding may leave of a sum whose rows are taken away
  Writer writer(to.packed);
  Work work;
  to.start[0] = 0;
  for (Index column = 0; column + 1 < to.start.size(); ++column) {
    Reader i(a, column), j(b, column);
    work.done(4 * (a.start[column + 1] - a.start[column] + b.start[column + 1] - b.start[column]));
    writer.begin(), i.next(), j.next();
    for (Index cell; (cell = least(i.cell, j.cell)) < cell_count;) {
      Pair<double> sum{0.0, 0.0};
      if (i.cell == cell) sum = i.weight, i.next();
      const double before = sum.hi;
      if (j.cell == cell) {
        const Pair<double> more{sign * j.weight.hi, sign * j.weight.lo};
        sum = sum.lo != 0.0 || more.lo != 0.0 ? sum + more : two_sum(sum.hi, more.hi);
        j.next();
      }
      if (sum.hi < -noise * before) return -1 - column;
      if (sum.hi > noise * before) writer.put(cell, sum);
    }
    to.start[column + 1] = writer.size();
  }
  return writer.size();
}

Index scale(GivenCounts counts, double factor, WrittenCounts to) {
  constexpr double near = 1e-12;
  Writer writer(to.packed);
  Work work;
  to.start[0] = 0;
  for (Index column = 0; column + 1 < to.start.size(); ++column) {
    writer.begin();
    for (Reader at(counts, column); at.next();) {
      auto product = at.weight * Pair<double>{factor, 0.0};
      const double whole = __builtin_rint(product.hi);
      if (__builtin_fabs(product.hi - whole) <= near * whole) product = {whole, 0.0};
      if (product.hi > 0.0) writer.put(at.cell, product);
    }
    work.done(8 * (counts.start[column + 1] - counts.start[column]));
    to.start[column + 1] = writer.size();
  }
  return writer.size();
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

extern const Bins bins{count, taken, cells_of, counts_of, add, scale, hash};

}  // namespace suffice::LEVEL
