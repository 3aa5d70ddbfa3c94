#include "bindings/arrays.hpp"

#include <cstring>
#include <iterator>
#include <string>

#include "sums/counts.hpp"
#include "bindings/bindings.hpp"

namespace suffice::bindings {

bool Held::is(const char* letters, std::size_t size, int dimensions) const {
  const char* format = buffer_.format;
  if (*format == '@' || *format == '=' || *format == '<') ++format;
  return buffer_.ndim == dimensions && static_cast<std::size_t>(buffer_.itemsize) == size &&
         *format && !format[1] && std::strchr(letters, *format);
}

bool Held::lies(Order order) const {
  const Py_ssize_t size = buffer_.itemsize;
  bool whole = reinterpret_cast<std::uintptr_t>(buffer_.buf) % size == 0, rows = true;
  Py_ssize_t step = size;
  for (int axis = buffer_.ndim - 1; axis >= 0; --axis) {
    if (buffer_.shape[axis] == 0) return true;
    whole &= buffer_.shape[axis] == 1 || buffer_.strides[axis] % size == 0;
    rows &= buffer_.shape[axis] == 1 || buffer_.strides[axis] == step;
    step *= buffer_.shape[axis];
  }
  return whole && (rows || order == Order::any);
}

template <class T>
static bool is_rows_of(const Held& held) {
  return held.is(Dtype<T>::letters, sizeof(T), 2);
}

bool AnyRows::is_read() {
  static constexpr bool (*is_of[])(const Held&) = {
      // as `Number` has them
      is_rows_of<double>,       is_rows_of<float>,         is_rows_of<bool>,
      is_rows_of<std::int8_t>,  is_rows_of<std::int16_t>,  is_rows_of<std::int32_t>,
      is_rows_of<std::uint8_t>, is_rows_of<std::uint16_t>, is_rows_of<std::uint32_t>};
  for (int i = 0; i < static_cast<int>(std::size(is_of)); ++i) {
    type = static_cast<Number>(i);
    if (is_of[i](held)) return true;
  }
  return false;
}

nb::object in_rows(nb::handle array) {
  return nb::module_::import_("numpy").attr("array")(array, "order"_a = "C");
}

static std::string as_tuple(const Index* shape, std::size_t dimensions) {
  std::string text = "(";
  for (std::size_t axis = 0; axis < dimensions; ++axis)
    text += (axis ? ", " : "") + std::to_string(shape[axis]);
  return text + (dimensions == 1 ? ",)" : ")");
}

void require(const char* name, const Held& array, std::initializer_list<Index> shape) {
  Index found[4];
  bool same = true;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    found[axis] = array.shape(static_cast<int>(axis));
    same &= found[axis] == shape.begin()[axis];
  }
  if (same) return;
  const std::string sentence = std::string(name) + " has shape " + as_tuple(found, shape.size()) +
                               "; it must be " + as_tuple(shape.begin(), shape.size());
  throw nb::value_error(sentence.c_str());
}

template <class I>
static bool are_between(Vector<const I> numbers, Index least, Index bound) {
  static const WholeNumbers<I>& kernels = CHOSEN(counts);
  return kernels.are_below(numbers, bound, least);
}

template <class I>
static void require_from(const char* name, Vector<const I> numbers, Index least, Index bound) {
  if (are_between(numbers, least, bound)) return;
  const bool low = are_between(numbers, INT64_MIN, bound);
  const std::string rule =
      low ? " must be from " + std::to_string(least) : " must be below " + std::to_string(bound);
  throw nb::value_error((name + rule).c_str());
}

void require_below(const char* name, Vector<const std::int64_t> numbers, Index bound) {
  require_from(name, numbers, INT64_MIN, bound);
}

void require_between(const char* name, Vector<const std::int64_t> numbers, Index least,
                     Index bound) {
  require_from(name, numbers, least, bound);
}

void require_between(const char* name, Vector<const std::int32_t> numbers, Index least,
                     Index bound) {
  require_from(name, numbers, least, bound);
}

}  // namespace suffice::bindings
