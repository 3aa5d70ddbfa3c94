// Repeats recorded calls of the kernels, and compares every bit of what they write and return.
//
// Usage: replay FILE LEVEL
#include <cstdio>
#include <functional>
#include <map>

#include "arguments.hpp"
#include "sums/bins.hpp"
#include "linear/coordinate.hpp"
#include "densities/cuts.hpp"
#include "scores/distances.hpp"
#include "linear/eigen.hpp"
#include "support/elementary.hpp"
#include "linear/gram.hpp"
#include "scores/linear.hpp"
#include "sums/pair_counts.hpp"
#include "scores/piecewise.hpp"
#include "scores/posterior.hpp"
#include "sha256.hpp"
#include "scores/squares.hpp"
#include "sums/sums.hpp"

namespace suffice::replay {

// By name; where a kernel is compiled for several types, a space and their letters follow.
using Kernels = std::map<std::string, std::function<bool(Call&)>>;

template <class R, class... A>
void add(Kernels& kernels, const std::string& name, R (*kernel)(A...)) {
  kernels[name] = [kernel](Call& call) { return replay(kernel, call); };
}

template <class... Letters>
std::string typed(const char* name, Letters... letters) {
  std::string longer = name;
  longer += ' ';
  (longer.push_back(letters), ...);
  return longer;
}

void add_moments(Kernels& to, const Moments& table) {
  add(to, "moments.add_rows", table.add_rows);
  add(to, "moments.add_weighted_rows", table.add_weighted_rows);
  add(to, "moments.merge", table.merge);
  add(to, "moments.merge_classes", table.merge_classes);
  add(to, "moments.mean_and_scatter", table.mean_and_scatter);
  add(to, "moments.recentre", table.recentre);
}

void add_comoments(Kernels& to, const Comoments& table) {
  add(to, "comoments.add_rows", table.add_rows);
  add(to, "comoments.add_scattered_rows", table.add_scattered_rows);
  add(to, "comoments.merge", table.merge);
  add(to, "comoments.settle", table.settle);
  add(to, "comoments.recentre", table.recentre);
  add(to, "comoments.scatter", table.scatter);
}

template <class T>
void add_whole(Kernels& to, const WholeNumbers<T>& table) {
  constexpr char letter = letter_of<T>;
  add(to, typed("counts.read_codes", letter), table.read_codes);
  add(to, typed("counts.mark", letter), table.mark);
  add(to, typed("counts.look_up", letter), table.look_up);
  add(to, typed("counts.are_below", letter), table.are_below);
  add(to, typed("counts.add_codes", letter), table.add_codes);
  add(to, typed("counts.add_weighted_codes", letter), table.add_weighted_codes);
}

template <class T, class I>
void add_stored(Kernels& to, const StoredEvents<T, I>& table) {
  add(to, typed("counts.add_sparse_events", letter_of<T>, letter_of<I>), table.add_sparse_events);
}

template <class T>
void add_numbers(Kernels& to, const Numbers<T>& table) {
  add(to, typed("counts.are_counts", letter_of<T>), table.are_counts);
  add_stored<T, std::int32_t>(to, table);
  add_stored<T, std::int64_t>(to, table);
}

void add_counts(Kernels& to, const Counts& table) {
  [&]<class... T>(std::tuple<T...>*) {
    (add_whole<T>(to, table), ...);
    (add_numbers<T>(to, table), ...);
  }(static_cast<std::tuple<std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t,
                           std::uint16_t, std::uint32_t, std::uint64_t>*>(nullptr));
  add_numbers<bool>(to, table);
  add_numbers<float>(to, table);
  add_numbers<double>(to, table);
  const CountsOfLabels& labels = table;
  add(to, "counts.add_rows", labels.add_rows);
  add(to, "counts.add_binary", labels.add_binary);
  add(to, "counts.add_events", labels.add_events);
}

template <class T, class I>
void add_sparse(Kernels& to, const SparseScores<T, I>& table) {
  add(to, typed("scores.add_sparse_linear", letter_of<T>, letter_of<I>), table.add_sparse_linear);
}

void add_scores(Kernels& to, const ScoresKernels& table) {
  [&]<class... Kernel>(const Each<Kernel...>& sparse) {
    (add_sparse<typename Kernel::Number, typename Kernel::Place>(to, sparse), ...);
  }(table.sparse);
  add(to, "scores.add_student", table.add_student);
  add(to, "scores.add_linear", table.add_linear);
  add(to, "scores.add_binary", table.add_binary);
  add(to, "scores.add_table", table.add_table);
  add(to, "scores.best_class", table.best_class);
}

void add_columns(Kernels& to, const Columns& table) {
  const ColumnsOf<double>& doubles = table;
  const ColumnsOf<std::int64_t>& whole = table;
  const DoublesOf<std::int64_t>& with_sign = table;
  const DoublesOf<std::uint64_t>& without = table;
  add(to, "columns.read d", doubles.read);
  add(to, "columns.read q", whole.read);
  add(to, "columns.to_doubles q", with_sign.to_doubles);
  add(to, "columns.to_doubles Q", without.to_doubles);
  add(to, "columns.to_rows", table.to_rows);
}

// Compare the digest of so many values of a function; `elementary_values.py` says of which.
bool has_digest(Elementary::Function function, Call& call) {
  Arguments from(call);
  const auto span = take<Vector<const double>>(from);
  const Index n = take<Index>(from);
  const bool with_bits = take<bool>(from);
  std::vector<unsigned char> bytes(n * sizeof(double));
  double* x = reinterpret_cast<double*>(bytes.data());
  for (Index i = 0; i < n; ++i) {
    std::uint64_t z = (static_cast<std::uint64_t>(i) + 1) * 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    z ^= z >> 31;
    x[i] = span[0] + span[1] * (static_cast<double>(z >> 11) * 0x1p-53);
    const std::uint64_t bits = z % (std::uint64_t{0x7FF0} << 48);
    if (with_bits && i % 2) std::memcpy(&x[i], &bits, sizeof bits);
  }
  function({x, 1, n, n, 1}, {x, 1, n, n, 1});
  const auto digest = sha256(bytes);
  return std::equal(digest.begin(), digest.end(), call.returned.bytes.begin());
}

void add_elementary(Kernels& to, const Elementary& table) {
  const std::pair<const char*, Elementary::Function> functions[] = {{"exp", table.exp},
                                                                    {"log", table.log},
                                                                    {"log1p", table.log1p},
                                                                    {"lgamma", table.lgamma},
                                                                    {"digamma", table.digamma}};
  for (const auto& [name, function] : functions)
    to[std::string("digest.") + name] = [function](Call& call) {
      return has_digest(function, call);
    };
}

void add_others(Kernels& to, const Factor& factor, const Sums& sums, const Posterior& posterior) {
  add(to, "factor.product", factor.product);
  add(to, "factor.factorise", factor.factorise);
  add(to, "factor.solve", factor.solve);
  add(to, "sums.add_pairs", sums.add_pairs);
  add(to, "sums.sum_pairs", sums.sum_pairs);
  add(to, "sums.normalise", sums.normalise);
  add(to, "sums.scale", sums.scale);
  add(to, "posterior.log_sum_exp", posterior.log_sum_exp);
  add(to, "posterior.log_normalise", posterior.log_normalise);
  add(to, "posterior.normalise", posterior.normalise);
}

void add_bins(Kernels& to, const Bins& bins, const PairCounts& pairs, const Cuts& cuts,
              const GramKernels& gram) {
  add(to, "bins.cells", bins.cells);
  add(to, "bins.count", bins.count);
  add(to, "bins.unite", bins.unite);
  add(to, "bins.find", bins.find);
  add(to, "bins.hash", bins.hash);
  add(to, "cuts.every", cuts.every);
  add(to, "gram.times", gram.times);
  add(to, "gram.add_transposed", gram.add_transposed);
  add(to, "gram.add_covariances", gram.add_covariances);
  add(to, "pair_counts.count", pairs.count);
  add(to, "pair_counts.count_weighted", pairs.count_weighted);
  add(to, "pair_counts.sum_by_parent", pairs.sum_by_parent);
}

#define KERNELS_OF(level)                                                     \
  [] {                                                                        \
    Kernels all;                                                              \
    add_moments(all, level::moments);                                         \
    add_comoments(all, level::comoments);                                     \
    add_counts(all, level::counts);                                           \
    add_scores(all, level::scores);                                           \
    add_columns(all, level::columns);                                         \
    add_elementary(all, level::elementary);                                   \
    add_others(all, level::factor, level::sums, level::posterior);            \
    add_bins(all, level::bins, level::pair_counts, level::cuts, level::gram); \
    add(all, "coordinate.sweep", level::coordinate.sweep);                    \
    add(all, "distances.add_complete", level::distances.add_complete);        \
    add(all, "distances.add_marginal", level::distances.add_marginal);        \
    add(all, "linear.add_complete", level::linear.add_complete);              \
    add(all, "linear.write", level::linear.write);                            \
    add(all, "logistic.loss_derivatives", level::logistic.loss_derivatives);  \
    add(all, "logistic.add_gradient", level::logistic.add_gradient);          \
    add(all, "piecewise.add", level::piecewise.add);                          \
    add(all, "squares.add_gaussian", level::squares.add_gaussian);            \
    add(all, "eigen.symmetric", level::eigen.symmetric);                      \
    add(all, "sweep.add_scatter", level::sweep.add_scatter);                  \
    add(all, "sweep.expect", level::sweep.expect);                            \
    return all;                                                               \
  }()

Kernels kernels_of(const std::string& level) {
#if defined(__x86_64__)
  if (level == "v2") return KERNELS_OF(v2);
  if (level == "v3") return KERNELS_OF(v3);
  if (level == "v4") return KERNELS_OF(v4);
#else
  if (level == "base") return KERNELS_OF(base);
#endif
  throw std::runtime_error("there is no level " + level);
}

const std::function<bool(Call&)>& kernel_of(const Kernels& kernels, const Call& call) {
  std::string name = call.name + ' ';
  for (std::size_t i = 0; i < 2 && i < call.arguments.size(); ++i) {
    name.push_back(call.arguments[i].letter);
    if (const auto found = kernels.find(name); found != kernels.end()) return found->second;
  }
  if (const auto found = kernels.find(call.name); found != kernels.end()) return found->second;
  throw std::runtime_error("there is no kernel " + name);
}

// Whether a call writes and returns what was recorded.
bool repeats(const Kernels& kernels, Call& call) {
  bool fine = kernel_of(kernels, call)(call);
  for (std::size_t i = 0; i < call.after.size(); ++i)
    fine &= same(call.arguments[i], call.after[i]);
  return fine;
}

int run(const char* path, const char* level) {
  const Kernels kernels = kernels_of(level);
  Calls calls(path);
  Call call;
  std::map<std::string, int> seen, different;
  while (calls.next(call)) {
    ++seen[call.name];
    if (!repeats(kernels, call)) ++different[call.name];
  }
  int wrong = 0;
  for (const auto& [name, number] : seen) {
    std::printf("%s: %d of %d calls differ\n", name.c_str(), different[name], number);
    wrong += different[name];
  }
  return wrong ? 1 : 0;
}

}  // namespace suffice::replay

int main(int count, char** words) {
  try {
    if (count != 3) throw std::runtime_error("usage: replay FILE LEVEL");
    return suffice::replay::run(words[1], words[2]);
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "%s\n", problem.what());
    return 2;
  }
}
