#include "labelings.hpp"

#include "bindings/arrays.hpp"
#include "bindings/bindings.hpp"

namespace suffice::bindings {

static const LabelingsKernels& kernels() { return CHOSEN(labelings); }

using ReadBytes = Array<const std::uint8_t, 2>;

// Whether numbers of every labeling are below a bound, of so many rows from `first` on.
static bool are_below(Bytes numbers, Index first, Index rows, Index bound) {
  bool below = true;
  for (Index p = 0; p < numbers.shape[0]; ++p)
    for (Index i = first; i < first + rows; ++i) below &= numbers(p, i) < bound;
  return below;
}

static void require_codes(Bytes codes, Index classes) {
  require(classes > 0 && classes <= 256, "there are 1 to 256 classes");
  require(are_below(codes, 0, codes.shape[1], classes),
          "codes must be below the number of classes");
}

static void require_folds(Bytes folds, Index first, Index rows, Index f) {
  require(f <= 256 && are_below(folds, first, rows, f),
          "folds must be below their number, 256 at most");
}

static void require_cells(Bytes codes, Bytes folds, Index classes, Index cells) {
  require_codes(codes, classes);
  require(cells % classes == 0, "sums must have a place for every fold and class");
  require_folds(folds, 0, folds.shape[1], cells / classes);
}

// Rows from `first` on that scores (P, k, rows) have a place for, and their f folds.
static void require_rows(const Held& scores, Bytes folds, Index first, Index f) {
  require(scores.shape(0) == folds.shape[0], "scores must have a place for every labeling");
  require(first >= 0 && first <= folds.shape[1] && scores.shape(2) <= folds.shape[1] - first,
          "scores must be of rows of the labelings");
  require_folds(folds, first, scores.shape(2), f);
}

// The folds of P labelings, whose tables have so many models.
static Index folds_of(Bytes folds, Index models) {
  const Index labelings = folds.shape[0];
  require(labelings ? models % labelings == 0 : models == 0,
          "every labeling must have a model for each of its folds");
  return labelings ? models / labelings : 0;
}

template <class T>
static void stratify(Array<const T, 2> codes, Index classes, Index f, Array<T, 2> folds) {
  require("folds", folds, {codes.shape(0), codes.shape(1)});
  const Matrix<const T> whole = codes;
  const Index rows = whole.shape[1];
  require(f > 0 && f <= rows + 1 && (sizeof(T) > 1 || f <= 256),
          "there must be folds, and not more than rows");
  require(classes > 0 && classes <= rows + 1, "there must be classes, and not more than rows");
  bool below = true;
  for (Index i = 0; i < whole.size(); ++i) below &= whole.at[i] >= 0 && whole.at[i] < classes;
  require(below, "codes must be below the number of classes");
  const Stratifying<T>& of_type = kernels();
  Unlocked unlocked;
  of_type.stratify(codes, classes, f, folds);
}

static void add_rows(Read<2> x, ReadBytes codes, ReadBytes folds, Index classes, Written<3> sums) {
  require("codes", codes, {codes.shape(0), x.shape(0)});
  require("folds", folds, {codes.shape(0), codes.shape(1)});
  require("sums", sums, {codes.shape(0), sums.shape(1), x.shape(1)});
  require_cells(codes, folds, classes, sums.shape(1));
  Unlocked unlocked;
  kernels().add_rows(x, codes, folds, classes, sums);
}

static void tally(ReadBytes codes, ReadBytes folds, Index classes, Written<2> sizes) {
  require("folds", folds, {codes.shape(0), codes.shape(1)});
  require("sizes", sizes, {codes.shape(0), sizes.shape(1)});
  require_cells(codes, folds, classes, sizes.shape(1));
  Unlocked unlocked;
  kernels().tally(codes, folds, classes, sizes);
}

static void start(Read<2> log_prior, Index first, ReadBytes folds, Written<3> out) {
  require("log_prior", log_prior, {log_prior.shape(0), out.shape(1)});
  require_rows(out.held, folds, first, folds_of(folds, log_prior.shape(0)));
  Unlocked unlocked;
  kernels().start(log_prior, first, folds, out);
}

static void add_squares(Read<2> x, Index first, ReadBytes folds, Read<2> mean, Read<2> root,
                        Read<2> log_scale, Written<3> out) {
  const Index d = x.shape(0), entries = mean.shape(1);
  require("folds", folds, {folds.shape(0), x.shape(1)});
  require("mean", mean, {out.shape(1), entries});
  require("root", root, {out.shape(1), entries});
  require("log_scale", log_scale, {out.shape(1), entries});
  require(d ? entries % d == 0 : entries == 0, "every model must have all columns");
  require_rows(out.held, folds, first, d ? folds_of(folds, entries / d) : 256);
  Unlocked unlocked;
  kernels().add_squares(x, first, folds, mean, root, log_scale, out);
}

static void add_table(Array<const std::int32_t, 2> places, Index first, ReadBytes folds,
                      Read<3> table, Written<3> out) {
  require("folds", folds, {folds.shape(0), places.shape(0)});
  require(table.shape(2) % 8 == 0 && table.shape(2) >= out.shape(1),
          "the table must have a column for every class, rounded up to eights");
  require_rows(out.held, folds, first, folds_of(folds, table.shape(0)));
  const Matrix<const std::int32_t> whole = places;
  require_between("places", {whole.at, {whole.size()}}, 0, table.shape(1));
  Unlocked unlocked;
  kernels().add_table(places, first, folds, table, out);
}

static void hits(Read<3> scores, Index first, ReadBytes codes, ReadBytes folds, ReadBytes otherwise,
                 Written<2> found) {
  require("folds", folds, {codes.shape(0), codes.shape(1)});
  require("otherwise", otherwise, {codes.shape(0), found.shape(1)});
  require("hits", found, {codes.shape(0), found.shape(1)});
  require_rows(scores.held, folds, first, found.shape(1));
  Unlocked unlocked;
  kernels().hits(scores, first, codes, folds, otherwise, found);
}

void define_labelings(nb::module_ m) {
  m.doc() =
      "Many labelings of the same rows at once: folds, sums by class and fold, and scores by the\n"
      "models of folds.\n\n"
      "``codes`` and ``folds`` (P, n) are the class and the fold of every row in each of P\n"
      "labelings; a row is scored by the model of its own fold, one of P · f.";
  m.def("stratify", &stratify<std::int64_t>, "codes"_a, "classes"_a, "f"_a, "folds"_a,
        "Write f folds of nearly the same share of every class, as StratifiedKFold of\n"
        "scikit-learn has them.");
  m.def("stratify_bytes", &stratify<std::uint8_t>, "codes"_a, "classes"_a, "f"_a, "folds"_a,
        "The same of bytes.");
  m.def("add_rows", &add_rows, "x"_a, "codes"_a, "folds"_a, "classes"_a, "sums"_a,
        "Add the rows of x (n, m) to the sums (P, f · k, m) of their fold and class.");
  m.def("tally", &tally, "codes"_a, "folds"_a, "classes"_a, "sizes"_a,
        "Write how many rows every fold and class has, (P, f · k).");
  m.def("start", &start, "log_prior"_a, "first"_a, "folds"_a, "out"_a,
        "Write log P(c) of the rows from ``first`` on to ``out`` (P, k, rows).");
  m.def("add_squares", &add_squares, "x"_a, "first"_a, "folds"_a, "mean"_a, "root"_a, "log_scale"_a,
        "out"_a,
        "Add Σⱼ log_scale − (root (x[j, i] − mean))² of complete rows i from ``first`` on.\n\n"
        "x is (d, n); column j of model g stands in place g · d + j of the tables (k, P · f · d).");
  m.def("add_table", &add_table, "places"_a, "first"_a, "folds"_a, "table"_a, "out"_a,
        "Add Σⱼ table[g, places[i, j], c] of the rows from ``first`` on.\n\n"
        "``table`` is (P · f, T, k), k rounded up to eights.");
  m.def("hits", &hits, "scores"_a, "first"_a, "codes"_a, "folds"_a, "otherwise"_a, "hits"_a,
        "Count by labeling and fold, (P, f), the rows whose largest score is that of their class.\n"
        "\nOf equal scores the first is the largest; of −∞ alone, that of ``otherwise``.");
}

}  // namespace suffice::bindings
