#include "densities/densities.hpp"

#include <algorithm>

#include "support/elementary_functions.hpp"
#include "support/interrupts.hpp"
#include "support/memory.hpp"

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

// Σ n_cm x_m, and of other functions of m: products are added up as numbers are.
template <class Term>
INLINE double added_up_of(double* buffer, Index n, const Term& term) {
  for (Index i = 0; i < n; ++i) buffer[i] = term(i);
  return added_up(buffer, n);
}

// A quarter of the numbers of a class lies below, or three.
double quartile(Vector<const double> x, const double* count, double below) {
  double upto = 0.0;
  Index i = 0;
  while (i < x.size() - 1 && (upto += count[i]) < below) ++i;
  return x[i];
}

double kernel_shape(Vector<const double> x, Matrix<const double> count, KernelShape shape) {
  constexpr double QUARTILES = 1.34;  // standard deviations between the quartiles of a Gaussian
  constexpr double ROUNDING = 1e-9;  // of all numbers' deviation, which equal ones may seem to have
  const Index k = count.shape[0], b = x.size();
  const Buffer<double> every(b), n(k), terms(b);
  for (Index c = 0; c < k; ++c) {
    for (Index i = 0; i < b; ++i) every[i] += count(c, i);
    n[c] = added_up(&count(c, 0), b);
  }
  const double rows = added_up(n, k);
  const auto deviation = [&](const double* weight, double total, double mean) {
    const auto square = [&](Index i) { return weight[i] * ((x[i] - mean) * (x[i] - mean)); };
    return __builtin_sqrt(added_up_of(terms, b, square) / total);
  };
  const auto mean = [&](const double* weight, double total) {
    return added_up_of(terms, b, [&](Index i) { return weight[i] * x[i]; }) / total;
  };
  const double center = mean(every, rows), overall = deviation(every, rows, center);
  for (Index i = 0; i < b; ++i) {
    const double z = (x[i] - center) / overall;
    shape.broad[i] = 1.0 / (PI * overall * (1.0 + z * z));
  }
  for (Index c = 0; c < k; ++c) {
    const double *const own = &count(c, 0), total = n[c] > 0.0 ? n[c] : 1.0;
    const double spread = deviation(own, total, mean(own, total));
    const double first = quartile(x, own, 0.25 * n[c]), third = quartile(x, own, 0.75 * n[c]);
    const double middle = (third - first) / QUARTILES;
    const double smaller = middle > 0.0 ? least(middle, spread) : spread;
    shape.spreads[c] = smaller > ROUNDING * overall ? smaller : 0.1 * overall;
    shape.narrower[c] = exp(-0.2 * log(most(n[c], 1.0)));
  }
  return overall;
}

// So many bandwidths from a number, all kernels of a class together add less than 2⁻⁵⁶ of what is
// there anyway.
double reach(double n, double height, double least_broad) {
  const double square = 2.0 * log(n * height / (0x1p-56 * least_broad));
  return square < FARTHEST * FARTHEST ? __builtin_sqrt(most(square, 0.0)) : FARTHEST;
}

// Write Σ_q n_cq N(x_i; x_q, h_c²), (k, b), but for what is lost beside `broad`.
//
// The kernel at x_q is as high at x_i as that at x_i is at x_q: of every pair of numbers it is
// computed once. Each sum has its terms in the order of q all the same, added up lane by lane.
void sum_kernels(Vector<const double> x, Matrix<const double> count, Vector<const double> bandwidth,
                 Vector<const double> broad, double* sums) {
  const Index b = x.size(), padded = (b + LANES - 1) / LANES * LANES;
  const Buffer<double> at(padded), weight(padded);  // without weight behind those that are copied
  const Buffer<double> before(LANES * padded);      // of every i the terms of earlier q, by lane
  for (Index i = 0; i < padded; ++i) at[i] = x[least(i, b - 1)];
  double least_broad = broad[0];
  for (Index i = 1; i < b; ++i) least_broad = least(least_broad, broad[i]);
  Work work;
  for (Index c = 0; c < count.shape[0]; ++c) {
    const double n = added_up(&count(c, 0), b);
    if (!(n > 0.0)) continue;  // whose sums are 0
    copy<double>(weight, &count(c, 0), b);
    std::fill_n(&before[0], LANES * padded, 0.0);
    const double h = bandwidth[c], height = 1.0 / (ROOT_OF_2PI * h);
    const Lanes per_h = splat(1.0 / h), factor = splat(-0.5), lowest = splat(-700.0);
    const double far = reach(n, height, least_broad) * h;
    for (Index block = 0; block < b; block += LANES) {
      Lanes sum[LANES];
      for (Index lane = 0; lane < LANES; ++lane) sum[lane] = load(before + lane * padded + block);
      transpose(sum);
      for (Index i = block; i < block + LANES && i < b; ++i) {
        const Lanes here = splat(x[i]), own = splat(weight[i]);
        const auto kernel = [&](Index q) {
          const Lanes distance = (load(at + q) - here) * per_h;
          return exp_of_moderate(larger(distance * distance * factor, lowest));
        };
        double* const later = before + (i - block) * padded;
        Lanes total_here = sum[i - block] + load(weight + block) * kernel(block);
        for (Index q = block + LANES; q < padded && !(at[q] > x[i] + far); q += LANES) {
          const Lanes of_pair = kernel(q);
          total_here += load(weight + q) * of_pair;
          store(later + q, load(later + q) + own * of_pair);
        }
        sums[c * b + i] = total(total_here) * height;
      }
      work.done(2 * LANES * padded);
    }
  }
}

void kernel_logs(Vector<const double> x, Matrix<const double> count, Vector<const double> bandwidth,
                 Vector<const double> broad, LogDensities logs) {
  const Index k = count.shape[0], b = x.size();
  const Buffer<double> sums(k * b), every(b), numbers(k);
  sum_kernels(x, count, bandwidth, broad, sums);
  for (Index c = 0; c < k; ++c) {
    for (Index i = 0; i < b; ++i) every[i] += sums[c * b + i];
    numbers[c] = added_up(&count(c, 0), b);
  }
  const Lanes zero = splat(0.0);
  Work work;
  for (Index c = 0; c < k; ++c) {
    const double n = numbers[c], shown = n > 0.0 ? n : added_up(numbers, k);
    const double* const from = n > 0.0 ? sums + c * b : every;
    const Lanes own = splat(n > 0.0 ? 1.0 / (ROOT_OF_2PI * bandwidth[c]) : 0.0);
    for (Index i = 0; i < b; i += LANES) {
      const Lanes sum = some_of(from + i, b - i), more = some_of(broad.at + i, b - i);
      const Lanes logarithm = log_of_positive((sum + more) / splat(shown + 1.0));
      const Lanes rest = larger(sum - own, zero) + more;
      write_some(&logs.all(c, i), b - i, logarithm);
      write_some(&logs.without_one(c, i), b - i,
                 n > 0.0 ? log_of_positive(rest / splat(most(n, 1.0))) : logarithm);
    }
    work.done(8 * b);
  }
}

void merge(GivenCells cells, Vector<const std::int64_t> cuts, WrittenCells to) {
  const Index m = cells.low.size(), last = cuts.size();
  for (Index i = 0; i <= last; ++i) {
    const Index first = i ? cuts[i - 1] : 0, next = i < last ? cuts[i] : m;
    for (Index c = 0; c < to.count.shape[0]; ++c)  // which is how NumPy does it
      to.count(c, i) =
          cells.count(c, first) + added_up(&cells.count(c, first) + 1, next - first - 1);
    to.low[i] = i ? to.high[i - 1] : cells.low[0];
    // Between two cells lies the middle of what parts them.
    to.high[i] = i < last ? 0.5 * cells.high[next - 1] + 0.5 * cells.low[next] : cells.high[m - 1];
  }
}

void replace_by_lgamma(double* x, Index n) {
  for (Index i = 0; i < n; i += LANES) write_some(x + i, n - i, lgamma(some_of(x + i, n - i)));
}

void back_off(Matrix<const double> count, Vector<double> prior) {
  constexpr int FIRST = -1, LAST = 12;  // powers of 2
  const Index k = count.shape[0], b = count.shape[1];
  const Buffer<double> n(k), q(b), nobody(b), bins(k * b), classes(k);
  for (Index c = 0; c < k; ++c) {
    n[c] = added_up(&count(c, 0), b);
    for (Index i = 0; i < b; ++i) q[i] += count(c, i);
  }
  const double rows = added_up(q, b) + 0.5 * static_cast<double>(b);
  for (Index i = 0; i < b; ++i) q[i] = (q[i] + 0.5) / rows;
  double most_evidence = -INFINITE, best = __builtin_ldexp(1.0, FIRST);
  Work work;
  for (int power = FIRST; power <= LAST; ++power) {
    const double s = __builtin_ldexp(1.0, power);
    for (Index i = 0; i < b; ++i) nobody[i] = s * q[i];
    for (Index c = 0; c < k; ++c) {
      for (Index i = 0; i < b; ++i) bins[c * b + i] = count(c, i) + nobody[i];
      classes[c] = s + n[c];
    }
    replace_by_lgamma(nobody, b), replace_by_lgamma(bins, k * b), replace_by_lgamma(classes, k);
    for (Index c = 0; c < k; ++c) {
      for (Index i = 0; i < b; ++i) bins[c * b + i] -= nobody[i];
      classes[c] = lgamma(s) - classes[c];
    }
    const double evidence = added_up(bins, k * b) + added_up(classes, k);
    if (evidence > most_evidence) most_evidence = evidence, best = s;
    work.done(32 * (k + 1) * (b + 1));
  }
  for (Index i = 0; i < b; ++i) prior[i] = best * q[i];
}

void bin_logs(GivenCells bins, Vector<const double> prior, LogDensities logs) {
  const Index k = bins.count.shape[0], b = prior.size();
  const double s = added_up(prior.at, b);
  const Lanes zero = splat(0.0), one = splat(1.0);
  for (Index c = 0; c < k; ++c) {
    const double n = added_up(&bins.count(c, 0), b);
    for (Index i = 0; i < b; i += LANES) {
      const Lanes low = some_of(bins.low.at + i, b - i), high = some_of(bins.high.at + i, b - i);
      const Lanes width = log(choose(high, low, high - low, one));
      const Lanes shown = some_of(&bins.count(c, i), b - i), more = some_of(prior.at + i, b - i);
      const Lanes rest = larger(shown - one, zero) + more;
      write_some(&logs.all(c, i), b - i, log((shown + more) / splat(n + s)) - width);
      write_some(&logs.without_one(c, i), b - i, log(rest / splat(most(n - 1.0, 0.0) + s)) - width);
    }
  }
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
    // e^−700 is nothing beside the largest, and a number that has a logarithm.
    const auto share = [&](Lanes a) { return exp_of_moderate(larger(a - top, splat(-700.0))); };
    for (Index c = 0; c < k; ++c) joint[c] = share(joint[c]);
    after[k - 1] = zero;
    for (Index c = k - 1; c > 0; --c) after[c - 1] = after[c] + joint[c];
    Lanes before = zero;
    for (Index c = 0; c < k; ++c) {
      const Lanes shown = some_of(&count(c, i), m - i);
      if (count_above(shown, zero)) {
        const Lanes all = before + after[c] + share(own[c]);
        const Lanes loss = log_of_positive(all) - (own[c] - top);
        write_some(&losses[c * m + i], m - i, shown * choose(shown, zero, loss, zero));
      }
      before += joint[c];
    }
  }
  return added_up(losses, k * m);
}

}  // namespace

extern const Densities densities{kernel_shape, kernel_logs, merge, back_off, bin_logs, log_losses};

}  // namespace suffice::LEVEL
