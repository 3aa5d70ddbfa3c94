// Calls of kernels, as `record.py` wrote them.
#pragma once
#include <bit>
#include <cstring>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/views.hpp"

namespace suffice::replay {

// Numbers of the type that a letter stands for, in the order of C or of Fortran.
struct Array {
  char letter, order;
  std::vector<Index> shape;
  std::vector<unsigned char> bytes;
};

struct Call {
  std::string name;
  std::vector<Array> arguments, after;
  Array returned;
};

inline std::size_t size_of(char letter) {
  switch (letter) {
    case '?':
    case 'b':
    case 'B':
      return 1;
    case 'h':
    case 'H':
      return 2;
    case 'i':
    case 'I':
    case 'f':
      return 4;
    default:
      return 8;
  }
}

class Calls {
  std::ifstream file_;

  void read(void* to, std::size_t bytes) {
    if (!file_.read(static_cast<char*>(to), static_cast<std::streamsize>(bytes)))
      throw std::runtime_error("the file of calls ends within one");
  }
  Index read_index() {
    std::int64_t number = 0;
    read(&number, sizeof number);
    return number;
  }
  Array read_array() {
    Array array{};
    read(&array.letter, 1);
    read(&array.order, 1);
    array.shape.resize(read_index());
    Index cells = 1;
    for (Index& length : array.shape) cells *= length = read_index();
    array.bytes.resize(cells * size_of(array.letter));
    read(array.bytes.data(), array.bytes.size());
    return array;
  }

 public:
  explicit Calls(const char* path) : file_(path, std::ios::binary) {
    if (!file_) throw std::runtime_error(std::string("there is no file ") + path);
  }

  // Read the next call; returns whether there was one.
  bool next(Call& call) {
    if (file_.peek() == std::ifstream::traits_type::eof()) return false;
    call.name.resize(read_index());
    read(call.name.data(), call.name.size());
    call.arguments.resize(read_index());
    call.after.resize(call.arguments.size());
    for (std::size_t i = 0; i < call.arguments.size(); ++i) {
      call.arguments[i] = read_array();
      call.after[i] = read_array();
    }
    call.returned = read_array();
    return true;
  }
};

// Whether numbers T, whose bits are those of whole numbers Bits, are the same.
template <class T, class Bits>
bool same(const std::vector<unsigned char>& a, const std::vector<unsigned char>& b) {
  for (std::size_t at = 0; at < a.size(); at += sizeof(T)) {
    T one, other;
    std::memcpy(&one, &a[at], sizeof(T));
    std::memcpy(&other, &b[at], sizeof(T));
    const bool both_none = one != one && other != other;
    if (!both_none && std::bit_cast<Bits>(one) != std::bit_cast<Bits>(other)) return false;
  }
  return true;
}

// Whether all bits are the same; one NaN is as good as another.
inline bool same(const Array& a, const Array& b) {
  if (a.letter != b.letter || a.order != b.order || a.shape != b.shape) return false;
  if (a.letter == 'd') return same<double, std::uint64_t>(a.bytes, b.bytes);
  if (a.letter == 'f') return same<float, std::uint32_t>(a.bytes, b.bytes);
  return a.bytes == b.bytes;
}

}  // namespace suffice::replay
