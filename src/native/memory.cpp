#include "memory.hpp"

#include <cstdlib>
#include <cstring>
#include <new>

namespace suffice {

constexpr std::size_t LINE = 64;

void* reserve(std::size_t bytes) {
  const std::size_t whole = (bytes + 2 * LINE - 1) / LINE * LINE;  // the last vector may reach over
#if defined(_WIN32)
  void* place = _aligned_malloc(whole, LINE);
#else
  void* place = std::aligned_alloc(LINE, whole);
#endif
  if (!place) throw std::bad_alloc();
  return std::memset(place, 0, whole);
}

void give_back(void* place) {
#if defined(_WIN32)
  _aligned_free(place);
#else
  std::free(place);
#endif
}

}  // namespace suffice
