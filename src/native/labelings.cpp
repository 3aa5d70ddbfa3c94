#include "labelings.hpp"

#include "double_double.hpp"
#include "interrupts.hpp"
#include "memory.hpp"
#include "simd.hpp"

namespace suffice::LEVEL {
namespace {

constexpr Index BLOCK = 128;         // rows whose classes are counted in bytes
constexpr Index MOST = 256;          // classes, and folds: what a byte holds
constexpr Index IN_CACHE = 1 << 12;  // numbers of rows that are read again for every labeling

// -- folds

// How many of the rows place, place + f, ... of sorted labels lie before an edge.
INLINE Index before(Index edge, Index place, Index f) {
  return most<Index>(edge - place + f - 1, 0) / f;
}

// Where the classes of labels stand among their folds.
class Shares {
  Index classes_;
  Buffer<Index> share_, fold_, left_;

 public:
  template <class T>
  Shares(const T* codes, Index n, Index classes, Index f)
      : classes_(classes), share_(f * classes), fold_(classes), left_(classes) {
    const Buffer<Index> size(classes), order(classes);
    Index seen = 0, start = 0, i = 0;
    for (; i < n && seen < classes; ++i)
      if (size[codes[i]]++ == 0) order[seen++] = codes[i];
    for (; i < n; ++i) ++size[codes[i]];
    for (Index q = 0; q < seen; start += size[order[q++]])
      for (Index g = 0; g < f; ++g)
        share_[g * classes + order[q]] = before(start + size[order[q]], g, f) - before(start, g, f);
    copy<Index>(left_, share_, classes);
  }
  // The fold of the next row of a class.
  INLINE Index next(Index c) const {
    while (left_[c] == 0) left_[c] = share_[++fold_[c] * classes_ + c];
    --left_[c];
    return fold_[c];
  }
  // Take rows of a class together where one fold has room for all of them; else, −1.
  INLINE Index next_rows(Index c, Index rows) const {
    if (left_[c] < rows) return -1;
    left_[c] -= rows;
    return fold_[c];
  }
};

// Write the folds of a block of rows, class by class: the rows of most blocks are in one fold each.
template <class T>
INLINE void stratify_block(const T* codes, Index classes, const Shares& shares, T* folds) {
  for (Index c = 0; c < classes; ++c) {
    const auto code = static_cast<T>(c);
    T rows = 0;
    for (Index i = 0; i < BLOCK; ++i) rows = static_cast<T>(rows + (codes[i] == code));
    const Index fold = shares.next_rows(c, static_cast<Index>(rows));
    if (fold >= 0) {
      const auto own = static_cast<T>(fold);
      for (Index i = 0; i < BLOCK; ++i) folds[i] = codes[i] == code ? own : folds[i];
    } else {
      for (Index i = 0; i < BLOCK; ++i)
        if (codes[i] == code) folds[i] = static_cast<T>(shares.next(c));
    }
  }
}

template <class T>
void stratify(Matrix<const T> codes, Index classes, Index f, Matrix<T> folds) {
  constexpr Index FEW = 16;  // classes that a block is looked through for
  const Index n = codes.shape[1];
  Work work;
  for (Index p = 0; p < codes.shape[0]; ++p) {
    work.done(4 * n);
    const T* code = codes.at + p * n;
    T* fold = folds.at + p * n;
    const Shares shares(code, n, classes, f);
    Index i = 0;
    if (classes <= FEW)
      for (; i + BLOCK <= n; i += BLOCK) stratify_block(code + i, classes, shares, fold + i);
    for (; i < n; ++i) fold[i] = static_cast<T>(shares.next(code[i]));
  }
}

// -- sums

// Add a row to the sums of its cells in L labelings, each of them (m,).
template <int L>
INLINE void add_row(const double* row, Index m, double* const* to) {
  Index j = 0;
  for (; j + LANES <= m; j += LANES) {
    const Lanes x = load(row + j);
    UNROLL for (int p = 0; p < L; ++p) store(to[p] + j, load(to[p] + j) + x);
  }
  for (; j < m; ++j) UNROLL for (int p = 0; p < L; ++p) to[p][j] += row[j];
}

// Add rows to the sums of L labelings from the one of number `p` on.
template <int L>
INLINE void add_rows_to(Matrix<const double> x, Index first, Index stop, Bytes codes, Bytes folds,
                        Index classes, Cube<double> sums, Index p) {
  const Index n = x.shape[0], m = x.shape[1];
  for (Index i = first; i < stop; ++i) {
    double* to[L];
    UNROLL for (int q = 0; q < L; ++q) {
      const Index at = (p + q) * n + i;
      to[q] = &sums(p + q, folds.at[at] * classes + codes.at[at], 0);
    }
    add_row<L>(x.at + i * m, m, to);
  }
}

void add_rows(Matrix<const double> x, Bytes codes, Bytes folds, Index classes, Cube<double> sums) {
  const Index n = x.shape[0], step = most<Index>(IN_CACHE / most<Index>(x.shape[1], 1), 1);
  Work work;
  for (Index first = 0; first < n; first += step) {
    const Index stop = least(n, first + step);
    work.done(codes.shape[0] * (stop - first) * (1 + x.shape[1] / LANES));
    Index p = 0;
    for (; p + 4 <= codes.shape[0]; p += 4)
      add_rows_to<4>(x, first, stop, codes, folds, classes, sums, p);
    for (; p < codes.shape[0]; ++p) add_rows_to<1>(x, first, stop, codes, folds, classes, sums, p);
  }
}

// Add to `found` (MOST,) how many rows of a block have each number, of those that are `wanted`.
INLINE void count_block(const std::uint8_t* numbers, const std::uint8_t* wanted, Index bound,
                        double* found) {
  for (Index g = 0; g < bound; ++g) {
    const auto number = static_cast<std::uint8_t>(g);
    std::uint8_t rows = 0;
    for (Index i = 0; i < BLOCK; ++i)
      rows = static_cast<std::uint8_t>(rows + ((numbers[i] == number) & wanted[i]));
    found[g] += rows;
  }
}

void tally(Bytes codes, Bytes folds, Index classes, Matrix<double> sizes) {
  const Index n = codes.shape[1], f = sizes.shape[1] / classes;
  const Buffer<std::uint8_t> own(BLOCK), fold(BLOCK);
  const Buffer<double> found(MOST);
  fill<double>(sizes.at, sizes.size(), 0.0);
  Work work;
  for (Index p = 0; p < codes.shape[0]; ++p)
    for (Index first = 0; first < n; first += BLOCK) {
      const Index rows = least(BLOCK, n - first);
      work.done(8 * classes * (f + 1));
      const std::uint8_t* code = codes.at + p * n + first;
      copy<std::uint8_t>(fold, folds.at + p * n + first, rows);
      fill<std::uint8_t>(own, BLOCK, 0);
      for (Index c = 0; c < classes; ++c) {
        for (Index i = 0; i < rows; ++i) own[i] = code[i] == c;
        fill<double>(found, f, 0.0);
        count_block(fold, own, f, found);
        for (Index g = 0; g < f; ++g) sizes(p, g * classes + c) += found[g];
      }
    }
}

// -- scores: rows are the lanes, and each takes what the model of its fold has

// The folds of eight rows.
struct Folds {
#if defined(__AVX512F__)
  __m512i of;
  INLINE explicit Folds(const std::uint8_t* at)
      : of(_mm512_cvtepu8_epi64(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(at)))) {}
#else
  const std::uint8_t* of;
  INLINE explicit Folds(const std::uint8_t* at) : of(at) {}
#endif
};

// The numbers of a table, of SPAN folds, at the folds of eight rows.
template <int SPAN>
INLINE Lanes taken(const double* table, Folds folds) {
#if defined(__AVX512F__)
  Lanes r;
  if constexpr (SPAN <= LANES)
    r.part[0] = (Native)_mm512_permutexvar_pd(folds.of, (__m512d)native_load(table));
  else if constexpr (SPAN <= 2 * LANES)
    r.part[0] = (Native)_mm512_permutex2var_pd((__m512d)native_load(table), folds.of,
                                               (__m512d)native_load(table + LANES));
  else
    r.part[0] = (Native)_mm512_i64gather_pd(folds.of, table, sizeof(double));
  return r;
#else
  double lanes[LANES];
  UNROLL for (int i = 0; i < LANES; ++i) lanes[i] = table[folds.of[i]];
  return load(lanes);
#endif
}

// Call a function with the number of folds that a table has room for.
template <class F>
INLINE void with_span(Index f, const F& call) {
  if (f <= LANES) return call.template operator()<LANES>();
  if (f <= 2 * LANES) return call.template operator()<2 * LANES>();
  call.template operator()<MOST>();
}

INLINE Index room(Index f) { return f <= LANES ? LANES : f <= 2 * LANES ? 2 * LANES : MOST; }

// Folds of some rows of a labeling, and zeros up to whole lanes.
class FoldsOfRows {
  Buffer<std::uint8_t> folds_;

 public:
  explicit FoldsOfRows(Index rows) : folds_(rows + LANES) {}
  void read(Bytes folds, Index p, Index first, Index rows) const {
    copy<std::uint8_t>(folds_, folds.at + p * folds.shape[1] + first, rows);
  }
  INLINE Folds at(Index i) const { return Folds(folds_ + i); }
  // The fold of sixteen rows from i on, −1 if there are several.
  INLINE Index common(Index i) const {
    std::uint64_t words[2];
    __builtin_memcpy(words, folds_ + i, sizeof words);
    const std::uint64_t all = folds_[i] * std::uint64_t{0x0101010101010101};
    return words[0] == all && words[1] == all ? folds_[i] : -1;
  }
};

// Write or add eight numbers, or as many as there are rows left.
INLINE void add_lanes(double* to, Lanes x, Index rows) {
  if (rows >= LANES) return store(to, load(to) + x);
  for (int i = 0; i < rows; ++i) to[i] += lane(x, i);
}

template <int SPAN>
void start_rows(Matrix<const double> log_prior, Index first, Bytes folds, Cube<double> out) {
  const Index rows = out.shape[2], k = out.shape[1], f = log_prior.shape[0] / folds.shape[0];
  const FoldsOfRows own(rows);
  const Buffer<double> prior(SPAN);
  Work work;
  for (Index p = 0; p < folds.shape[0]; ++p) {
    own.read(folds, p, first, rows);
    for (Index c = 0; c < k; ++c) {
      work.done(rows);
      for (Index g = 0; g < f; ++g) prior[g] = log_prior(p * f + g, c);
      double* to = &out(p, c, 0);
      Index i = 0;
      for (; i + LANES <= rows; i += LANES) store(to + i, taken<SPAN>(prior, own.at(i)));
      const Lanes last = taken<SPAN>(prior, own.at(i));
      for (int q = 0; i < rows; ++i, ++q) to[i] = lane(last, q);
    }
  }
}

void start(Matrix<const double> log_prior, Index first, Bytes folds, Cube<double> out) {
  if (!folds.shape[0] || !out.size()) return;
  with_span(log_prior.shape[0] / folds.shape[0],
            [&]<int SPAN>() { start_rows<SPAN>(log_prior, first, folds, out); });
}

// What a labeling knows of a class: column by column, mean and root of every fold; one constant.
struct ClassTables {
  double *mean, *root, *constant;
};

// Add −(root (x − mean))² of sixteen rows, whose columns lie apart, to `a` and `b`.
template <int SPAN>
INLINE void add_columns(const double* x, Index apart, Index d, const ClassTables& of, Folds one,
                        Folds two, Lanes& a, Lanes& b) {
  for (Index j = 0; j < d; ++j, x += apart) {
    const double *mean = of.mean + j * SPAN, *root = of.root + j * SPAN;
    const Lanes u = taken<SPAN>(root, one) * (load(x) - taken<SPAN>(mean, one));
    const Lanes v = taken<SPAN>(root, two) * (load(x + LANES) - taken<SPAN>(mean, two));
    a = fma(-u, u, a), b = fma(-v, v, b);
  }
}

// The same of rows that are all in fold g.
template <int SPAN>
INLINE void add_columns(const double* x, Index apart, Index d, const ClassTables& of, Index g,
                        Lanes& a, Lanes& b) {
  for (Index j = 0; j < d; ++j, x += apart) {
    const Lanes mean = splat(of.mean[j * SPAN + g]), root = splat(of.root[j * SPAN + g]);
    const Lanes u = root * (load(x) - mean), v = root * (load(x + LANES) - mean);
    a = fma(-u, u, a), b = fma(-v, v, b);
  }
}

template <int SPAN>
void add_squares_of(Matrix<const double> x, Index first, Bytes folds, Matrix<const double> mean,
                    Matrix<const double> root, Matrix<const double> log_scale, Cube<double> out) {
  const Index d = x.shape[0], n = x.shape[1], rows = out.shape[2], k = out.shape[1];
  const Index models = d ? mean.shape[1] / d : 0, f = models / folds.shape[0];
  // An odd number of cache lines: columns do not compete for the same places of the cache.
  const Index wide = ((rows + 2 * LANES - 1) / (2 * LANES) * 2 + 1) * LANES;
  const Buffer<double> cells(d * wide), means(d * SPAN), roots(d * SPAN), constants(SPAN);
  for (Index j = 0; j < d; ++j) copy<double>(cells + j * wide, x.at + j * n + first, rows);
  const FoldsOfRows own(wide);
  Work work;
  for (Index p = 0; p < folds.shape[0]; ++p) {
    own.read(folds, p, first, rows);
    for (Index c = 0; c < k; ++c) {
      for (Index g = 0; g < f; ++g) {
        double sum = 0.0;
        for (Index j = 0; j < d; ++j) {
          const Index entry = (p * f + g) * d + j;
          means[j * SPAN + g] = mean(c, entry);
          roots[j * SPAN + g] = root(c, entry);
          sum += log_scale(c, entry);
        }
        constants[g] = sum;
      }
      const ClassTables of{means, roots, constants};
      double* to = &out(p, c, 0);
      work.done(d * (8 * f + rows));
      for (Index i = 0; i < rows; i += 2 * LANES) {
        const Folds one = own.at(i), two = own.at(i + LANES);
        Lanes a = splat(0.0), b = a;
        if (const Index g = own.common(i); g >= 0)
          add_columns<SPAN>(cells + i, wide, d, of, g, a, b);
        else
          add_columns<SPAN>(cells + i, wide, d, of, one, two, a, b);
        add_lanes(to + i, taken<SPAN>(constants, one) + a, rows - i);
        if (i + LANES < rows)
          add_lanes(to + i + LANES, taken<SPAN>(constants, two) + b, rows - i - LANES);
      }
    }
  }
}

void add_squares(Matrix<const double> x, Index first, Bytes folds, Matrix<const double> mean,
                 Matrix<const double> root, Matrix<const double> log_scale, Cube<double> out) {
  if (!x.shape[0] || !folds.shape[0] || !out.size()) return;
  with_span(mean.shape[1] / x.shape[0] / folds.shape[0],
            [&]<int SPAN>() { add_squares_of<SPAN>(x, first, folds, mean, root, log_scale, out); });
}

// -- scores: classes are the lanes

void add_table(Matrix<const std::int32_t> places, Index first, Bytes folds,
               Cube<const double> table, Cube<double> out) {
  const Index n = folds.shape[1], d = places.shape[1], rows = out.shape[2], k = out.shape[1];
  const Index models = table.shape[0], width = table.shape[2];
  if (!folds.shape[0]) return;
  const Index f = models / folds.shape[0];
  Work work;
  for (Index p = 0; p < folds.shape[0]; ++p)
    for (Index i = 0; i < rows; ++i) {
      const Index g = p * f + folds.at[p * n + first + i];
      const double* terms = table.at + g * table.shape[1] * width;
      const std::int32_t* row = places.at + (first + i) * d;
      work.done(d * (1 + k / LANES));
      for (Index c = 0; c < k; c += LANES) {
        Lanes sum = splat(0.0);
        for (Index j = 0; j < d; ++j) sum += load(terms + row[j] * width + c);
        for (Index q = 0; q < least<Index>(LANES, k - c); ++q)
          out(p, c + q, i) += lane(sum, static_cast<int>(q));
      }
    }
}

// -- hits

// Write whether the largest score of each row of a block, (k, apart), is that of its class.
INLINE void find_hits(const double* scores, Index apart, Index k, Index rows,
                      const std::uint8_t* codes, const std::uint8_t* folds,
                      const std::uint8_t* otherwise, std::uint8_t* hit) {
  double top[BLOCK], best[BLOCK];
  fill<double>(top, BLOCK, -__builtin_inf());
  fill<double>(best, BLOCK, -1.0);
  for (Index c = 0; c < k; ++c) {
    const double* next = scores + c * apart;
    const double own = static_cast<double>(c);
    for (Index i = 0; i < rows; ++i) {
      const bool higher = next[i] > top[i];
      best[i] = higher ? own : best[i];
      top[i] = higher ? next[i] : top[i];
    }
  }
  double lowest = 0.0;
  for (Index i = 0; i < rows; ++i) lowest = least(lowest, best[i]);
  if (lowest < 0.0)
    for (Index i = 0; i < rows; ++i)
      if (best[i] < 0.0) best[i] = otherwise[folds[i]];
  for (Index i = 0; i < rows; ++i) hit[i] = best[i] == static_cast<double>(codes[i]);
}

void hits(Cube<const double> scores, Index first, Bytes codes, Bytes folds, Bytes otherwise,
          Matrix<double> hits) {
  const Index n = codes.shape[1], k = scores.shape[1], all = scores.shape[2], f = hits.shape[1];
  const Buffer<std::uint8_t> hit(BLOCK), fold(BLOCK);
  Work work;
  for (Index p = 0; p < codes.shape[0]; ++p)
    for (Index start = 0; start < all; start += BLOCK) {
      const Index rows = least(BLOCK, all - start), at = p * n + first + start;
      copy<std::uint8_t>(fold, folds.at + at, rows);
      work.done(BLOCK / LANES * (k + f));
      fill<std::uint8_t>(hit, BLOCK, 0);
      find_hits(&scores(p, 0, 0) + start, all, k, rows, codes.at + at, fold, otherwise.at + p * f,
                hit);
      count_block(fold, hit, f, &hits(p, 0));
    }
}

}  // namespace

extern const LabelingsKernels labelings{{stratify<std::uint8_t>},
                                        {stratify<std::int64_t>},
                                        add_rows,
                                        tally,
                                        start,
                                        add_squares,
                                        add_table,
                                        hits};

}  // namespace suffice::LEVEL
