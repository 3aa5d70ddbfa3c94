#include "exact_logistic.hpp"

#include "fixed_sums.hpp"
#include "interrupts.hpp"
#include "logistic_loss.hpp"

namespace suffice::LEVEL {
namespace {

constexpr Index ROWS = LANES;  // taken together
constexpr Index AHEAD = 4096;  // cells between asking for one and reading it

constexpr Index whole_lanes(Index n) { return (n + LANES - 1) / LANES * LANES; }

// Write z of up to eight rows, without its 1, to `rows` (8 · width,).
INLINE void write_scaled(const ScaledRows& of, const double* shift, Index first, Index width,
                         double* rows) {
  const Index d = of.x.shape[1], many = least(ROWS, of.x.shape[0] - first);
  for (Index i = 0; i < many; ++i) {
    const double* cells = of.x.at + (first + i) * d;
    double* to = rows + i * width;
    if (d < LANES) {
      for (Index j = 0; j < d; ++j) to[j] = (cells[j] - of.origin[j]) * of.scale[1 + j];
      continue;
    }
    for (Index j = 0; j < d; j += LANES) {
      prefetch(cells + j + AHEAD);
      const Index at = least(j, d - LANES);  // the last lanes overlap those before
      store(to + at, (load(cells + at) - load(of.origin.at + at)) * load(shift + at));
    }
  }
}

// Write wᵀv of eight rows v (8 · width,) to `to` (8,): the columns of a row in one order.
INLINE void write_products(const double* w, const double* v, Index width, double* to) {
  constexpr Index TAKEN = 4;
  for (Index first = 0; first < ROWS; first += TAKEN) {
    Lanes sum[TAKEN];
    UNROLL for (Index i = 0; i < TAKEN; ++i) sum[i] = splat(0.0);
    for (Index j = 0; j < width; j += LANES) {
      const Lanes a = load(w + j);
      UNROLL for (Index i = 0; i < TAKEN; ++i) sum[i] =
          fma(a, load(v + (first + i) * width + j), sum[i]);
    }
    UNROLL for (Index i = 0; i < TAKEN; ++i) to[first + i] = total(sum[i]);
  }
}

// The scores of eight rows, and what follows from them, row by row in lanes.
class Losses {
  const ScaledRows& rows_;
  const ExactSums& sums_;
  const Index m_, k_;
  Buffer<double> raised_;
  LanesOfSums loss_, weight_, checksum_;

 public:
  const Buffer<double> scores, residual;  // (m + 1, 8) and (m, 8)

  Losses(const ScaledRows& rows, const ExactSums& sums, Index m)
      : rows_(rows), sums_(sums), m_(m), k_(rows.class_weights.shape[0]), raised_(m * ROWS),
        loss_(1), weight_(k_), checksum_(k_), scores((m + 1) * ROWS), residual(m * ROWS) {}

  // Add the rows from `first` on, and write their residuals w f ∂ℓ/∂t; of none beyond the last.
  INLINE void add(Index first) const {
    const Index many = least(ROWS, rows_.x.shape[0] - first);
    double count[LANES], weight[LANES], label[LANES];
    for (Index i = 0; i < ROWS; ++i) {
      const bool there = i < many;
      const Index y = there ? rows_.codes[first + i] : 0;
      label[i] = static_cast<double>(y);
      count[i] = there ? (rows_.weights ? rows_.weights[first + i] : 1.0) : 0.0;
      weight[i] = count[i] * rows_.class_weights[y];
    }
    const Lanes w = load(weight), y = load(label), one = splat(1.0), zero = splat(0.0);
    Lanes a, r;
    if (m_ == 1) {
      const Lanes t = load(scores), side = one - (y + y), against = side * t, small = faint(t);
      a = choose(against, zero, against, zero), r = small;
      store(residual, side * w * choose(against, zero, one, small) / (one + small));
    } else {
      write_of_classes(y, a, r);
      for (Index c = 0; c < m_; ++c) store(residual + c * ROWS, w * load(residual + c * ROWS));
    }
    loss_.add(0, w * (a + log1p(r)) * splat(sums_.loss_scale));
    const Lanes counts = load(count), check = counts * load(scores + m_ * ROWS);
    add_to_classes(weight_, counts * splat(sums_.weight_scale), y);
    add_to_classes(checksum_, check * splat(sums_.checksum_scale), y);
  }

  // Put what lanes hold into the sums.
  INLINE void settle() const {
    loss_.settle(sums_.loss, 1);
    weight_.settle(sums_.weight.at, k_);
    checksum_.settle(sums_.checksum.at, k_);
  }

 private:
  // The losses a + log(1 + r) of classes y, and the residuals, of `many_classes` in lanes.
  INLINE void write_of_classes(Lanes y, Lanes& a, Lanes& r) const {
    const Lanes zero = splat(0.0), one = splat(1.0);
    Lanes top = load(scores), best = zero;
    for (Index c = 1; c < m_; ++c) {
      const Lanes t = load(scores + c * ROWS);
      best = choose(t, top, splat(c), best), top = choose(t, top, t, top);
    }
    Lanes own = zero;  // the score of y
    r = zero;          // Σ exp(t_c − t_best) over the other classes
    for (Index c = 0; c < m_; ++c) {
      const Lanes t = load(scores + c * ROWS), raised = exp(t - top);
      store(raised_ + c * ROWS, raised);
      r += choose(magnitude(splat(c) - best), zero, raised, zero);
      own = choose(magnitude(splat(c) - y), zero, own, t);
    }
    a = top - own;
    const Lanes of_best = one / (one + r), rest = r * of_best;
    for (Index c = 0; c < m_; ++c) {
      const Lanes p = load(raised_ + c * ROWS) * of_best;
      const Lanes other = choose(magnitude(splat(c) - best), zero, one - p, rest);
      store(residual + c * ROWS, choose(magnitude(splat(c) - y), zero, p, -other));
    }
  }

  INLINE void add_to_classes(const LanesOfSums& to, Lanes terms, Lanes y) const {
    const Lanes zero = splat(0.0);
    for (Index c = 0; c < k_; ++c) to.add(c, choose(magnitude(splat(c) - y), zero, zero, terms));
  }
};

void add_gradient(ScaledRows rows, Matrix<const double> directions, ExactSums sums) {
  const Index n = rows.x.shape[0], d = rows.x.shape[1], m = directions.shape[0] - 1;
  const Index width = whole_lanes(d);
  const Buffer<double> slopes((m + 1) * width), z(ROWS * width), scale(width);
  const Losses losses(rows, sums, m);
  const LanesOfSums intercepts(m);
  const SumsOfColumns gradient(m, width);
  copy<double>(scale, rows.scale.at + 1, d);
  for (Index c = 0; c <= m; ++c) copy(slopes + c * width, &directions(c, 0) + 1, d);
  Work work;
  const auto settle = [&] {
    losses.settle();
    intercepts.settle(sums.gradient.at, m * (1 + d), 1 + d);
    gradient.settle(sums.gradient.at + 1, m * (1 + d), 1 + d, d);
  };
  for (Index first = 0; first < n; first += ROWS) {
    work.done((m + 1) * (4 * width + 16 * ROWS));
    write_scaled(rows, scale, first, width, z);
    for (Index c = 0; c <= m; ++c) {
      double* t = losses.scores + c * ROWS;
      write_products(slopes + c * width, z, width, t);
      store(t, load(t) + splat(directions(c, 0)));
    }
    losses.add(first);
    for (Index c = 0; c < m; ++c) {
      const double* residual = losses.residual + c * ROWS;
      intercepts.add(c, load(residual));
      gradient.add(c, residual, z);
    }
    if ((first / ROWS + 1) % (HELD / ROWS) == 0) settle();
  }
  settle();
}

void add_products(Matrix<const double> r, Matrix<const double> z, Cube<double> gradient) {
  const Index n = z.shape[0], d = z.shape[1], m = r.shape[1], width = whole_lanes(d);
  const Buffer<double> rows(ROWS * width), factor(m * ROWS);
  const SumsOfColumns sums(m, width);
  Work work;
  for (Index first = 0; first < n; first += ROWS) {
    const Index many = least(ROWS, n - first);
    work.done(4 * (m + 1) * width);
    for (Index i = 0; i < ROWS; ++i) {
      if (i < many) copy(rows + i * width, &z(first + i, 0), d);
      for (Index c = 0; c < m; ++c) factor[c * ROWS + i] = i < many ? r(first + i, c) : 0.0;
    }
    for (Index c = 0; c < m; ++c) sums.add(c, factor + c * ROWS, rows);
    if ((first / ROWS + 1) % (HELD / ROWS) == 0) sums.settle(gradient.at, m * d, d, d);
  }
  sums.settle(gradient.at, m * d, d, d);
}

void add_columns(Matrix<const double> v, Matrix<double> to) {
  const Index n = v.shape[0], m = v.shape[1];
  const LanesOfSums sums(m);
  Work work;
  for (Index first = 0; first < n; first += ROWS) {
    work.done(16 * m);
    for (Index c = 0; c < m; ++c) {
      double terms[LANES];
      for (Index i = 0; i < ROWS; ++i) terms[i] = first + i < n ? v(first + i, c) : 0.0;
      sums.add(c, load(terms));
    }
    if ((first / ROWS + 1) % (HELD / ROWS) == 0) sums.settle(to.at, m);
  }
  sums.settle(to.at, m);
}

void add_squares(Vector<const double> v, Matrix<const double> z, Cube<double> hessian) {
  const Index n = z.shape[0], d = z.shape[1], width = whole_lanes(d);
  const Buffer<double> rows(ROWS * width), weighted(width * ROWS);  // v z, column by column
  const SumsOfColumns sums(d, width);
  const auto settle = [&] { sums.settle(hessian.at, d * d, d, d); };
  Work work;
  for (Index first = 0; first < n; first += ROWS) {
    const Index many = least(ROWS, n - first);
    for (Index i = 0; i < many; ++i) copy(rows + i * width, &z(first + i, 0), d);
    for (Index j = 0; j < width; j += LANES) {
      Lanes square[LANES];
      UNROLL for (Index i = 0; i < ROWS; ++i) square[i] =
          splat(i < many ? v[first + i] : 0.0) * load(rows + i * width + j);
      transpose(square);
      UNROLL for (Index i = 0; i < ROWS; ++i) store(weighted + (j + i) * ROWS, square[i]);
    }
    for (Index i = 0; i < d; ++i) {
      sums.add(i, weighted + i * ROWS, rows, i);
      work.done(4 * (width - i));
    }
    if ((first / ROWS + 1) % (HELD / ROWS) == 0) settle();
  }
  settle();
}

void widen(Matrix<const double> x, Vector<const std::int64_t> codes, double* least_of,
           double* largest) {
  const Index n = x.shape[0], d = x.shape[1];
  Work work;
  for (Index i = 0; i < n; ++i) {
    if (codes[i] < 0) continue;
    work.done(d);
    const double* row = x.at + i * d;
    for (Index j = 0; j < d; ++j) {
      least_of[j] = row[j] < least_of[j] ? row[j] : least_of[j];
      largest[j] = row[j] > largest[j] ? row[j] : largest[j];
    }
  }
}

}  // namespace

extern const ExactLogisticKernels exact_logistic{add_gradient, add_products, add_squares,
                                                 add_columns, widen};

}  // namespace suffice::LEVEL
