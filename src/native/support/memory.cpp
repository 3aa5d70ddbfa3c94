#include "support/memory.hpp"

#include <cstdlib>
#include <memory>
#include <new>

namespace suffice {

constexpr std::size_t LINE = 64;

// By calloc: where nothing is written, the system gives no memory for zeros.
void* reserve(std::size_t bytes) {
  std::size_t room = bytes + 2 * LINE;  // the last vector may reach over
  const std::size_t all = room + sizeof(void*);
  void* const given = std::calloc(all, 1);
  if (!given) throw std::bad_alloc();
  void* place = static_cast<char*>(given) + sizeof(void*);
  std::align(LINE, bytes + LINE, place, room);
  static_cast<void**>(place)[-1] = given;
  return place;
}

void give_back(void* place) {
  if (place) std::free(static_cast<void**>(place)[-1]);
}

}  // namespace suffice
