// What a kernel is given: numbers in memory, row by row, and how many there are.
#pragma once
#include <cstddef>
#include <cstdint>

#define INLINE inline __attribute__((always_inline))

namespace suffice {

using Index = std::ptrdiff_t;

// A contiguous array of D dimensions, last index fastest. It owns nothing.
template <class T, int D>
struct View {
  T* at;
  Index shape[D];

  INLINE Index size() const {
    Index cells = 1;
    for (int axis = 0; axis < D; ++axis) cells *= shape[axis];
    return cells;
  }
  INLINE T& operator[](Index i) const {
    static_assert(D == 1);
    return at[i];
  }
  INLINE T& operator()(Index i, Index j) const {
    static_assert(D == 2);
    return at[i * shape[1] + j];
  }
  INLINE T& operator()(Index i, Index j, Index q) const {
    static_assert(D == 3);
    return at[(i * shape[1] + j) * shape[2] + q];
  }
  // Entry i of the first dimension.
  INLINE auto part(Index i) const {
    View<T, D - 1> rest{at, {}};
    for (int axis = 1; axis < D; ++axis) rest.shape[axis - 1] = shape[axis];
    rest.at += i * rest.size();
    return rest;
  }
  INLINE operator View<const T, D>() const {
    View<const T, D> same{at, {}};
    for (int axis = 0; axis < D; ++axis) same.shape[axis] = shape[axis];
    return same;
  }
};

template <class T>
using Vector = View<T, 1>;
template <class T>
using Matrix = View<T, 2>;
template <class T>
using Cube = View<T, 3>;

// A matrix whose rows and columns are any number of cells from each other.
template <class T>
struct Strided {
  T* at;
  Index rows, columns, down, across;

  INLINE T& operator()(Index i, Index j) const { return at[i * down + j * across]; }
};

// What kernels read as doubles: each of these is one, without rounding.
enum class Number { float64, float32, boolean, int8, int16, int32, uint8, uint16, uint32 };

// Rows of numbers of any of these types, in any order.
struct Table {
  const void* at;
  Number type;
  Index rows, columns, down, across;
};

}  // namespace suffice
