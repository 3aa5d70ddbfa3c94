#include "sums/counts.hpp"

#include <algorithm>

#include "bindings/arrays.hpp"
#include "bindings/bindings.hpp"
#include "bindings/validity.hpp"

namespace suffice::bindings {

static const Counts* kernels;

template <class T>
static const WholeNumbers<T>& whole_of(View<const T, 1>) {
  return *kernels;
}
template <class T>
static const WholeNumbers<T>& whole_of(View<const T, 2>) {
  return *kernels;
}

using Places = Array<const std::int64_t, 1>;

static bool read_codes(AnyArray<1> stored, Bits valid, Index first, Array<std::int32_t, 1> codes,
                       Array<bool, 1> shown) {
  require("codes", codes, {stored.shape(0)});
  require(shown.shape(0) > 0, "shown must have a place for what is missing");
  const Validity validity = validity_of(valid, first, stored.shape(0));
  return stored.visit_whole([&](auto view) {
    Unlocked unlocked;
    return whole_of(view).read_codes(view, validity, codes, shown);
  });
}

static void mark(AnyArray<1> values, nb::object low, Array<bool, 1> seen) {
  const bool within = values.visit_whole([&](auto view) {
    const auto least = number_of<decltype(type_of(view))>("low", low);
    Unlocked unlocked;
    return whole_of(view).mark(view, least, seen);
  });
  require(within, "values must have places in seen");
}

// It takes microseconds, and keeps the interpreter's lock: to get it back takes a thread longer.
static void look_up(AnyArray<1> values, nb::object low, Places table,
                    Array<std::int64_t, 1> codes) {
  require("codes", codes, {values.shape(0)});
  const bool within = values.visit_whole([&](auto view) {
    return whole_of(view).look_up(view, number_of<decltype(type_of(view))>("low", low), table,
                                  codes);
  });
  require(within, "values must have places in table");
}

// As look_up, it keeps the lock.
static bool add_rows(Codes codes, Read<1> weights, Written<2> table, Written<2> unlabelled) {
  require("table", table, {table.shape(0), 2});
  require("unlabelled", unlabelled, {1, 2});
  require_none_or("weights", weights, codes.shape(0));
  return kernels->add_rows(codes, weights, table, unlabelled);
}

static CodeRange range_of(const Places& low, const Places& size, const Places& offsets, Index d,
                          Index places) {
  require("low", low, {d});
  require("size", size, {d});
  require(offsets.shape(0) >= d, "offsets must have a place for every column");
  const CodeRange range{low, size, offsets};
  for (Index j = 0; j < d; ++j)
    require(
        range.size[j] >= 0 && range.offsets[j] >= 0 && range.size[j] <= places - range.offsets[j],
        "a column of codes must have its places in the table");
  return range;
}

static Index add_codes(AnyArray<2> values, Places low, Places size, Places offsets, Codes codes,
                       Array<std::int64_t, 2> tally) {
  const CodeRange range = range_of(low, size, offsets, values.shape(1), tally.shape(1));
  require("codes", codes, {values.shape(0)});
  require_below("codes", codes, tally.shape(0));
  return values.visit_whole([&](auto view) {
    Unlocked unlocked;
    return whole_of(view).add_codes(view, range, codes, tally);
  });
}

static Index add_weighted_codes(AnyArray<2> values, Places low, Places size, Places offsets,
                                Codes codes, Read<1> weights, Written<3> table) {
  const CodeRange range = range_of(low, size, offsets, values.shape(1), table.shape(2));
  require("codes", codes, {values.shape(0)});
  require_below("codes", codes, table.shape(0));
  require("weights", weights, {values.shape(0)});
  require("table", table, {table.shape(0), 2, table.shape(2)});
  return values.visit_whole([&](auto view) {
    Unlocked unlocked;
    return whole_of(view).add_weighted_codes(view, range, codes, weights, table);
  });
}

static void add_binary(Array<const std::int8_t, 2> values, Codes codes,
                       Array<std::int64_t, 2> tally) {
  require("codes", codes, {values.shape(0)});
  require_below("codes", codes, tally.shape(0));
  require("tally", tally, {tally.shape(0), 3 * values.shape(1)});
  Unlocked unlocked;
  kernels->add_binary(values, codes, tally);
}

static void add_events(Read<2> x, Codes codes, Read<1> weights, Written<2> hi, Written<2> lo) {
  require("codes", codes, {x.shape(0)});
  require_below("codes", codes, hi.shape(0));
  require_none_or("weights", weights, x.shape(0));
  require("hi", hi, {hi.shape(0), x.shape(1)});
  require("lo", lo, {hi.shape(0), x.shape(1)});
  Unlocked unlocked;
  kernels->add_events(x, codes, weights, hi, lo);
}

static bool are_counts(AnyArray<1> values, double largest) {
  return values.visit<double, float, std::int64_t, std::int32_t, bool, std::int8_t, std::int16_t,
                      std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t>([&](auto view) {
    Unlocked unlocked;
    return static_cast<const Numbers<decltype(type_of(view))>*>(kernels)->are_counts(view, largest);
  });
}

static bool are_below(AnyArray<1> places, std::int64_t d, std::int64_t least) {
  return places.visit_whole([&](auto view) {
    Unlocked unlocked;
    return whole_of(view).are_below(view, d, least);
  });
}

// Whether rows begin one after the other, within the cells.
template <class I>
static bool in_order(Vector<const I> indptr, Index cells) {
  bool ordered = indptr[0] >= 0 && indptr[indptr.size() - 1] <= cells;
  for (Index i = 1; i < indptr.size(); ++i) ordered &= indptr[i - 1] <= indptr[i];
  return ordered;
}

static void add_sparse_events(AnyArray<1> data, AnyArray<1> indices, AnyArray<1> indptr,
                              Codes codes, Read<1> weights, Written<2> hi, Written<2> lo) {
  const Index n = codes.shape(0);
  require("indptr", indptr.held, {n + 1});
  require_below("codes", codes, hi.shape(0));
  require_none_or("weights", weights, n);
  require("lo", lo, {hi.shape(0), hi.shape(1)});
  const bool within = indices.visit<std::int32_t, std::int64_t>([&](auto columns) {
    using I = decltype(type_of(columns));
    return indptr.visit<I>([&](auto starts) {
      require(in_order(starts, std::min(data.shape(0), columns.size())),
              "indptr must not decrease");
      return data.visit<double, float, std::int64_t, std::int32_t, bool, std::int8_t, std::int16_t,
                        std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t>([&](auto view) {
        using Events = StoredEvents<decltype(type_of(view)), I>;
        const Numbers<decltype(type_of(view))>& of_type = *kernels;
        Unlocked unlocked;
        return static_cast<const Events&>(of_type).add_sparse_events(view, columns, starts, codes,
                                                                     weights, hi, lo);
      });
    });
  });
  require(within, "indices must be below the number of columns");
}

void define_counts(nb::module_ m) {
  kernels = &CHOSEN(counts);
  m.doc() = "Exact class-wise counts of coded cells, dense event counts and sparse event counts.";
  m.def("read_codes", &read_codes, "stored"_a, "valid"_a, "first"_a, "codes"_a, "shown"_a,
        "Write codes, −1 where a cell is null, and True to ``shown`` at each; the last is that of\n"
        "−1.\n\nReturns whether every code has a place.");
  m.def("mark", &mark, "values"_a, "low"_a, "seen"_a, "Write True to ``seen`` at values − low.");
  m.def("look_up", &look_up, "values"_a, "low"_a, "table"_a, "codes"_a,
        "Write ``table[values − low]`` to ``codes``.");
  m.def("add_rows", &add_rows, "codes"_a, "weights"_a, "table"_a, "unlabelled"_a,
        "Add w to ``table[class]``, the pair (k, 2) of each class; without a class, to "
        "``unlabelled``.\n\n"
        "Returns whether every code is below k; else nothing is added.");
  m.def("add_codes", &add_codes, "values"_a, "low"_a, "size"_a, "offsets"_a, "codes"_a, "tally"_a,
        "Count rows of weight one.\n\n"
        "Returns −1, or the first row that has a code outside its range; from there on, nothing\n"
        "was counted.");
  m.def("add_weighted_codes", &add_weighted_codes, "values"_a, "low"_a, "size"_a, "offsets"_a,
        "codes"_a, "weights"_a, "table"_a, "Add w for every row. Returns as `add_codes` does.");
  m.def("add_binary", &add_binary, "values"_a, "codes"_a, "tally"_a,
        "Count rows of weight one whose codes are −1, 0 or 1: no look-up, so rows are vectors.");
  m.def("add_events", &add_events, "x"_a, "codes"_a, "weights"_a, "hi"_a, "lo"_a,
        "Add w · x[i, j] to the pair of class and column j; NaN is a missing cell.");
  m.def("are_counts", &are_counts, "values"_a, "largest"_a,
        "Tell whether values (n,) are from 0 to ``largest``, or NaN: missing.");
  m.def("are_below", &are_below, "places"_a, "d"_a, "least"_a,
        "Tell whether places (n,) are all below d, and none below the least.");
  m.def("add_sparse_events", &add_sparse_events, "data"_a, "indices"_a, "indptr"_a, "codes"_a,
        "weights"_a, "hi"_a, "lo"_a,
        "Add w · x to the pair of class and column for every stored cell of a CSR matrix.");
}

}  // namespace suffice::bindings
