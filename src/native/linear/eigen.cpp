#include "linear/eigen.hpp"

#include "support/interrupts.hpp"
#include "support/memory.hpp"
#include "support/vectors.hpp"

namespace suffice::LEVEL {
namespace {

constexpr double PRECISION = 0x1p-53;
constexpr double NOTHING = 0x1p-53;   // the rounding of a largest element near 1
constexpr double NO_LENGTH = 1e-290;  // of a vector, squared: what is left of it is rounding
constexpr int MOST_STEPS = 60;        // of one eigenvalue; two or three are usual

INLINE double square_root(double x) { return __builtin_sqrt(x); }

// √(a² + b²) without overflow.
INLINE double length(double a, double b) {
  const double larger = most(magnitude(a), magnitude(b));
  const double smaller = least(magnitude(a), magnitude(b));
  if (larger == 0.0) return 0.0;
  const double ratio = smaller / larger;
  return larger * square_root(1.0 + ratio * ratio);
}

// Copy the lower triangle to the upper one, and scale by a power of two to a largest element from
// 1/2 to 1; returns its inverse.
double scaled(Matrix<double> a) {
  const Index d = a.shape[0];
  double largest = 0.0;
  for (Index i = 0; i < d; ++i)
    for (Index j = 0; j <= i; ++j) largest = most(largest, magnitude(a(i, j)));
  double up = 1.0, down = 1.0;
  while (largest * up < 0.5 && largest > 0.0 && up < 0x1p1000) up *= 2.0, down *= 0.5;
  while (largest * up > 1.0) up *= 0.5, down *= 2.0;
  for (Index i = 0; i < d; ++i)
    for (Index j = 0; j <= i; ++j) a(j, i) = a(i, j) *= up;
  return down;
}

// Take u qᵀ + q uᵀ from the first n rows and columns of a.
void take_symmetric(Matrix<double> a, const double* u, const double* q, Index n) {
  for (Index i = 0; i < n; ++i) {
    double* row = a.at + i * a.shape[1];
    const Lanes by_u = splat(u[i]), by_q = splat(q[i]);
    Index j = 0;
    for (; j + LANES <= n; j += LANES)
      store(row + j, load(row + j) - (by_u * load(q + j) + by_q * load(u + j)));
    for (; j < n; ++j) row[j] -= u[i] * q[j] + q[i] * u[j];
  }
}

// Turn a into a tridiagonal matrix with this diagonal and, below it, e; row i keeps the vector u of
// its reflection I − u uᵀ/h in the first i columns, h[i] = 0 if there is none.
void tridiagonal(Matrix<double> a, double* diagonal, double* e, double* h, double* q, Work& work) {
  const Index d = a.shape[0];
  for (Index i = d - 1; i >= 0; --i) {
    double* u = a.at + i * d;
    diagonal[i] = u[i];
    h[i] = 0.0;
    if (i == 0) return;
    e[i - 1] = u[i - 1];
    if (!(product(u, u, i - 1) > NO_LENGTH)) continue;
    const double squares = product(u, u, i), root = square_root(squares);
    e[i - 1] = u[i - 1] > 0.0 ? -root : root;
    h[i] = squares - u[i - 1] * e[i - 1];
    u[i - 1] -= e[i - 1];
    for (Index j = 0; j < i; ++j) q[j] = product(a.at + j * d, u, i) / h[i];
    add_multiple(q, -(product(u, q, i) / (2.0 * h[i])), u, i);
    take_symmetric(a, u, q, i);
    work.done(i * i);
  }
}

// Write the product of the reflections, the first on the left, over their vectors.
void multiply_reflections(Matrix<double> a, const double* h, double* u, Work& work) {
  const Index d = a.shape[0];
  for (Index i = 0; i < d; ++i) {
    copy(u, a.at + i * d, i);
    for (Index j = 0; j < d; ++j) a(i, j) = i == j ? 1.0 : 0.0;
    if (h[i] == 0.0) continue;
    for (Index r = 0; r < i; ++r)
      add_multiple(a.at + r * d, -(product(a.at + r * d, u, i) / h[i]), u, i);
    work.done(i * i);
  }
}

// Rows x and y of d numbers become c x − s y and s x + c y.
void rotate(double* x, double* y, double c, double s, Index d) {
  const Lanes cosine = splat(c), sine = splat(s);
  Index j = 0;
  for (; j + LANES <= d; j += LANES) {
    const Lanes first = load(x + j), second = load(y + j);
    store(x + j, cosine * first - sine * second);
    store(y + j, sine * first + cosine * second);
  }
  for (; j < d; ++j) {
    const double first = x[j], second = y[j];
    x[j] = c * first - s * second;
    y[j] = s * first + c * second;
  }
}

// One QL step on the rows from l to m.
void step(Matrix<double> vectors, double* diagonal, double* e, Index l, Index m) {
  const Index d = vectors.shape[0];
  const double ratio = (diagonal[l + 1] - diagonal[l]) / (2.0 * e[l]), root = length(ratio, 1.0);
  double g = diagonal[m] - diagonal[l] + e[l] / (ratio + (ratio < 0.0 ? -root : root));
  double s = 1.0, c = 1.0, p = 0.0;
  for (Index i = m - 1; i >= l; --i) {
    const double f = s * e[i], b = c * e[i], r = length(f, g);
    e[i + 1] = r;
    if (r == 0.0) {
      diagonal[i + 1] -= p;
      e[m] = 0.0;
      return;
    }
    s = f / r;
    c = g / r;
    g = diagonal[i + 1] - p;
    const double t = (diagonal[i] - g) * s + 2.0 * c * b;
    p = s * t;
    diagonal[i + 1] = g + p;
    g = c * t - b;
    rotate(vectors.at + i * d, vectors.at + (i + 1) * d, c, s, d);
  }
  diagonal[l] -= p;
  e[l] = g;
  e[m] = 0.0;
}

// Whether an element beside the diagonal is no more than the rounding of those next to it, or of
// the largest one: between eigenvalues that are 0 but for rounding it need not get smaller.
INLINE bool is_small(const double* diagonal, const double* e, Index i) {
  const double size = magnitude(e[i]);
  return size <= PRECISION * (magnitude(diagonal[i]) + magnitude(diagonal[i + 1])) ||
         size <= NOTHING;
}

bool diagonalise(Matrix<double> vectors, double* diagonal, double* e, Work& work) {
  const Index d = vectors.shape[0];
  for (Index l = 0; l < d; ++l) {
    for (int steps = 0;; ++steps) {
      Index m = l;
      while (m + 1 < d && !is_small(diagonal, e, m)) ++m;
      if (m == l) break;
      if (steps == MOST_STEPS) return false;
      step(vectors, diagonal, e, l, m);
      work.done(d * (m - l));
    }
  }
  return true;
}

void sort(Matrix<double> vectors, double* values) {
  const Index d = vectors.shape[0];
  for (Index i = 0; i < d; ++i) {
    Index first = i;
    for (Index j = i + 1; j < d; ++j)
      if (values[j] < values[first]) first = j;
    if (first == i) continue;
    const double value = values[i];
    values[i] = values[first];
    values[first] = value;
    for (Index j = 0; j < d; ++j) {
      const double cell = vectors(i, j);
      vectors(i, j) = vectors(first, j);
      vectors(first, j) = cell;
    }
  }
}

bool symmetric(Cube<double> a, Matrix<double> values) {
  const Index d = a.shape[1];
  Buffer<double> e(d), h(d), buffer(d);
  bool converged = true;
  Work work;
  for (Index m = 0; m < a.shape[0]; ++m) {
    const Matrix<double> matrix = a.part(m);
    double* diagonal = values.at + m * d;
    const double unit = scaled(matrix);
    work.done(8 * d * d);
    tridiagonal(matrix, diagonal, e, h, buffer, work);
    multiply_reflections(matrix, h, buffer, work);
    converged &= diagonalise(matrix, diagonal, e, work);
    for (Index i = 0; i < d; ++i) diagonal[i] *= unit;
    sort(matrix, diagonal);
  }
  return converged;
}

}  // namespace

extern const Eigen eigen{symmetric};

}  // namespace suffice::LEVEL
