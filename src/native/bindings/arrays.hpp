// Arrays of Python as arguments of kernels: views, if dtype, dimensions and order fit.
//
// An array that is only read is copied where it does not lie as a kernel wants it; its numbers are
// never converted. One that is written to must fit as it is. What does not is a TypeError; a wrong
// length is a ValueError, which `require` raises.
#pragma once
#include <nanobind/nanobind.h>

#include <string>
#include <utility>

#include "support/arithmetic.hpp"
#include "support/views.hpp"

namespace suffice::bindings {

namespace nb = nanobind;
using namespace nb::literals;

// What NumPy calls a type, and the letters that the buffer protocol has for it.
template <class T>
struct Dtype;
template <>
struct Dtype<double> {
  static constexpr auto name = nb::detail::const_name("float64");
  static constexpr char letters[] = "d";
};
template <>
struct Dtype<float> {
  static constexpr auto name = nb::detail::const_name("float32");
  static constexpr char letters[] = "f";
};
template <>
struct Dtype<bool> {
  static constexpr auto name = nb::detail::const_name("bool");
  static constexpr char letters[] = "?";
};
template <>
struct Dtype<std::int8_t> {
  static constexpr auto name = nb::detail::const_name("int8");
  static constexpr char letters[] = "b";
};
template <>
struct Dtype<std::int16_t> {
  static constexpr auto name = nb::detail::const_name("int16");
  static constexpr char letters[] = "h";
};
template <>
struct Dtype<std::int32_t> {
  static constexpr auto name = nb::detail::const_name("int32");
  static constexpr char letters[] = "il";
};
template <>
struct Dtype<std::int64_t> {
  static constexpr auto name = nb::detail::const_name("int64 | numpy.intp");
  static constexpr char letters[] = "lq";
};
template <>
struct Dtype<std::uint8_t> {
  static constexpr auto name = nb::detail::const_name("uint8");
  static constexpr char letters[] = "B";
};
template <>
struct Dtype<std::uint16_t> {
  static constexpr auto name = nb::detail::const_name("uint16");
  static constexpr char letters[] = "H";
};
template <>
struct Dtype<std::uint32_t> {
  static constexpr auto name = nb::detail::const_name("uint32");
  static constexpr char letters[] = "IL";
};
template <>
struct Dtype<std::uint64_t> {
  static constexpr auto name = nb::detail::const_name("uint64");
  static constexpr char letters[] = "LQ";
};

// Whether rows must be contiguous, or may lie as they do.
enum class Order { rows, any };

// The memory of an array, held as long as a kernel runs.
class Held {
  Py_buffer buffer_{};
  bool holds_ = false;

 public:
  Held() = default;
  Held(Held&& other) noexcept : buffer_(other.buffer_), holds_(other.holds_) {
    other.holds_ = false;
  }
  Held& operator=(Held&& other) noexcept {
    std::swap(buffer_, other.buffer_);
    std::swap(holds_, other.holds_);
    return *this;
  }
  ~Held() { release(); }

  void release() {
    if (holds_) PyBuffer_Release(&buffer_);
    holds_ = false;
  }
  bool take(PyObject* source, bool written) {
    release();
    const int flags = PyBUF_FORMAT | PyBUF_STRIDES | (written ? PyBUF_WRITABLE : 0);
    holds_ = PyObject_GetBuffer(source, &buffer_, flags) == 0;
    if (!holds_) PyErr_Clear();
    return holds_;
  }
  bool is(const char* letters, std::size_t size, int dimensions) const;
  // Whether every number lies at a multiple of its size, and, if asked for, one after the other.
  bool lies(Order order) const;

  void* at() const { return buffer_.buf; }
  int dimensions() const { return buffer_.ndim; }
  Index shape(int axis) const { return buffer_.shape[axis]; }
  Index apart(int axis) const { return buffer_.strides[axis] / buffer_.itemsize; }
};

// The same array, row by row.
nb::object in_rows(nb::handle array);

// An argument of a kernel: numbers of type T, const if they are only read, in D dimensions.
template <class T, int D, Order order = Order::rows>
struct Array {
  Held held;

  Index shape(int axis) const { return held.shape(axis); }
  T* at() const { return static_cast<T*>(held.at()); }
  bool empty() const {
    for (int axis = 0; axis < D; ++axis)
      if (shape(axis) == 0) return true;
    return false;
  }
  operator View<T, D>() const
    requires(order == Order::rows)
  {
    View<T, D> view{at(), {}};
    for (int axis = 0; axis < D; ++axis) view.shape[axis] = shape(axis);
    return view;
  }
  operator View<const T, D>() const
    requires(order == Order::rows && !std::is_const_v<T>)
  {
    return static_cast<View<T, D>>(*this);
  }
  operator Strided<T>() const
    requires(order == Order::any && D == 2)
  {
    return {at(), shape(0), shape(1), held.apart(0), held.apart(1)};
  }
};

// An argument whose numbers may be of several types, in D dimensions, row by row; only read.
template <int D>
struct AnyArray {
  Held held;

  Index shape(int axis) const { return held.shape(axis); }

  // Call a function with the view of the array, of the first of the types that it has.
  template <class T, class... Others, class F>
  decltype(auto) visit(F&& f) const {
    if constexpr (sizeof...(Others) > 0)
      if (!held.is(Dtype<T>::letters, sizeof(T), D)) return visit<Others...>(f);
    if (!held.is(Dtype<T>::letters, sizeof(T), D)) throw nb::type_error("numbers of another type");
    View<const T, D> view{static_cast<const T*>(held.at()), {}};
    for (int axis = 0; axis < D; ++axis) view.shape[axis] = shape(axis);
    return f(view);
  }
  template <class F>
  decltype(auto) visit_whole(F&& f) const {
    return visit<std::int64_t, std::int32_t, std::int8_t, std::int16_t, std::uint8_t, std::uint16_t,
                 std::uint32_t, std::uint64_t>(f);
  }
};

// An argument whose numbers may be of any type that is read as doubles, in any order; only read.
struct AnyRows {
  Held held;
  Number type;

  Index shape(int axis) const { return held.shape(axis); }
  // Whether kernels read the type; `type` tells which it is.
  bool is_read();
  operator Table() const {
    return {held.at(), type, shape(0), shape(1), held.apart(0), held.apart(1)};
  }
};

// The type of the numbers of a view.
template <class T, int D>
std::remove_const_t<T> type_of(View<T, D>);

template <int D>
using Read = Array<const double, D>;
template <int D>
using Written = Array<double, D>;
using Codes = Array<const std::int64_t, 1>;
using Rows = Array<const double, 2, Order::any>;
using Scores = Array<double, 2, Order::any>;  // (n, k), in any order

// Raise a ValueError unless an array has a shape.
void require(const char* name, const Held& array, std::initializer_list<Index> shape);

template <class T, int D, Order order>
void require(const char* name, const Array<T, D, order>& array,
             std::initializer_list<Index> shape) {
  require(name, array.held, shape);
}

// Raise a ValueError unless whole numbers are below a bound, or also from another on.
void require_below(const char* name, Vector<const std::int64_t> numbers, Index bound);
void require_between(const char* name, Vector<const std::int64_t> numbers, Index least,
                     Index bound);
void require_between(const char* name, Vector<const std::int32_t> numbers, Index least,
                     Index bound);

// Raise a ValueError unless a vector is empty or has n numbers.
template <class T>
void require_none_or(const char* name, const Array<T, 1>& array, Index n) {
  if (array.shape(0)) require(name, array, {n});
}

// Raise a ValueError with a sentence unless a condition holds.
inline void require(bool condition, const char* sentence) {
  if (!condition) throw nb::value_error(sentence);
}

// Where a kernel computes: the interpreter's lock is given back, and arithmetic is as it should be.
class Unlocked {
  nb::gil_scoped_release released_;
  Arithmetic arithmetic_;
};

// A number of Python as the type T, or a TypeError.
template <class T>
T number_of(const char* name, nb::handle given) {
  T number{};
  if (!nb::try_cast<T>(given, number)) {
    const std::string sentence = std::string(name) + " must be a number of the array's type";
    throw nb::type_error(sentence.c_str());
  }
  return number;
}

}  // namespace suffice::bindings

namespace nanobind::detail {

template <class T, int D, suffice::bindings::Order order>
struct type_caster<suffice::bindings::Array<T, D, order>> {
  using Given = suffice::bindings::Array<T, D, order>;
  using Number = std::remove_const_t<T>;
  NB_TYPE_CASTER(Given, const_name("numpy.typing.NDArray[numpy.") +
                            suffice::bindings::Dtype<Number>::name + const_name("]"))

  bool from_python(handle source, uint8_t, cleanup_list*) noexcept {
    constexpr bool written = !std::is_const_v<T>;
    if (!value.held.take(source.ptr(), written)) return false;
    if (!value.held.is(suffice::bindings::Dtype<Number>::letters, sizeof(T), D)) return false;
    if (value.held.lies(order)) return true;
    if (written) return false;
    try {
      return value.held.take(suffice::bindings::in_rows(source).ptr(), false);
    } catch (...) {
      return false;
    }
  }
};

template <>
struct type_caster<suffice::bindings::AnyRows> {
  NB_TYPE_CASTER(suffice::bindings::AnyRows, const_name("numpy.typing.NDArray[typing.Any]"))

  bool from_python(handle source, uint8_t, cleanup_list*) noexcept {
    if (!value.held.take(source.ptr(), false) || !value.is_read()) return false;
    if (value.held.lies(suffice::bindings::Order::any)) return true;
    try {
      return value.held.take(suffice::bindings::in_rows(source).ptr(), false);
    } catch (...) {
      return false;
    }
  }
};

template <int D>
struct type_caster<suffice::bindings::AnyArray<D>> {
  NB_TYPE_CASTER(suffice::bindings::AnyArray<D>, const_name("numpy.typing.NDArray[typing.Any]"))

  bool from_python(handle source, uint8_t, cleanup_list*) noexcept {
    if (!value.held.take(source.ptr(), false) || value.held.dimensions() != D) return false;
    if (value.held.lies(suffice::bindings::Order::rows)) return true;
    try {
      return value.held.take(suffice::bindings::in_rows(source).ptr(), false);
    } catch (...) {
      return false;
    }
  }
};

}  // namespace nanobind::detail
