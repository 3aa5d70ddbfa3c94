#include "gram.hpp"

namespace suffice::LEVEL {
namespace {

constexpr Index ROWS = 32;  // whose products are added while a row of the result is in the cache
constexpr Index SUMS = 8;   // of every scalar product

void times(Matrix<const double> a, Vector<const double> x, Vector<double> out) {
  const Index m = a.shape[0], g = a.shape[1], whole = g - g % SUMS;
  for (Index i = 0; i < m; ++i) {
    const double* const row = a.at + i * g;
    double sums[SUMS] = {};
    for (Index j = 0; j < whole; j += SUMS)
      for (Index l = 0; l < SUMS; ++l) sums[l] += row[j + l] * x[j + l];
    for (Index j = whole; j < g; ++j) sums[j - whole] += row[j] * x[j];
    for (Index half = SUMS / 2; half; half /= 2)
      for (Index l = 0; l < half; ++l) sums[l] += sums[l + half];
    out[i] = sums[0];
  }
}

void add_transposed(Matrix<const double> a, Vector<const double> r, Vector<double> out) {
  const Index m = a.shape[0], g = a.shape[1];
  for (Index i = 0; i < m; ++i)
    for (Index j = 0; j < g; ++j) out[j] += r[i] * a(i, j);
}

void add_gram(Matrix<const double> a, Vector<const double> v, Matrix<double> out) {
  const Index m = a.shape[0], g = a.shape[1];
  for (Index first = 0; first < m; first += ROWS) {
    const Index end = first + ROWS < m ? first + ROWS : m;
    for (Index i = 0; i < g; ++i) {
      double* const sums = out.at + i * g;
      Index t = first;
      for (; t + 4 <= end; t += 4) {
        const double f[4] = {v[t] * a(t, i), v[t + 1] * a(t + 1, i), v[t + 2] * a(t + 2, i),
                             v[t + 3] * a(t + 3, i)};
        const double* const row = a.at + t * g;
        for (Index j = i; j < g; ++j)
          sums[j] = sums[j] + f[0] * row[j] + f[1] * row[g + j] + f[2] * row[2 * g + j] +
                    f[3] * row[3 * g + j];
      }
      for (; t < end; ++t) {
        const double f = v[t] * a(t, i);
        for (Index j = i; j < g; ++j) sums[j] += f * a(t, j);
      }
    }
  }
  for (Index i = 0; i < g; ++i)
    for (Index j = 0; j < i; ++j) out(i, j) = out(j, i);
}

}  // namespace

extern const GramKernels gram{times, add_transposed, add_gram};

}  // namespace suffice::LEVEL
