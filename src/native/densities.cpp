#include "densities.hpp"

#include <algorithm>

#include "elementary_functions.hpp"
#include "interrupts.hpp"
#include "memory.hpp"

namespace suffice::LEVEL {
namespace {

constexpr double ROOT_OF_2PI = 2.5066282746310002, PI = 3.141592653589793;
constexpr double FARTHEST = 39.0;  // deviations, beyond which a Gaussian is 0 in double

// Eight numbers, or fewer and then the last of them again.
INLINE Lanes some_of(const double* from, Index many) {
  if (many >= LANES) return load(from);
  double some[LANES];
  for (Index i = 0; i < LANES; ++i) some[i] = from[least(i, many - 1)];
  return load(some);
}

INLINE void write_some(double* to, Index many, Lanes values) {
  if (many >= LANES) return store(to, values);
  double some[LANES];
  store(some, values);
  for (Index i = 0; i < many; ++i) to[i] = some[i];
}

INLINE Lanes larger(Lanes a, Lanes b) { return choose(a, b, a, b); }

// K. P. Murphy (2007), eqs. 86-89 and 110, with κ₀ = a₀ = 1 and b₀ the variance of all classes: the
// density of a class that has shown n numbers.
class Student {
  double mean0_, variance0_, kappa_, per_kappa_, power_, log_gammas_;
  bool shown_;

 public:
  INLINE Student(double n, double mean0, double variance0)
      : mean0_(mean0), variance0_(variance0), kappa_(1.0 + n), per_kappa_(n / kappa_),
        shown_(n > 0.0) {
    const double nu = 2.0 * (1.0 + n / 2.0);
    power_ = (nu + 1.0) / 2.0;
    log_gammas_ = lgamma(power_) - lgamma(nu / 2.0);
  }
  INLINE Lanes log_density(Lanes x, Lanes mean, Lanes scatter) const {
    const Lanes half = splat(0.5), two = splat(2.0), per_kappa = splat(per_kappa_);
    const Lanes shift = shown_ ? mean - splat(mean0_) : splat(0.0);
    const Lanes e = x - (splat(mean0_) + per_kappa * shift);
    const Lanes b = splat(variance0_) + scatter * half + per_kappa * (shift * shift) * half;
    const Lanes square = two * b * splat(kappa_ + 1.0) / splat(kappa_);
    const Lanes log_scale = splat(log_gammas_) - half * log(splat(PI) * square);
    return log_scale - splat(power_) * log1p(e * e / square);
  }
};

void student(Vector<const double> x, ColumnMoments of, LogDensities logs) {
  const Index m = x.size();
  Work work;
  for (Index c = 0; c < of.count.size(); ++c) {
    const double n = of.count[c], rest = most(n - 1.0, 0.0);
    const Student all(n, of.mean0, of.variance0), without(rest, of.mean0, of.variance0);
    const Lanes zero = splat(0.0), some = splat(rest > 0.0 ? rest : 1.0);
    const Lanes mean = splat(of.mean[c]), scatter = splat(of.scatter[c]);
    for (Index i = 0; i < m; i += LANES) {
      const Lanes at = some_of(x.at + i, m - i), shift = n > 0.0 ? at - mean : zero;
      const Lanes left = mean - (rest > 0.0 ? shift / some : zero);
      const Lanes spread = scatter - shift * shift * splat(n) / some;
      write_some(&logs.all(c, i), m - i, all.log_density(at, mean, scatter));
      write_some(&logs.without_one(c, i), m - i,
                 without.log_density(at, left, rest > 0.0 ? larger(spread, zero) : zero));
    }
    work.done(16 * m);
  }
}

// The kernel at x_q is as high at x_i as that at x_i is at x_q: of every pair of numbers it is
// computed once. Each sum has its terms in the order of q all the same, added up lane by lane.
void sum_kernels(Vector<const double> x, Matrix<const double> count, Vector<const double> bandwidth,
                 Matrix<double> sums) {
  const Index b = x.size(), padded = (b + LANES - 1) / LANES * LANES;
  const Buffer<double> at(padded), weight(padded);  // zeros behind those that are copied
  const Buffer<double> before(LANES * padded);      // of every i the terms of earlier q, by lane
  copy<double>(at, x.at, b);
  Work work;
  for (Index c = 0; c < count.shape[0]; ++c) {
    copy<double>(weight, &count(c, 0), b);
    std::fill_n(&before[0], LANES * padded, 0.0);
    const double h = bandwidth[c], height = 1.0 / (ROOT_OF_2PI * h);
    const Lanes per_h = splat(1.0 / h), factor = splat(-0.5);
    const double reach = FARTHEST * h;
    for (Index block = 0; block < b; block += LANES) {
      Lanes sum[LANES];
      for (Index lane = 0; lane < LANES; ++lane) sum[lane] = load(before + lane * padded + block);
      transpose(sum);
      for (Index i = block; i < block + LANES && i < b; ++i) {
        const Lanes here = splat(x[i]), own = splat(weight[i]);
        const auto kernel = [&](Index q) {
          const Lanes distance = (load(at + q) - here) * per_h;
          return exp(distance * distance * factor);
        };
        double* const later = before + (i - block) * padded;
        Lanes total_here = sum[i - block] + load(weight + block) * kernel(block);
        for (Index q = block + LANES; q < padded && !(at[q] > x[i] + reach); q += LANES) {
          const Lanes of_pair = kernel(q);
          total_here += load(weight + q) * of_pair;
          store(later + q, load(later + q) + own * of_pair);
        }
        sums(c, i) = total(total_here) * height;
      }
      work.done(2 * LANES * padded);
    }
  }
}

void kernel_logs(Matrix<const double> sums, Vector<const double> count,
                 Vector<const double> bandwidth, Vector<const double> broad, LogDensities logs) {
  const Index b = broad.size();
  Work work;
  for (Index c = 0; c < count.size(); ++c) {
    const double n = count[c];
    if (!(n > 0.0)) continue;
    const Lanes own = splat(1.0 / (ROOT_OF_2PI * bandwidth[c])), zero = splat(0.0);
    for (Index i = 0; i < b; i += LANES) {
      const Lanes sum = some_of(&sums(c, i), b - i), more = some_of(broad.at + i, b - i);
      const Lanes rest = larger(sum - own, zero) + more;
      write_some(&logs.all(c, i), b - i, log((sum + more) / splat(n + 1.0)));
      write_some(&logs.without_one(c, i), b - i, log(rest / splat(most(n, 1.0))));
    }
    work.done(8 * b);
  }
}

// The sum of numbers, whose halves are added up alike (as NumPy does it, so that results stay).
double added_up(const double* x, Index n) {
  constexpr Index FEW = 128;
  if (n < LANES) {
    double sum = 0.0;
    for (Index i = 0; i < n; ++i) sum += x[i];
    return sum;
  }
  if (n > FEW) {
    const Index half = n / 2 - n / 2 % LANES;
    return added_up(x, half) + added_up(x + half, n - half);
  }
  double sums[LANES];
  Lanes eight = load(x);
  const Index whole = n - n % LANES;
  for (Index i = LANES; i < whole; i += LANES) eight += load(x + i);
  store(sums, eight);
  double sum =
      ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
  for (Index i = whole; i < n; ++i) sum += x[i];
  return sum;
}

double log_losses(Matrix<const double> count, Matrix<const double> logs,
                  Matrix<const double> without_one) {
  const Index k = count.shape[0], m = count.shape[1];
  const Buffer<double> log_n(k), losses(k * m);
  const Buffer<Lanes> joint(k), own(k), after(k);
  for (Index c = 0; c < k; ++c) {
    const double n = added_up(count.at + c * m, m);
    log_n[c] = n > 0.0 ? log(n) : -INFINITE;
  }
  const Lanes zero = splat(0.0);
  Work work;
  for (Index i = 0; i < m; i += LANES) {
    work.done(16 * k);
    Lanes top = splat(-INFINITE);
    for (Index c = 0; c < k; ++c) {
      joint[c] = some_of(&logs(c, i), m - i) + splat(log_n[c]);
      own[c] = some_of(&without_one(c, i), m - i) + splat(log_n[c]);
      top = larger(larger(joint[c], own[c]), top);
    }
    for (Index c = 0; c < k; ++c) joint[c] = exp(joint[c] - top);
    after[k - 1] = zero;
    for (Index c = k - 1; c > 0; --c) after[c - 1] = after[c] + joint[c];
    Lanes before = zero;
    for (Index c = 0; c < k; ++c) {
      const Lanes shown = some_of(&count(c, i), m - i), mine = own[c] - top;
      const Lanes loss = log(before + after[c] + exp(mine)) - mine;
      write_some(&losses[c * m + i], m - i, shown * choose(shown, zero, loss, zero));
      before += joint[c];
    }
  }
  return added_up(losses, k * m);
}

}  // namespace

extern const Densities densities{student, sum_kernels, kernel_logs, log_losses};

}  // namespace suffice::LEVEL
