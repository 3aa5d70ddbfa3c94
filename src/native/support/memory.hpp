// Memory that begins where the processor reads it best, and memory that is asked for ahead of need.
#pragma once
#include "support/views.hpp"

#ifndef LEVEL
#define LEVEL base
#endif

namespace suffice {

// Zeros from the beginning of a cache line on, and a line more; std::bad_alloc if there are none.
void* reserve(std::size_t bytes);
void give_back(void* place);

namespace LEVEL {
namespace {

// Buffer for n values, zeros at first; given back at the end.
template <class T>
class Buffer {
  T* at_;

 public:
  INLINE explicit Buffer(Index n) : at_(static_cast<T*>(reserve(n * sizeof(T)))) {}
  INLINE ~Buffer() { give_back(at_); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  INLINE operator T*() const { return at_; }
};

INLINE void prefetch(const void* place) { __builtin_prefetch(place, 0, 2); }

template <class T>
INLINE void fill(T* to, Index n, T value) {
  for (Index i = 0; i < n; ++i) to[i] = value;
}

template <class T>
INLINE void copy(T* to, const T* from, Index n) {
  for (Index i = 0; i < n; ++i) to[i] = from[i];
}

INLINE bool any_nonzero(const double* values, Index n) {
  bool found = false;
  for (Index i = 0; i < n; ++i) found |= values[i] != 0.0;
  return found;
}

template <class T>
INLINE T least(T a, T b) {
  return b < a ? b : a;
}

template <class T>
INLINE T most(T a, T b) {
  return b > a ? b : a;
}

}  // namespace
}  // namespace LEVEL
}  // namespace suffice
