// Eight doubles at a time, in one, two or four registers, whatever the level has.
#pragma once
#include "support/views.hpp"

#if defined(__AVX512F__) || defined(__FMA__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

#ifndef LEVEL
#define LEVEL base
#endif
#define UNROLL _Pragma("GCC unroll 8")

namespace suffice::LEVEL {
namespace {

constexpr int LANES = 8;
#if defined(__AVX512F__)
constexpr int WIDTH = 8;  // doubles of a register
#elif defined(__AVX__)
constexpr int WIDTH = 4;
#else
constexpr int WIDTH = 2;
#endif
constexpr int PARTS = LANES / WIDTH;

// A register, and the same as it lies in memory, at any place that a number may have.
typedef double Native __attribute__((vector_size(8 * WIDTH)));
typedef double NativeInMemory __attribute__((vector_size(8 * WIDTH), aligned(8), may_alias));
typedef std::int64_t NativeBits __attribute__((vector_size(8 * WIDTH)));

// Not `Native{} + x`, which is an addition.
INLINE Native native(double x) {
#if defined(__AVX512F__)
  return Native{x, x, x, x, x, x, x, x};
#elif defined(__AVX__)
  return Native{x, x, x, x};
#else
  return Native{x, x};
#endif
}

INLINE Native native_load(const double* at) { return *reinterpret_cast<const NativeInMemory*>(at); }

// A number that is used several times is loaded once: the compiler would load it for each.
INLINE Native in_register(Native x) {
#if defined(__x86_64__)
  __asm__("" : "+v"(x));
#endif
  return x;
}

// Small whole numbers, one by one where the level has no instruction.
INLINE Native native_load(const std::int8_t* at) {
#if defined(__AVX2__)
  typedef std::int32_t Whole __attribute__((vector_size(4 * WIDTH)));
  std::int64_t bytes = 0;
  __builtin_memcpy(&bytes, at, WIDTH);
  const auto low = _mm_cvtsi64_si128(bytes);
#if defined(__AVX512F__)
  return __builtin_convertvector((Whole)_mm256_cvtepi8_epi32(low), Native);
#else
  return __builtin_convertvector((Whole)_mm_cvtepi8_epi32(low), Native);
#endif
#else
  return Native{static_cast<double>(at[0]), static_cast<double>(at[1])};
#endif
}

INLINE void native_store(double* at, Native x) { *reinterpret_cast<NativeInMemory*>(at) = x; }

INLINE Native fma(Native a, Native b, Native c) {
#if defined(__AVX512F__)
  return (Native)_mm512_fmadd_pd((__m512d)a, (__m512d)b, (__m512d)c);
#elif defined(__FMA__)
  return (Native)_mm256_fmadd_pd((__m256d)a, (__m256d)b, (__m256d)c);
#elif defined(__aarch64__)
  return (Native)vfmaq_f64((float64x2_t)c, (float64x2_t)a, (float64x2_t)b);
#else
  return Native{__builtin_fma(a[0], b[0], c[0]), __builtin_fma(a[1], b[1], c[1])};
#endif
}

// a · b + c, of which no step is rounded.
INLINE Native add_product(Native a, Native b, Native c) {
#if defined(__SSE2__) && !defined(__FMA__)
  return a * b + c;
#else
  return fma(a, b, c);
#endif
}

INLINE double fma(double a, double b, double c) { return __builtin_fma(a, b, c); }

INLINE Native magnitude(Native x) { return (Native)((NativeBits)x & ~(NativeBits)native(-0.0)); }

// Eight doubles. A generic vector of 512 bits would be spilled where registers are smaller.
struct Lanes {
  Native part[PARTS];
};

#define EACH_PART UNROLL for (int p = 0; p < PARTS; ++p)

INLINE Lanes splat(double x) {
  Lanes r;
  EACH_PART r.part[p] = native(x);
  return r;
}

INLINE Lanes load(const double* at) {
  Lanes r;
  EACH_PART r.part[p] = native_load(at + WIDTH * p);
  return r;
}

INLINE Lanes load(const std::int8_t* at) {
  Lanes r;
  EACH_PART r.part[p] = native_load(at + WIDTH * p);
  return r;
}

INLINE void store(double* at, Lanes x) { EACH_PART native_store(at + WIDTH * p, x.part[p]); }

#define LANE_BY_LANE(op)                          \
  INLINE Lanes operator op(Lanes a, Lanes b) {    \
    Lanes r;                                      \
    EACH_PART r.part[p] = a.part[p] op b.part[p]; \
    return r;                                     \
  }
LANE_BY_LANE(+)
LANE_BY_LANE(-)
LANE_BY_LANE(*)
LANE_BY_LANE(/)
#undef LANE_BY_LANE

INLINE Lanes operator-(Lanes a) {
  Lanes r;
  EACH_PART r.part[p] = -a.part[p];
  return r;
}

INLINE Lanes& operator+=(Lanes& a, Lanes b) { return a = a + b; }
INLINE Lanes& operator-=(Lanes& a, Lanes b) { return a = a - b; }

// fl(a · b + c), rounded once.
INLINE Lanes fma(Lanes a, Lanes b, Lanes c) {
  Lanes r;
  EACH_PART r.part[p] = fma(a.part[p], b.part[p], c.part[p]);
  return r;
}

INLINE Lanes magnitude(Lanes a) {
  Lanes r;
  EACH_PART r.part[p] = magnitude(a.part[p]);
  return r;
}

// The lanes of one argument where `column` is a number, and another's where it is NaN.
INLINE Lanes shown(Lanes column, Lanes value, Lanes otherwise) {
  Lanes r;
  EACH_PART r.part[p] = column.part[p] == column.part[p] ? value.part[p] : otherwise.part[p];
  return r;
}

// The lanes that are numbers, and another's where they are NaN.
INLINE Lanes present(Lanes value, Lanes otherwise) { return shown(value, value, otherwise); }

// The lanes of one argument where a > b, and of another elsewhere.
INLINE Lanes choose(Lanes a, Lanes b, Lanes larger, Lanes otherwise) {
  Lanes r;
  EACH_PART r.part[p] = a.part[p] > b.part[p] ? larger.part[p] : otherwise.part[p];
  return r;
}

INLINE double lane(Lanes x, int i) { return x.part[i / WIDTH][i % WIDTH]; }

// The sum of the lanes: halves are added until one number is left.
INLINE double total(Lanes x) {
  double half[4], quarter[2];
  UNROLL for (int i = 0; i < 4; ++i) half[i] = lane(x, i) + lane(x, i + 4);
  UNROLL for (int i = 0; i < 2; ++i) quarter[i] = half[i] + half[i + 2];
  return quarter[0] + quarter[1];
}

// Two rows exchange the squares off the diagonal, of so many columns (J. O. Eklundh, 1972).
template <int SIDE>
INLINE void exchange(Native& a, Native& b) {
  const Native upper = a, lower = b;
#if defined(__AVX512F__)
  if constexpr (SIDE == 1) {
    a = __builtin_shufflevector(upper, lower, 0, 8, 2, 10, 4, 12, 6, 14);
    b = __builtin_shufflevector(upper, lower, 1, 9, 3, 11, 5, 13, 7, 15);
  } else if constexpr (SIDE == 2) {
    a = __builtin_shufflevector(upper, lower, 0, 1, 8, 9, 4, 5, 12, 13);
    b = __builtin_shufflevector(upper, lower, 2, 3, 10, 11, 6, 7, 14, 15);
  } else {
    a = __builtin_shufflevector(upper, lower, 0, 1, 2, 3, 8, 9, 10, 11);
    b = __builtin_shufflevector(upper, lower, 4, 5, 6, 7, 12, 13, 14, 15);
  }
#elif defined(__AVX__)
  if constexpr (SIDE == 1) {
    a = __builtin_shufflevector(upper, lower, 0, 4, 2, 6);
    b = __builtin_shufflevector(upper, lower, 1, 5, 3, 7);
  } else {
    a = __builtin_shufflevector(upper, lower, 0, 1, 4, 5);
    b = __builtin_shufflevector(upper, lower, 2, 3, 6, 7);
  }
#else
  a = __builtin_shufflevector(upper, lower, 0, 2);
  b = __builtin_shufflevector(upper, lower, 1, 3);
#endif
}

template <int SIDE>
INLINE void exchange_all(Native* rows) {
  UNROLL for (int i = 0; i < WIDTH; ++i) if (!(i & SIDE)) exchange<SIDE>(rows[i], rows[i + SIDE]);
}

// A square of numbers, as many as a register has on a side: rows to columns.
INLINE void transpose_native(Native* rows) {
  exchange_all<1>(rows);
  if constexpr (WIDTH > 2) exchange_all<2>(rows);
  if constexpr (WIDTH > 4) exchange_all<4>(rows);
}

// Eight rows to eight columns.
INLINE void transpose(Lanes* rows) {
  Lanes columns[LANES];
  UNROLL for (int i = 0; i < PARTS; ++i) {
    UNROLL for (int j = 0; j < PARTS; ++j) {
      Native square[WIDTH];
      UNROLL for (int q = 0; q < WIDTH; ++q) square[q] = rows[i * WIDTH + q].part[j];
      transpose_native(square);
      UNROLL for (int q = 0; q < WIDTH; ++q) columns[j * WIDTH + q].part[i] = square[q];
    }
  }
  UNROLL for (int i = 0; i < LANES; ++i) rows[i] = columns[i];
}

// Write a square of 8 x 8 doubles, rows to columns; its rows are `apart`, those written `wide`.
INLINE void copy_transposed(const double* from, Index apart, double* to, Index wide) {
  Lanes rows[LANES];
  UNROLL for (int i = 0; i < LANES; ++i) rows[i] = load(from + i * apart);
  transpose(rows);
  UNROLL for (int i = 0; i < LANES; ++i) store(to + i * wide, rows[i]);
}

}  // namespace
}  // namespace suffice::LEVEL
