#include "searchlight/searchlight.hpp"

#include "support/elementary_functions.hpp"
#include "support/interrupts.hpp"
#include "support/memory.hpp"
#include "support/simd.hpp"

namespace suffice::LEVEL {
namespace {

constexpr int TILE = 8;         // volumes that are scored side by side
constexpr Index STRIP = 64;     // voxels whose sums of blocks are added up together
constexpr Index CACHED = 1024;  // voxels whose sums stay near while volumes go by

// Eight numbers, one of each volume of a tile, in as many registers as they take.
template <class T>
struct Eight {
  static constexpr int SPAN = 8 * WIDTH / sizeof(T) < TILE ? 8 * WIDTH / sizeof(T) : TILE;
  typedef T Part __attribute__((vector_size(SPAN * sizeof(T))));
  typedef T InMemory __attribute__((vector_size(SPAN * sizeof(T)), aligned(sizeof(T)), may_alias));
  Part part[TILE / SPAN];

  static INLINE Eight of(T value) {
    Eight r;
    UNROLL for (int p = 0; p < TILE / SPAN; ++p) UNROLL for (int i = 0; i < SPAN; ++i)
        r.part[p][i] = value;
    return r;
  }
  static INLINE Eight at(const T* place) {
    Eight r;
    UNROLL for (int p = 0; p < TILE / SPAN; ++p) r.part[p] =
        *reinterpret_cast<const InMemory*>(place + SPAN * p);
    return r;
  }
  INLINE void to(T* place) const {
    UNROLL for (int p = 0; p < TILE / SPAN; ++p) * reinterpret_cast<InMemory*>(place + SPAN * p) =
        part[p];
  }
  INLINE T operator[](Index i) const { return part[i / SPAN][i % SPAN]; }
  INLINE Eight& operator+=(Eight b) {
    UNROLL for (int p = 0; p < TILE / SPAN; ++p) part[p] += b.part[p];
    return *this;
  }
  // a − (x − μ)² h, rounded after each operation.
  static INLINE Eight log_likelihood(Eight x, T mean, T a, T h) {
    Eight r;
    const Eight means = of(mean), as = of(a), hs = of(h);
    UNROLL for (int p = 0; p < TILE / SPAN; ++p) {
      const Part d = x.part[p] - means.part[p];
      r.part[p] = as.part[p] - d * d * hs.part[p];
    }
    return r;
  }
  // Keep the larger score, and its class; of equal ones the earlier.
  static INLINE void keep(Eight score, T c, Eight& best, Eight& which) {
    const Eight cs = of(c);
    UNROLL for (int p = 0; p < TILE / SPAN; ++p) {
      const auto better = score.part[p] > best.part[p];
      best.part[p] = better ? score.part[p] : best.part[p];
      which.part[p] = better ? cs.part[p] : which.part[p];
    }
  }
};

template <class X, class T>
void add_volumes(Matrix<const X> x, Vector<const std::int32_t> block, Vector<const T> pivot,
                 Matrix<T> sums, Matrix<T> squares) {
  Work work;
  for (Index first = 0; first < x.shape[1]; first += CACHED) {
    const Index width = least(CACHED, x.shape[1] - first);
    const T* origin = &pivot[first];
    for (Index t = 0; t < x.shape[0]; ++t) {
      work.done(width);
      const X* values = &x(t, first);
      T* sum = &sums(block[t], first);
      T* square = &squares(block[t], first);
      for (Index v = 0; v < width; ++v) {
        const T d = static_cast<T>(values[v]) - origin[v];
        sum[v] += d, square[v] += d * d;
      }
    }
  }
}

// What a Gaussian needs to be evaluated: a − (x − μ)² h.
template <class T>
struct Term {
  T mean, a, h;
};

// Parameters of all voxels and classes, (V, k), from the blocks that a fold learns from.
//
//   μ = (κ m₀ + Σx) / (κ + n)
//   σ² = max((Σ(x − x̄)² + strength σ₀² + κn (x̄ − m₀)²/(κ + n)) / (n + ν), floor σ₀²)
//
// m₀ and σ₀² are those of all classes together. Maximum likelihood is ν = κ = strength = 0.
template <class T>
void estimate(const LearntSums<T>& learnt, Index fold, const double* n, Term<T>* terms) {
  const Buffer<T> scratch(2 * learnt.k * STRIP);
  const Index k = learnt.k, voxels = learnt.pivot.size();
  const double nu = learnt.prior[0], kappa = learnt.prior[1];
  const double strength = learnt.prior[2], floor = learnt.prior[3];
  double all = 0.0;
  for (Index c = 0; c < k; ++c) all += n[c];
  Work work;
  for (Index first = 0; first < voxels; first += STRIP) {
    const Index width = least(STRIP, voxels - first);
    work.done(STRIP * (16 * k + learnt.label.size()));
    fill<T>(scratch, 2 * k * STRIP, T(0));
    for (Index b = 0; b < learnt.label.size(); ++b) {
      if (!learnt.trained(fold, b)) continue;
      T* s = scratch + 2 * learnt.label[b] * STRIP;
      const T* sum = &learnt.sums(b, first);
      const T* square = &learnt.squares(b, first);
      for (Index v = 0; v < width; ++v) s[v] += sum[v];
      for (Index v = 0; v < width; ++v) s[STRIP + v] += square[v];
    }
    for (Index v = 0; v < width; ++v) {
      Term<T>* term = terms + (first + v) * k;
      double sum = 0.0, square = 0.0;
      for (Index c = 0; c < k; ++c) {
        sum += scratch[2 * c * STRIP + v], square += scratch[(2 * c + 1) * STRIP + v];
      }
      const double mean0 = sum / all, variance0 = square / all - mean0 * mean0;
      const bool silent = learnt.silent(fold, first + v) || !(variance0 > 0.0);
      for (Index c = 0; c < k; ++c) {
        if (silent) {
          term[c] = {T(0), T(0), T(0)};
          continue;
        }
        const double s = scratch[2 * c * STRIP + v], q = scratch[(2 * c + 1) * STRIP + v];
        const double own = s / n[c], apart = own - mean0;
        const double scatter =
            q - s * own + strength * variance0 + kappa * n[c] * apart * apart / (kappa + n[c]);
        const double variance = most(scatter / (n[c] + nu), floor * variance0);
        const double mean = (kappa * mean0 + s) / (kappa + n[c]);
        term[c] = {static_cast<T>(learnt.pivot[first + v] + mean),
                   static_cast<T>(-0.5 * log(variance)), static_cast<T>(0.5 / variance)};
      }
    }
  }
}

// The volumes of each class that a fold learns from; return those of all.
template <class T>
double numbers(const LearntSums<T>& learnt, Index fold, double* n) {
  double all = 0.0;
  fill(n, learnt.k, 0.0);
  for (Index b = 0; b < learnt.label.size(); ++b)
    if (learnt.trained(fold, b)) n[learnt.label[b]] += learnt.count[b], all += learnt.count[b];
  return all;
}

// Log-likelihoods of up to eight volumes, (V, k, 8); volumes that lack are copies of the last.
template <class X, class T>
void evaluate(Matrix<const X> x, Index first, Index rows, Index k, const Term<T>* terms, T* out) {
  const X* volume[TILE];
  for (int i = 0; i < TILE; ++i) volume[i] = &x(first + least<Index>(i, rows - 1), 0);
  for (Index v = 0; v < x.shape[1]; ++v) {
    Eight<T> value;
    UNROLL for (int i = 0; i < TILE; ++i) value.part[i / Eight<T>::SPAN][i % Eight<T>::SPAN] =
        static_cast<T>(volume[i][v]);
    for (Index c = 0; c < k; ++c, ++terms, out += TILE)
      Eight<T>::log_likelihood(value, terms->mean, terms->a, terms->h).to(out);
  }
}

// Sum the scores of G classes from c on over the neighbours, and keep the best of them.
template <int G, class T>
INLINE void compare(const T* scores, Index stride, const std::int32_t* neighbour,
                    const std::int32_t* stop, Index c, const T* log_prior, Eight<T>& best,
                    Eight<T>& which) {
  Eight<T> sum[G];
  UNROLL for (int g = 0; g < G; ++g) sum[g] = Eight<T>::of(log_prior[c + g]);
  for (; neighbour != stop; ++neighbour) {
    const T* score = scores + *neighbour * stride + c * TILE;
    UNROLL for (int g = 0; g < G; ++g) sum[g] += Eight<T>::at(score + TILE * g);
  }
  UNROLL for (int g = 0; g < G; ++g) Eight<T>::keep(sum[g], static_cast<T>(c + g), best, which);
}

// The best class of each of eight volumes in one neighbourhood.
template <class T>
INLINE Eight<T> best_class(const T* scores, Index k, const std::int32_t* neighbour,
                           const std::int32_t* stop, const T* log_prior) {
  constexpr int GROUP = sizeof(T) == sizeof(float) ? 8 : 4;  // sums that fit in registers
  Eight<T> best = Eight<T>::of(-INFINITE), which = Eight<T>::of(T(0));
  Index c = 0;
  for (; c + GROUP <= k; c += GROUP)
    compare<GROUP>(scores, k * TILE, neighbour, stop, c, log_prior, best, which);
  if constexpr (GROUP == 8)
    if (k - c >= 4) {
      compare<4>(scores, k * TILE, neighbour, stop, c, log_prior, best, which);
      c += 4;
    }
  if (k - c >= 2) {
    compare<2>(scores, k * TILE, neighbour, stop, c, log_prior, best, which);
    c += 2;
  }
  if (c < k) compare<1>(scores, k * TILE, neighbour, stop, c, log_prior, best, which);
  return which;
}

// Call `found(fold, row, rows, neighbourhood, classes)` for every tile of held-out volumes.
template <class X, class T, class Found>
void each_tile(Matrix<const X> x, const LearntSums<T>& learnt, const Neighbours& neighbours,
               const HeldOut& held_out, Found found) {
  const Index k = learnt.k, voxels = x.shape[1];
  const Buffer<T> scores(voxels * k * TILE), log_prior(k);
  const Buffer<Term<T>> terms(voxels * k);
  const Buffer<double> n(k);
  Work work;
  for (Index f = 0; f < held_out.folds.size(); ++f) {
    const Index fold = held_out.folds[f];
    const double all = numbers<T>(learnt, fold, n);
    for (Index c = 0; c < k; ++c) log_prior[c] = static_cast<T>(log(n[c] / all));
    estimate<T>(learnt, fold, n, terms);
    const Index stop = held_out.bounds(fold, 1);
    for (Index first = held_out.bounds(fold, 0); first < stop; first += TILE) {
      const Index rows = least<Index>(TILE, stop - first);
      work.done(4 * voxels * k);
      evaluate<X, T>(x, first, rows, k, terms, scores);
      const std::int32_t* indices = neighbours.indices.at;
      for (Index i = 0; i + 1 < neighbours.indptr.size(); ++i) {
        work.done((neighbours.indptr[i + 1] - neighbours.indptr[i]) * k);
        found(fold, first, rows, i,
              best_class<T>(scores, k, indices + neighbours.indptr[i],
                            indices + neighbours.indptr[i + 1], log_prior));
      }
    }
  }
}

template <class X>
void predict(Matrix<const X> x, LearntSums<double> learnt, Neighbours neighbours, HeldOut held_out,
             Matrix<std::int16_t> classes) {
  each_tile<X, double>(x, learnt, neighbours, held_out,
                       [&](Index, Index first, Index rows, Index i, Eight<double> which) {
                         for (Index row = 0; row < rows; ++row)
                           classes(first + row, i) = static_cast<std::int16_t>(which[row]);
                       });
}

void count(Matrix<const float> x, LearntSums<float> learnt, Neighbours neighbours, HeldOut held_out,
           Vector<const std::int32_t> truth, Matrix<std::int32_t> correct) {
  each_tile<float, float>(x, learnt, neighbours, held_out,
                          [&](Index fold, Index first, Index rows, Index i, Eight<float> which) {
                            std::uint32_t right = 0;
                            for (Index row = 0; row < rows; ++row)
                              right += static_cast<std::int32_t>(which[row]) == truth[first + row];
                            // Without a sign: the counts there were may be any numbers.
                            correct(fold, i) = static_cast<std::int32_t>(
                                static_cast<std::uint32_t>(correct(fold, i)) + right);
                          });
}

}  // namespace

extern const Searchlight searchlight{add_volumes<double, double>,
                                     add_volumes<float, double>,
                                     add_volumes<float, float>,
                                     predict<double>,
                                     predict<float>,
                                     count};

}  // namespace suffice::LEVEL
