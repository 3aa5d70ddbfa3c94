#include "sums/columns.hpp"

#include "bindings/arrays.hpp"
#include "bindings/bindings.hpp"
#include "bindings/validity.hpp"

namespace suffice::bindings {

static const Columns* kernels;

static void read(AnyArray<1> values, Bits valid, Index first, Written<1> numbers) {
  require("numbers", numbers, {values.shape(0)});
  const Validity validity = validity_of(valid, first, values.shape(0));
  values.visit<double, std::int64_t>([&](auto view) {
    using T = decltype(type_of(view));
    Unlocked unlocked;
    static_cast<const ColumnsOf<T>*>(kernels)->read(view, validity, numbers);
  });
}

static bool to_doubles(AnyArray<2> values, nb::object lowest, nb::object highest,
                       Written<2> numbers) {
  require("numbers", numbers, {values.shape(0), values.shape(1)});
  return values.visit<std::int64_t, std::uint64_t>([&](auto view) {
    using T = decltype(type_of(view));
    const T low = number_of<T>("lowest", lowest), high = number_of<T>("highest", highest);
    Unlocked unlocked;
    return static_cast<const DoublesOf<T>*>(kernels)->to_doubles(view, low, high, numbers);
  });
}

static void to_rows(Array<const double, 2, Order::any> x, Array<double, 2, Order::any> rows) {
  require("rows", rows, {x.shape(0), x.shape(1)});
  require(rows.empty() || rows.shape(1) == 1 || rows.held.apart(1) == 1, "rows must be contiguous");
  require(x.empty() || x.shape(0) == 1 || x.held.apart(0) == 1, "columns must be contiguous");
  Unlocked unlocked;
  kernels->to_rows(x, rows);
}

void define_columns(nb::module_ m) {
  kernels = &CHOSEN(columns);
  m.doc() = "Numbers of any column into doubles, and columns into rows.";
  m.def("read", &read, "values"_a, "valid"_a, "first"_a, "numbers"_a,
        "Copy numbers to doubles (n,), NaN where a cell is null.\n\n"
        "``valid`` are the bits of cells that are not null, or nothing; that of cell 0 is the\n"
        "``first``.");
  m.def("to_doubles", &to_doubles, "values"_a, "lowest"_a, "highest"_a, "numbers"_a,
        "Copy whole numbers (n, d) to doubles (n, d); tell whether all lie between two bounds.");
  m.def("to_rows", &to_rows, "x"_a, "rows"_a,
        "Copy doubles (n, d) whose columns are contiguous to some columns (n, d) of rows, which\n"
        "are.");
}

}  // namespace suffice::bindings
