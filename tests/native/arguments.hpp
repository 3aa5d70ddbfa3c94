// Recorded arrays as the arguments of kernels.
#pragma once
#include <tuple>
#include <type_traits>
#include <utility>

#include "sums/bins.hpp"
#include "calls.hpp"
#include "sums/columns.hpp"
#include "sums/comoments.hpp"
#include "support/compressed.hpp"
#include "linear/factor.hpp"
#include "linear/logistic.hpp"
#include "sums/moments.hpp"
#include "scores/scores.hpp"
#include "linear/sweep.hpp"

namespace suffice::replay {

template <class T>
constexpr char letter_of =
    std::is_same_v<T, bool>     ? '?'
    : std::is_same_v<T, double> ? 'd'
    : std::is_same_v<T, float>  ? 'f'
                                : (std::is_signed_v<T> ? " bh i   q" : " BH I   Q")[sizeof(T)];

// Hands out the arguments of a call, one after the other.
class Arguments {
  Call& call_;
  std::size_t next_ = 0;
  std::vector<std::int64_t> wide_;

 public:
  explicit Arguments(Call& call) : call_(call) {}

  Array& array() {
    if (next_ == call_.arguments.size()) throw std::runtime_error("too few arguments");
    return call_.arguments[next_++];
  }
  template <class T>
  T* numbers(Array& array) {
    if (array.letter != letter_of<std::remove_const_t<T>>)
      throw std::runtime_error("an argument of another type");
    return reinterpret_cast<T*>(array.bytes.data());
  }
  // Whole numbers as 64 bits, whatever they were.
  Vector<const std::int64_t> wide() {
    Array& given = array();
    const Index n = given.shape.at(0);
    if (given.letter == 'q') return {numbers<const std::int64_t>(given), {n}};
    const std::int32_t* narrow = numbers<const std::int32_t>(given);
    wide_.assign(narrow, narrow + n);
    return {wide_.data(), {n}};
  }
  bool are_used() const { return next_ == call_.arguments.size(); }
};

// How an argument of type T is made of arrays.
template <class T>
struct Argument {
  static T take(Arguments& from) {  // a number
    const Array& given = from.array();
    if constexpr (std::is_same_v<T, double>) return *number<double>(given);
    if (given.letter == '?') return *number<bool>(given);
    if (given.letter == 'q') return static_cast<T>(*number<std::int64_t>(given));
    return *number<T>(given);
  }
  template <class N>
  static const N* number(const Array& given) {
    if (given.letter != letter_of<N>) throw std::runtime_error("a number of another type");
    return reinterpret_cast<const N*>(given.bytes.data());
  }
};

template <class T>
T take(Arguments& from) {
  return Argument<T>::take(from);
}

template <class T>
struct Argument<T*> {
  static T* take(Arguments& from) {
    Array& array = from.array();
    return array.bytes.empty() ? nullptr : from.numbers<T>(array);
  }
};

template <class T, int D>
struct Argument<View<T, D>> {
  static View<T, D> take(Arguments& from) {
    Array& array = from.array();
    if (array.shape.size() != D) throw std::runtime_error("an argument of other dimensions");
    View<T, D> view{from.numbers<T>(array), {}};
    for (int axis = 0; axis < D; ++axis) view.shape[axis] = array.shape[axis];
    return view;
  }
};

template <class T>
struct Argument<Strided<T>> {
  static Strided<T> take(Arguments& from) {
    Array& array = from.array();
    const Index rows = array.shape.at(0), columns = array.shape.at(1);
    T* at = from.numbers<T>(array);
    if (array.order == 'F') return {at, rows, columns, 1, rows};
    return {at, rows, columns, columns, 1};
  }
};

template <>
struct Argument<Table> {
  static Table take(Arguments& from) {
    const auto x = replay::take<Strided<const double>>(from);
    return {x.at, Number::float64, x.rows, x.columns, x.down, x.across};
  }
};

// Structures: their members, one after the other. Braces keep the order.

template <class T>
struct Argument<MomentState<T>> {
  static MomentState<T> take(Arguments& from) {
    return {replay::take<Cube<T>>(from), replay::take<Matrix<T>>(from),
            replay::take<Cube<T>>(from)};
  }
};

template <class T>
struct Argument<ComomentSums<T>> {
  static ComomentSums<T> take(Arguments& from) {
    return {replay::take<Matrix<T>>(from), replay::take<Matrix<T>>(from),
            replay::take<Cube<T>>(from)};
  }
};

template <class T>
struct Argument<ComomentState<T>> {
  static ComomentState<T> take(Arguments& from) {
    return {replay::take<ComomentSums<T>>(from), replay::take<Vector<const std::int64_t>>(from),
            replay::take<View<T, 4>>(from)};
  }
};

template <class Low, class Carried>
struct Argument<Tally<Low, Carried>> {
  static Tally<Low, Carried> take(Arguments& from) {
    return {replay::take<Matrix<Low>>(from), replay::take<Matrix<Carried>>(from)};
  }
};

template <class T, int D>
struct Argument<Pairs<T, D>> {
  static Pairs<T, D> take(Arguments& from) {
    return {replay::take<View<T, D>>(from), replay::take<View<T, D>>(from)};
  }
};

template <>
struct Argument<CodeRange> {
  static CodeRange take(Arguments& from) {
    using Places = Vector<const std::int64_t>;
    return {replay::take<Places>(from), replay::take<Places>(from), replay::take<Places>(from)};
  }
};

template <>
struct Argument<Ranges> {
  static Ranges take(Arguments& from) {
    using Places = const std::int64_t*;
    return {replay::take<Places>(from), replay::take<Places>(from), replay::take<Places>(from)};
  }
};

template <>
struct Argument<Validity> {
  static Validity take(Arguments& from) {
    return {replay::take<Vector<const std::uint8_t>>(from), replay::take<Index>(from)};
  }
};

template <>
struct Argument<LogisticSums> {
  static LogisticSums take(Arguments& from) {
    return {replay::take<const double*>(from), replay::take<Vector<const double>>(from),
            replay::take<double*>(from), replay::take<double*>(from),
            replay::take<Matrix<double>>(from)};
  }
};

template <>
struct Argument<SweepCells> {
  static SweepCells take(Arguments& from) {
    using Places = const std::int64_t*;
    return {replay::take<Matrix<const bool>>(from), replay::take<Places>(from),
            replay::take<Places>(from), replay::take<Places>(from),
            replay::take<Cube<const double>>(from)};
  }
};

// The row pointers are 64 bits wide, whatever they were in Python.
template <class T, class I>
struct Argument<Compressed<T, I>> {
  static Compressed<T, I> take(Arguments& from) {
    const T* data = replay::take<const T*>(from);
    const I* columns = replay::take<const I*>(from);
    return {data, columns, from.wide()};
  }
};

// Call a kernel with the arguments of a call; returns whether it returned what was recorded.
template <class R, class... A>
bool replay(R (*kernel)(A...), Call& call) {
  Arguments from(call);
  std::tuple<std::decay_t<A>...> arguments{take<std::decay_t<A>>(from)...};
  if (!from.are_used()) throw std::runtime_error("too many arguments");
  if constexpr (std::is_void_v<R>) {
    std::apply(kernel, arguments);
    return true;
  } else {
    const R found = std::apply(kernel, arguments);
    if (call.returned.shape.size() == 1) return true;  // Python is not told
    Call answer{{}, {call.returned}, {}, {}};
    Arguments recorded(answer);
    const R expected = take<R>(recorded);
    return found == expected || (found != found && expected != expected);
  }
}

}  // namespace suffice::replay
