#include "linear/logistic.hpp"

#include "support/interrupts.hpp"
#include "linear/logistic_loss.hpp"
#include "support/simd.hpp"

namespace suffice::LEVEL {
namespace {

constexpr Index ROWS = 4;      // taken together
constexpr Index AHEAD = 4096;  // cells between asking for one and reading it

constexpr double NEGLIGIBLE = 0x1p-800;  // a weight: products with smaller ones may be subnormal

void loss_derivatives(Matrix<const double> t, Vector<const std::int64_t> codes, double* loss,
                      Matrix<double> residual, Matrix<double> p, Matrix<double> other) {
  const Index m = t.shape[1];
  const Buffer<double> raised(m);
  Work work;
  for (Index i = 0; i < t.shape[0]; ++i) {
    work.done(16 * m);
    Loss of_row;
    if (m == 1) {
      const TwoClasses row = two_classes(t(i, 0), codes[i], faint(t(i, 0)));
      residual(i, 0) = row.residual, p(i, 0) = row.p, other(i, 0) = row.other;
      of_row = row.loss;
    } else {
      const double top = t(i, best_of(&t(i, 0), m, 1));
      for (Index c = 0; c < m; ++c) raised[c] = exp(t(i, c) - top);
      of_row =
          many_classes(&t(i, 0), raised, m, 1, codes[i], &residual(i, 0), &p(i, 0), &other(i, 0));
    }
    loss[i] = of_row.a + log1p(of_row.r);
  }
}

// The losses of the classes and the residuals of a row.
class Losses {
  Buffer<LossSum> of_class_;
  Buffer<double> p_;  // and 1 − p
  const LogisticSums& sums_;
  Index m_;

 public:
  Losses(const LogisticSums& sums, Index m)
      : of_class_(sums.class_weights.shape[0]), p_(2 * m), sums_(sums), m_(m) {
    fill(static_cast<LossSum*>(of_class_), sums.class_weights.shape[0], LossSum());
  }

  // Add a row of class y and scores t, m coefficients and c, that are `apart`; write its residuals.
  // `raised` is e^−abs(t) of two classes, and exp(t_c − t_best) of more, as far apart.
  INLINE void add(Index row, Index y, const double* t, Index apart, const double* raised,
                  double* residual) const {
    const double w = sums_.weights ? sums_.weights[row] : 1.0;
    sums_.weight[y] += w;
    sums_.checksum[y] += w * t[m_ * apart];
    Loss loss;
    if (m_ == 1) {
      const TwoClasses of_row = two_classes(t[0], y, raised[0]);
      residual[0] = of_row.residual, p_[0] = of_row.p, p_[1] = of_row.other;
      loss = of_row.loss;
    } else {
      loss = many_classes(t, raised, m_, apart, y, residual, p_, p_ + m_);
    }
    of_class_[y].add(loss, w);
    for (Index c = 0; c < m_; ++c) residual[c] *= w * sums_.class_weights[y];
  }

  // w f_y ∂²ℓ/∂t_a∂t_b of the row of class y that was added last: p_a(1 − p_a), or −p_a p_b.
  INLINE double curvature(Index row, Index y, Index a, Index b) const {
    const double w = (sums_.weights ? sums_.weights[row] : 1.0) * sums_.class_weights[y];
    return w * p_[a] * (a == b ? p_[m_ + a] : -p_[b]);
  }

  // Σ f_y of the losses of the classes.
  double total() const {
    double sum = 0.0;
    for (Index y = 0; y < sums_.class_weights.shape[0]; ++y)
      sum += sums_.class_weights[y] * of_class_[y].value();
    return sum;
  }
};

// Write x − o of up to four rows to `rows` (4 · width,).
INLINE void write_shifted(Matrix<const double> x, Index first, const double* origin, Index width,
                          double* rows) {
  const Index d = x.shape[1], many = least(ROWS, x.shape[0] - first);
  for (Index i = 0; i < many; ++i) {
    const double* cells = x.at + (first + i) * d;
    double* to = rows + i * width;
    if (d < LANES) {
      for (Index j = 0; j < d; ++j) to[j] = cells[j] - origin[j];
      continue;
    }
    for (Index j = 0; j < d; j += LANES) {
      prefetch(cells + j + AHEAD);
      const Index at = least(j, d - LANES);  // the last lanes overlap those before
      store(to + at, load(cells + at) - load(origin + at));
    }
  }
}

// Write wᵀv of four rows v (4 · width,) to `to` (4,).
INLINE void write_products(const double* w, const double* v, Index width, double* to) {
  Lanes sum[ROWS];
  UNROLL for (Index i = 0; i < ROWS; ++i) sum[i] = splat(0.0);
  for (Index j = 0; j < width; j += LANES) {
    const Lanes a = load(w + j);
    UNROLL for (Index i = 0; i < ROWS; ++i) sum[i] = fma(a, load(v + i * width + j), sum[i]);
  }
  UNROLL for (Index i = 0; i < ROWS; ++i) to[i] = total(sum[i]);
}

// Add rᵀv of four rows v (4 · width,) to `sums` (width,).
INLINE void add_multiples(const double* r, const double* v, Index width, double* sums) {
  const Lanes r0 = splat(r[0]), r1 = splat(r[1]), r2 = splat(r[2]), r3 = splat(r[3]);
  for (Index j = 0; j < width; j += LANES) {
    Lanes s = load(sums + j);
    s = fma(r0, load(v + j), fma(r1, load(v + width + j), s));
    s = fma(r2, load(v + 2 * width + j), fma(r3, load(v + 3 * width + j), s));
    store(sums + j, s);
  }
}

constexpr Index room_of_lanes(Index n) { return (n + LANES - 1) / LANES * LANES; }

// Write what `Losses` needs of a row whose scores t have room up to whole lanes.
INLINE void write_raised(const double* t, Index m, double* raised) {
  if (m == 1) {
    raised[0] = faint(t[0]);
    return;
  }
  const Lanes top = splat(t[best_of(t, m, 1)]);
  for (Index c = 0; c < m; c += LANES) store(raised + c, exp(load(t + c) - top));
}

// The same of four rows side by side.
INLINE void write_raised_of_rows(const double* t, Index m, double* raised) {
  static_assert(2 * ROWS == LANES);
  if (m == 1) return store(raised, faint(load(t)));  // of the checksums too, which nobody reads
  double top[LANES];
  for (Index i = 0; i < ROWS; ++i) top[i] = top[i + ROWS] = t[i];
  for (Index c = 1; c < m; ++c)
    for (Index i = 0; i < ROWS; ++i) top[i] = top[i + ROWS] = most(t[c * ROWS + i], top[i]);
  const Lanes shift = load(top);
  for (Index c = 0; c < m * ROWS; c += LANES) store(raised + c, exp(load(t + c) - shift));
}

double add_gradient(Matrix<const double> x, Vector<const double> origin,
                    Matrix<const double> directions, Vector<const std::int64_t> codes,
                    LogisticSums sums) {
  const Index n = x.shape[0], d = x.shape[1], m = directions.shape[0] - 1;
  const Index width = (d + LANES - 1) / LANES * LANES;
  const Buffer<double> slopes((m + 1) * width), gradient(m * width), rows(ROWS * width);
  const Buffer<double> scores(room_of_lanes((m + 1) * ROWS)), residual(m * ROWS), of_row(m);
  const Buffer<double> raised(room_of_lanes(m * ROWS));
  const Losses losses(sums, m);
  for (Index c = 0; c <= m; ++c) copy(slopes + c * width, &directions(c, 0) + 1, d);
  Work work;
  for (Index first = 0; first < n; first += ROWS) {
    work.done((m + 1) * (width + 16 * ROWS));
    write_shifted(x, first, origin.at, width, rows);
    for (Index c = 0; c <= m; ++c) {
      double* t = scores + c * ROWS;
      write_products(slopes + c * width, rows, width, t);
      UNROLL for (Index i = 0; i < ROWS; ++i) t[i] += directions(c, 0);
    }
    write_raised_of_rows(scores, m, raised);
    const Index many = least(ROWS, n - first);
    fill<double>(residual, m * ROWS, 0.0);
    for (Index i = 0; i < many; ++i) {
      losses.add(first + i, codes[first + i], scores + i, ROWS, raised + i, of_row);
      for (Index c = 0; c < m; ++c) {
        residual[c * ROWS + i] = of_row[c];
        sums.gradient(c, 0) += of_row[c];
      }
    }
    for (Index c = 0; c < m; ++c)
      add_multiples(residual + c * ROWS, rows, width, gradient + c * width);
  }
  for (Index c = 0; c < m; ++c)
    for (Index j = 0; j < d; ++j) sums.gradient(c, 1 + j) += gradient[c * width + j];
  return losses.total();
}

// Add to the sums what compressed rows say; `more` is told the number of a row, and its first and
// last cell, while `losses` knows its curvature.
template <class T, class I, class More>
INLINE double add_sparse_rows(Compressed<T, I> x, Matrix<const double> directions,
                              Vector<const std::int64_t> codes, LogisticSums sums,
                              const Losses& losses, const More& more) {
  const Index k = sums.class_weights.shape[0], width = directions.shape[1], m = k == 2 ? 1 : k;
  const Buffer<double> scores(width), residual(width), raised(width);
  Work work;
  for (Index i = 0; i < codes.shape[0]; ++i) {
    if (codes[i] < 0) continue;
    const Index start = x.starts[i], stop = x.starts[i + 1];
    work.done((16 + stop - start) * width);
    for (Index first = 0; first < width; first += LANES) {
      Lanes t = load(directions.at + first);
      for (Index q = start; q < stop; ++q)
        t = fma(splat(static_cast<double>(x.data[q])),
                load(directions.at + (1 + x.columns[q]) * width + first), t);
      store(scores + first, t);
    }
    write_raised(scores, m, raised);
    losses.add(i, codes[i], scores, 1, raised, residual);
    for (Index first = 0; first < width; first += LANES) {
      double* sum = sums.gradient.at + first;
      const Lanes r = load(residual + first);
      store(sum, load(sum) + r);
      for (Index q = start; q < stop; ++q) {
        double* place = sum + (1 + x.columns[q]) * width;
        store(place, fma(splat(static_cast<double>(x.data[q])), r, load(place)));
      }
    }
    more(i, start, stop, work);
  }
  return losses.total();
}

Losses losses_of(const LogisticSums& sums) {
  const Index k = sums.class_weights.shape[0];
  return {sums, k == 2 ? 1 : k};
}

template <class T, class I>
double add_sparse_gradient(Compressed<T, I> x, Matrix<const double> directions,
                           Vector<const std::int64_t> codes, LogisticSums sums) {
  const Losses losses = losses_of(sums);
  return add_sparse_rows(x, directions, codes, sums, losses, [](auto...) {});
}

// Add v u to `to`, for the pairs of classes, which have room up to whole lanes if there are
// several.
INLINE void add_curvature(const double* v, double u, Index pairs, double* to) {
  if (pairs == 1) {
    *to += u * *v;
    return;
  }
  const Lanes factor = splat(u);
  for (Index p = 0; p < pairs; p += LANES) store(to + p, fma(factor, load(v + p), load(to + p)));
}

template <class T, class I>
double add_sparse_hessian(Compressed<T, I> x, Matrix<const double> directions,
                          Vector<const std::int64_t> codes, LogisticSums sums,
                          Matrix<double> hessian) {
  const Index d = directions.shape[0], pairs = hessian.shape[1];
  const Index k = sums.class_weights.shape[0], m = k == 2 ? 1 : k;
  Index longest = 0;
  for (Index i = 0; i < codes.shape[0]; ++i) longest = most(longest, x.starts[i + 1] - x.starts[i]);
  const Buffer<Index> places(1 + longest);
  const Buffer<double> z(1 + longest), v(pairs);
  fill<double>(v, pairs, 0.0);
  places[0] = 0, z[0] = 1.0;
  const Losses losses = losses_of(sums);
  return add_sparse_rows(
      x, directions, codes, sums, losses, [&](Index row, Index start, Index stop, Work& work) {
        const Index cells = 1 + stop - start;
        work.done(cells * cells * pairs);
        for (Index q = start; q < stop; ++q) {
          places[1 + q - start] = 1 + x.columns[q];
          z[1 + q - start] = static_cast<double>(x.data[q]);
        }
        for (Index a = 0, p = 0; a < m; ++a)
          for (Index b = 0; b <= a; ++b, ++p) {
            const double of_pair = losses.curvature(row, codes[row], a, b);
            v[p] = magnitude(of_pair) < NEGLIGIBLE ? 0.0 : of_pair;
          }
        for (Index i = 0; i < cells; ++i)
          for (Index l = 0; l <= i; ++l)
            add_curvature(v, z[i] * z[l], pairs, &hessian(places[i] * d + places[l], 0));
      });
}

template <class... Kernel>
constexpr Each<Kernel...> compiled(Each<Kernel...>) {
  return {Kernel{add_sparse_gradient<typename Kernel::Number, typename Kernel::Place>,
                 add_sparse_hessian<typename Kernel::Number, typename Kernel::Place>}...};
}

}  // namespace

extern constinit const LogisticKernels logistic{compiled(OfCells<SparseLogistic>()), add_gradient,
                                                loss_derivatives};

}  // namespace suffice::LEVEL
