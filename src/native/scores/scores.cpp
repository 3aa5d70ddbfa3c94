#include "scores/scores.hpp"

#include "support/elementary_functions.hpp"
#include "support/interrupts.hpp"
#include "scores/row_tiles.hpp"
#include "support/vectors.hpp"

namespace suffice::LEVEL {
namespace {

// The first of some rows of a tile that is too far from a mean (k, d) to be squared, or how many.
Index rows_within(const double* tile, Index rows, Matrix<const double> mean) {
  const Index k = mean.shape[0], d = mean.shape[1];
  for (Index i = 0; i < rows; ++i)
    for (Index j = 0; j < d; ++j)
      for (Index c = 0; c < k; ++c)
        if (magnitude(tile[place_of(i, j, d)] - mean(c, j)) > 2.0 * LARGEST) return i;
  return rows;
}

// A term of log p(x | c), of u = x − mean.
INLINE Lanes student_term(Lanes u, double precision, double power, double log_scale) {
  return splat(log_scale) - splat(power) * log1p(splat(precision) * u * u);
}

Index add_student(Strided<const double> x, Matrix<const double> mean,
                  Matrix<const double> precision, Matrix<const double> power,
                  Matrix<const double> log_scale, Strided<double> out) {
  const Index d = x.columns;
  const bool near = !any_larger(mean.at, mean.size(), LARGEST);
  const Buffer<double> tile(d * TALL), origin(d);
  double sums[TALL];
  Work work;
  for (Index first = 0; first < x.rows; first += TALL) {
    const Index rows = least(TALL, x.rows - first);
    const bool small = write_tile(x, first, rows, origin, tile) < LARGEST && near;
    const Index within = small ? rows : rows_within(tile, rows, mean);
    for (Index c = 0; c < mean.shape[0]; ++c) {
      for (Index i = 0; i < within; i += LANES) {
        const double* v = tile + place_of(i, 0, d);
        Lanes sum = splat(0.0);
        for (Index j = 0; j < d; ++j, v += ABREAST) {
          const Lanes u = load(v) - splat(mean(c, j));
          sum = shown(u, sum + student_term(u, precision(c, j), power(c, j), log_scale(c, j)), sum);
        }
        store(sums + i, sum);
      }
      add_scores(out, first, c, sums, within);
      work.done(TALL * d);
    }
    if (within < rows) return first + within;
  }
  return -1;
}

void student_terms(Strided<const double> x, Matrix<const double> mean,
                   Matrix<const double> precision, Matrix<const double> power,
                   Matrix<const double> log_scale, Cube<double> terms) {
  const Index n = x.rows, k = mean.shape[0];
  const Buffer<double> column(n + LANES);
  Work work;
  for (Index j = 0; j < x.columns; ++j) {
    for (Index i = 0; i < n; ++i) column[i] = x(i, j);
    for (Index c = 0; c < k; ++c)
      for (Index i = 0; i < n; i += LANES) {
        const Lanes v = load(column + i), u = v - splat(mean(c, j));
        const Lanes some = student_term(u, precision(c, j), power(c, j), log_scale(c, j));
        const Lanes term = shown(v, some, splat(0.0));
        double* const to = &terms(j, c, i);
        if (n - i >= LANES)
          store(to, term);
        else
          for (Index q = 0; q < n - i; ++q) to[q] = lane(term, static_cast<int>(q));
      }
    work.done(4 * n * k);
  }
}

// Add the sums of rows, 64 at a time, to scores: `add(v, c, j, sum)` adds a column of 8 rows.
template <class T, class Add>
INLINE void add_tiles(Strided<const T> x, Strided<double> out, const Add& add) {
  const Index d = x.columns;
  const Buffer<double> tile(d * TALL), origin(d);
  double sums[TALL];
  Work work;
  for (Index first = 0; first < x.rows; first += TALL) {
    const Index rows = least(TALL, x.rows - first);
    write_tile(x, first, rows, origin, tile);
    for (Index c = 0; c < out.columns; ++c) {
      for (Index i = 0; i < rows; i += ABREAST) {
        const double* v = tile + place_of(i, 0, d);
        Lanes a = splat(0.0), b = a;
        for (Index j = 0; j < d; ++j, v += ABREAST)
          a = add(load(v), c, j, a), b = add(load(v + LANES), c, j, b);
        store(sums + i, a), store(sums + i + LANES, b);
      }
      add_scores(out, first, c, sums, rows);
      work.done(TALL / LANES * d);
    }
  }
}

void add_linear(Strided<const double> x, Matrix<const double> slope, Strided<double> out) {
  const Lanes nothing = splat(0.0);
  add_tiles(x, out, [&](Lanes v, Index c, Index j, Lanes sum) __attribute__((always_inline)) {
    return sum + choose(v, nothing, v * splat(slope(c, j)), nothing);
  });
}

void add_binary(Strided<const std::int8_t> values, Matrix<const double> absent,
                Matrix<const double> slope, Strided<double> out) {
  const Lanes nothing = splat(0.0), below = splat(-0.5);
  add_tiles(values, out, [&](Lanes v, Index c, Index j, Lanes sum) __attribute__((always_inline)) {
    return sum + choose(v, below, splat(absent(c, j)) + v * splat(slope(c, j)), nothing);
  });
}

// Add the sums of one tile of classes, from class `first` on, to the scores of row i.
INLINE void add_class_tile(Lanes sums, Index i, Index first, Strided<double> out) {
  double total[CLASS_TILE];
  store(total, sums);
  for (Index c = 0; c < least(CLASS_TILE, out.columns - first); ++c) out(i, first + c) += total[c];
}

// The sums of eight rows over a tile of classes, to be added to scores together.
class TileOfSums {
  Lanes rows_[LANES];

 public:
  INLINE void set(Index i, Lanes sums) { rows_[i] = sums; }
  INLINE void add_to(Strided<double> out, Index start, Index first) {
    if (out.down != 1 || out.columns - first < CLASS_TILE) {
      for (Index i = 0; i < LANES; ++i) add_class_tile(rows_[i], start + i, first, out);
      return;
    }
    transpose(rows_);
    UNROLL for (int c = 0; c < LANES; ++c) {
      double* to = &out(start, first + c);
      store(to, load(to) + rows_[c]);
    }
  }
};

// The sums over P tiles of classes of a row, whose cells have these places in the table.
template <int P>
INLINE void sum_places(const std::int64_t* places, Index d, const double* table, Lanes (&sum)[P]) {
  UNROLL for (int p = 0; p < P; ++p) sum[p] = splat(0.0);
  for (Index j = 0; j < d; ++j) {
    const double* terms = table + places[j];
    UNROLL for (int p = 0; p < P; ++p) sum[p] += load(terms + p * CLASS_TILE);
  }
}

// Add P tiles of classes, from class `first` on, of rows from `start` to `stop`: their places in
// the table (rows, d).
template <int P>
INLINE void add_places(const std::int64_t* places, Index d, Matrix<const double> table, Index first,
                       Index start, Index stop, Strided<double> out) {
  const double* terms = table.at + first;
  Index i = start;
  for (; i + LANES <= stop; i += LANES) {
    TileOfSums tiles[P];
    for (Index q = 0; q < LANES; ++q, places += d) {
      Lanes sum[P];
      sum_places<P>(places, d, terms, sum);
      UNROLL for (int p = 0; p < P; ++p) tiles[p].set(q, sum[p]);
    }
    UNROLL for (int p = 0; p < P; ++p) tiles[p].add_to(out, i, first + p * CLASS_TILE);
  }
  for (; i < stop; ++i, places += d) {
    Lanes sum[P];
    sum_places<P>(places, d, terms, sum);
    UNROLL for (int p = 0; p < P; ++p) add_class_tile(sum[p], i, first + p * CLASS_TILE, out);
  }
}

void add_table(Matrix<const std::int64_t> values, Ranges ranges, Matrix<const double> table,
               Strided<double> out) {
  constexpr Index CELLS_AHEAD = 2048;  // cells between asking for one and reading it
  constexpr Index BLOCK = 32;          // rows whose places stay in cache from tile to tile
  const Index n = values.shape[0], d = values.shape[1], width = table.shape[1];
  const Buffer<std::int64_t> places(BLOCK * d);
  Work work;
  for (Index start = 0; start < n; start += BLOCK) {
    const Index stop = least(start + BLOCK, n);
    const std::int64_t* cells = values.at + start * d;
    for (Index i = 0; i < stop - start; ++i, cells += d) {
      for (Index j = 0; j < d; j += LANES) prefetch(cells + j + CELLS_AHEAD);
      for (Index j = 0; j < d; ++j) {
        const auto size = static_cast<std::uint64_t>(ranges.size[j]);
        auto v = static_cast<std::uint64_t>(cells[j]) - static_cast<std::uint64_t>(ranges.low[j]);
        v = v < size ? v : size;
        places[i * d + j] = (ranges.first[j] + static_cast<Index>(v)) * width;
      }
    }
    Index first = 0;
    for (; out.columns - first > 3 * CLASS_TILE; first += 4 * CLASS_TILE)
      add_places<4>(places, d, table, first, start, stop, out);
    for (; first < out.columns; first += CLASS_TILE)
      add_places<1>(places, d, table, first, start, stop, out);
    work.done(BLOCK * d * (1 + width / LANES));
  }
}

// Add P tiles of classes, from class `first` on, of rows from `start` to `stop`.
template <int P, class T, class I>
INLINE void add_events(Compressed<T, I> x, Matrix<const double> slope, Index first, Index start,
                       Index stop, Strided<double> out) {
  constexpr Index AHEAD = 128;  // cells between asking for a row of the table and adding it
  const Index width = slope.shape[1], last = x.starts[out.rows] - 1;
  const auto d = static_cast<std::uint64_t>(slope.shape[0]);
  for (Index i = start; i < stop; ++i) {
    Lanes sum[P];
    UNROLL for (int p = 0; p < P; ++p) sum[p] = splat(0.0);
    for (Index q = x.starts[i]; q < x.starts[i + 1]; ++q) {
      const auto next = static_cast<std::uint64_t>(x.columns[least(q + AHEAD, last)]);
      const double* ahead = slope.at + (next < d ? static_cast<Index>(next) : 0) * width + first;
      UNROLL for (int p = 0; p < P; ++p) prefetch(ahead + p * CLASS_TILE);
      const auto v = static_cast<std::uint64_t>(x.columns[q]);
      const auto count = static_cast<double>(x.data[q]);
      if (v >= d || !(count > 0.0)) continue;
      const double* terms = slope.at + static_cast<Index>(v) * width + first;
      UNROLL for (int p = 0; p < P; ++p) sum[p] += splat(count) * load(terms + p * CLASS_TILE);
    }
    UNROLL for (int p = 0; p < P; ++p) add_class_tile(sum[p], i, first + p * CLASS_TILE, out);
  }
}

template <class T, class I>
void add_sparse_linear(Compressed<T, I> x, Matrix<const double> slope, Strided<double> out) {
  constexpr Index BLOCK = 64;  // rows whose cells stay in cache from tile to tile
  Work work;
  for (Index start = 0; start < out.rows; start += BLOCK) {
    const Index stop = least(start + BLOCK, out.rows);
    Index first = 0;
    for (; out.columns - first > CLASS_TILE; first += 2 * CLASS_TILE)
      add_events<2>(x, slope, first, start, stop, out);
    if (first < out.columns) add_events<1>(x, slope, first, start, stop, out);
    work.done((x.starts[stop] - x.starts[start]) * (1 + out.columns));
  }
}

// Take the classes c of `next` where they score higher than `top`, of 8 rows or one.
INLINE void challenge(double* top, double* place, const double* next, Index c, Index rows) {
  Index i = 0;
  for (; i + LANES <= rows; i += LANES) {
    const Lanes s = load(next + i), t = load(top + i);
    store(place + i, choose(s, t, splat(static_cast<double>(c)), load(place + i)));
    store(top + i, choose(s, t, s, t));
  }
  for (; i < rows; ++i)
    if (next[i] > top[i]) place[i] = static_cast<double>(c), top[i] = next[i];
}

Index best_class(Strided<const double> scores, Vector<std::int64_t> best) {
  constexpr Index BLOCK = 512;  // rows whose largest scores are found together
  const Buffer<double> top(BLOCK), place(BLOCK);
  Index impossible = 0;
  Work work;
  for (Index first = 0; first < scores.rows; first += BLOCK) {
    work.done(BLOCK * scores.columns);
    const Index rows = least(BLOCK, scores.rows - first);
    fill<double>(top, rows, -__builtin_inf());
    fill<double>(place, rows, -1.0);
    for (Index c = 0; c < scores.columns; ++c) challenge(top, place, &scores(first, c), c, rows);
    for (Index i = 0; i < rows; ++i) {
      best[first + i] = static_cast<Index>(place[i]);
      impossible += place[i] < 0.0;
    }
  }
  return impossible;
}

template <class... Kernel>
constexpr Each<Kernel...> compiled(Each<Kernel...>) {
  return {Kernel{add_sparse_linear<typename Kernel::Number, typename Kernel::Place>}...};
}

}  // namespace

extern constinit const ScoresKernels scores{compiled(OfCells<SparseScores>()),
                                            add_student,
                                            student_terms,
                                            add_linear,
                                            add_binary,
                                            add_table,
                                            best_class};

}  // namespace suffice::LEVEL
