#include "scores/scores.hpp"

#include "bindings/arrays.hpp"
#include "bindings/compressed.hpp"
#include "bindings/bindings.hpp"

namespace suffice::bindings {

static const ScoresKernels& kernels() { return CHOSEN(scores); }

static void require_class_tiles(const Read<2>& table, const Scores& out) {
  require(table.shape(1) % CLASS_TILE == 0 && table.shape(1) >= out.shape(1),
          "the table must have a column for every class, rounded up to whole class tiles of 8");
}

static Index add_student(Rows x, Read<2> mean, Read<2> precision, Read<2> power, Read<2> log_scale,
                         Scores out) {
  const Index k = mean.shape(0), d = x.shape(1);
  require("mean", mean, {k, d});
  require("precision", precision, {k, d});
  require("power", power, {k, d});
  require("log_scale", log_scale, {k, d});
  require("out", out, {x.shape(0), k});
  Unlocked unlocked;
  return kernels().add_student(x, mean, precision, power, log_scale, out);
}

static void student_terms(Rows x, Read<2> mean, Read<2> precision, Read<2> power, Read<2> log_scale,
                          Written<3> terms) {
  const Index k = mean.shape(0), d = x.shape(1);
  require("mean", mean, {k, d});
  require("precision", precision, {k, d});
  require("power", power, {k, d});
  require("log_scale", log_scale, {k, d});
  require("terms", terms, {d, k, x.shape(0)});
  Unlocked unlocked;
  kernels().student_terms(x, mean, precision, power, log_scale, terms);
}

static void add_linear(Rows x, Read<2> slope, Scores out) {
  require("slope", slope, {slope.shape(0), x.shape(1)});
  require("out", out, {x.shape(0), slope.shape(0)});
  Unlocked unlocked;
  kernels().add_linear(x, slope, out);
}

static void add_binary(Array<const std::int8_t, 2, Order::any> values, Read<2> absent,
                       Read<2> slope, Scores out) {
  require("absent", absent, {slope.shape(0), values.shape(1)});
  require("slope", slope, {slope.shape(0), values.shape(1)});
  require("out", out, {values.shape(0), slope.shape(0)});
  Unlocked unlocked;
  kernels().add_binary(values, absent, slope, out);
}

static void add_sparse_linear(AnyArray<1> data, AnyArray<1> indices, AnyArray<1> indptr,
                              Read<2> slope, Scores out) {
  const auto starts = row_starts(indptr, out.shape(0), data.shape(0));
  require_class_tiles(slope, out);
  Unlocked unlocked;
  with_rows(data, indices, starts, [&]<class T, class I>(Compressed<T, I> x) {
    const SparseScores<T, I>& sparse = kernels().sparse;
    sparse.add_sparse_linear(x, slope, out);
  });
}

static void add_table(Array<const std::int64_t, 2> values, Codes low, Codes size, Codes offsets,
                      Read<2> table, Scores out) {
  const Index d = values.shape(1);
  require("low", low, {d});
  require("size", size, {d});
  require("out", out, {values.shape(0), out.shape(1)});
  require_class_tiles(table, out);
  bool inside = offsets.shape(0) >= d;
  for (Index j = 0; inside && j < d; ++j)
    inside = size.at()[j] >= 0 && offsets.at()[j] >= 0 &&
             offsets.at()[j] < table.shape(0) - size.at()[j];
  require(inside, "every column needs a row of the table for each of its values, and one");
  Unlocked unlocked;
  kernels().add_table(values, {low.at(), size.at(), offsets.at()}, table, out);
}

static Index best_class(Array<const double, 2, Order::any> scores, Array<std::int64_t, 1> best) {
  require("best", best, {scores.shape(0)});
  require(scores.shape(0) <= 1 || scores.held.apart(0) == 1,
          "the scores of a class must lie side by side");
  Unlocked unlocked;
  return kernels().best_class(scores, best);
}

void define_scores(nb::module_ m) {
  m.doc() =
      "Log-likelihoods of a block under every class, added to ``out`` (n, k).\n\n"
      "NaN or a missing code adds nothing. A row adds its columns in the same order wherever it\n"
      "stands, which gives the same bits.";
  m.attr("CLASS_TILE") = CLASS_TILE;  // classes scored together: tables of events are padded to it
  m.def("add_student", &add_student, "x"_a, "mean"_a, "precision"_a, "power"_a, "log_scale"_a,
        "out"_a,
        "Student-t: add Σⱼ log_scale[c, j] − power[c, j] log(1 + precision[c, j] (x − mean)²).\n\n"
        "Returns −1, or the first row that holds a number too large to be squared.");
  m.def("student_terms", &student_terms, "x"_a, "mean"_a, "precision"_a, "power"_a, "log_scale"_a,
        "terms"_a,
        "Write the terms of which `add_student` adds those of a row, (d, k, n); 0 where x is NaN.");
  m.def("add_linear", &add_linear, "x"_a, "slope"_a, "out"_a,
        "Event counts: add Σⱼ x[i, j] · slope[c, j], where 0 · (−∞) = 0.");
  m.def("add_binary", &add_binary, "values"_a, "absent"_a, "slope"_a, "out"_a,
        "Outcomes 0, 1 (−1 = missing): add Σⱼ absent[c, j] + values[i, j] · slope[c, j].");
  m.def("add_sparse_linear", &add_sparse_linear, "data"_a, "indices"_a, "indptr"_a, "slope"_a,
        "out"_a,
        "Event counts of a CSR matrix: add Σ x · slope[event, c], where 0 · (−∞) = 0.\n\n"
        "``slope`` is (d, k), k rounded up to whole class tiles; events that it does not\n"
        "have are left out.");
  m.def("add_table", &add_table, "values"_a, "low"_a, "size"_a, "offsets"_a, "table"_a, "out"_a,
        "Categories: add Σⱼ table[offsets[j] + values[i, j] − low[j], c].\n\n"
        "A value outside its range reads the place after the range. ``table`` is (M, k), k\n"
        "rounded up to whole class tiles.");
  m.def("best_class", &best_class, "scores"_a, "best"_a,
        "Write the class of the largest score of every row; of equal scores, the first.\n\n"
        "A row of −∞ gets −1. Returns the number of such rows.");
}

}  // namespace suffice::bindings
