#include "linear/descent.hpp"

#include "support/interrupts.hpp"
#include "linear/logistic_loss.hpp"
#include "support/vectors.hpp"

namespace suffice::LEVEL {
namespace {

// Write ω ∂ℓ/∂t in the place of t (m,), and add ω ℓ to `loss`.

// Half the squared error of every target, ℓ = ½(t − u)².
struct SquaredErrors {
  Matrix<const double> targets;

  INLINE void replace(Index i, double weight, double* t, Index m, double* loss) const {
    for (Index c = 0; c < m; ++c) {
      const double e = t[c] - targets(i, c);
      loss[c] += 0.5 * weight * e * e;
      t[c] = weight * e;
    }
  }
};

// Minus the log-probability of the class: of t₁ − t₀ for two classes, else of every t_c.
struct LogLoss {
  const std::int64_t* codes;

  INLINE void replace(Index i, double weight, double* t, Index m, double* loss) const {
    if (m == 1) {
      const TwoClasses row = two_classes(t[0], codes[i], faint(t[0]));
      loss[0] += weight * (log1p(row.loss.r) + row.loss.a);
      t[0] = weight * row.residual;
    } else {
      loss[0] += weight * replace_by_residuals(t, m, codes[i], weight);
    }
  }
};

template <class Loss>
void add_gradient(const Loss& of_row, const DescentRows& rows, Vector<const std::int64_t> order,
                  DescentBuffers buffers, Matrix<const double> v, Matrix<double> g, double* loss) {
  const Index m = v.shape[0], p = v.shape[1] - 1;
  Work work;
  for (Index q = 0; q < order.shape[0]; ++q) {
    work.done((m + 1) * (p + 8));
    const Index i = order[q];
    const double* cells = &rows.table(i, 0);
    for (Index j = 0; j < p; ++j) buffers.z[1 + j] = (cells[j] - rows.center[j]) * rows.inverse[j];
    for (Index c = 0; c < m; ++c) buffers.t[c] = product(&v(c, 0), buffers.z, p + 1);
    of_row.replace(i, rows.weights[i], buffers.t, m, loss);
    for (Index c = 0; c < m; ++c) add_multiple(&g(c, 0), buffers.t[c], buffers.z, p + 1);
  }
}

template <class Loss>
void descend(const Loss& of_row, const DescentRows& rows, Vector<const std::int64_t> order,
             DescentBuffers buffers, const DescentSteps& steps, Matrix<double> v,
             Matrix<double> velocity, double* loss, Matrix<double> path) {
  const Index width = v.shape[1], cells = v.size();
  const Buffer<double> gradient(cells);
  Work work;
  const double ahead = steps.nesterov ? steps.momentum : 1.0, behind = steps.nesterov ? 1.0 : 0.0;
  for (Index first = 0; first < order.shape[0]; first += steps.size) {
    const Index many = least(steps.size, order.shape[0] - first);
    work.done(cells * (4 + many));
    fill<double>(gradient, cells, 0.0);
    add_gradient<Loss>(of_row, rows, {&order[first], {many}}, buffers, v,
                       {gradient, {v.shape[0], width}}, loss);
    const double share = 1.0 / static_cast<double>(many);
    for (Index c = 0; c < v.shape[0]; ++c)
      for (Index j = 0; j < width; ++j) {
        double& at = v(c, j);
        double& d = velocity(c, j);
        const double step = steps.rate * (share * gradient[c * width + j] + steps.penalty[j] * at);
        d = steps.momentum * d - step;
        at += ahead * d - behind * step;
        path(c, j) += at;
      }
  }
}

// The loss that belongs to the targets.
template <class Act>
INLINE void with_loss(const DescentRows& rows, const Act& act) {
  if (rows.codes)
    act(LogLoss{rows.codes});
  else
    act(SquaredErrors{rows.targets});
}

void add_gradient_of(DescentRows rows, Vector<const std::int64_t> order, DescentBuffers buffers,
                     Matrix<const double> v, Matrix<double> g, double* loss) {
  with_loss(rows,
            [&](const auto& of_row) { add_gradient(of_row, rows, order, buffers, v, g, loss); });
}

void descend_on(DescentRows rows, Vector<const std::int64_t> order, DescentBuffers buffers,
                DescentSteps steps, Matrix<double> v, Matrix<double> velocity, double* loss,
                Matrix<double> path) {
  with_loss(rows, [&](const auto& of_row) {
    descend(of_row, rows, order, buffers, steps, v, velocity, loss, path);
  });
}

}  // namespace

extern const DescentKernels descent{add_gradient_of, descend_on};

}  // namespace suffice::LEVEL
