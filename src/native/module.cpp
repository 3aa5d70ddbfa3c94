// The module `suffice.numerics.kernels`.
#include <cstdlib>
#include <cstring>
#include <string>

#include "bindings/arrays.hpp"
#include "bindings/bindings.hpp"

namespace suffice::bindings {

#if defined(__x86_64__)
static constexpr const char* names[] = {"v2", "v3", "v4"};

static bool supported(int level) {
  __builtin_cpu_init();
  if (level == 0) return __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("popcnt");
  if (level == 1)
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
           __builtin_cpu_supports("bmi2");
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512vl");
}
#else
static constexpr const char* names[] = {"base"};

static bool supported(int) { return true; }
#endif

constexpr int LEVELS = sizeof names / sizeof *names;

static int choose() {
  const char* wish = std::getenv("SUFFICE_SIMD");
  for (int level = LEVELS - 1; level >= 0; --level)
    if (supported(level) && (!wish || !*wish || !std::strcmp(wish, names[level]))) return level;
  std::string sentence = "Suffice is compiled for processors of the levels";
  for (const char* name : names) sentence += std::string(" ") + name;
  sentence += wish && *wish
                  ? "; SUFFICE_SIMD asks for " + std::string(wish) +
                        ", which this one does not have. Unset it"
                  : std::string("; this one has none of them (x86-64-v2 is that of 2009)");
  throw nb::import_error(sentence.c_str());
}

int level() {
  static const int chosen = choose();
  return chosen;
}

const char* level_name() { return names[level()]; }

}  // namespace suffice::bindings

NB_MODULE(kernels, m) {
  using namespace suffice::bindings;
  m.doc() = "Compiled loops, a submodule for each kind of kernel.";
  m.def("level", &level_name, "Return the level of the processor that the loops run at.");
  define_bins(m.def_submodule("bins"));
  define_columns(m.def_submodule("columns"));
  define_comoments(m.def_submodule("comoments"));
  define_coordinate(m.def_submodule("coordinate"));
  define_counts(m.def_submodule("counts"));
  define_cuts(m.def_submodule("cuts"));
  define_densities(m.def_submodule("densities"));
  define_descent(m.def_submodule("descent"));
  define_distances(m.def_submodule("distances"));
  define_eigen(m.def_submodule("eigen"));
  define_elementary(m.def_submodule("elementary"));
  define_factor(m.def_submodule("factor"));
  define_gram(m.def_submodule("gram"));
  define_interrupts(m.def_submodule("interrupts"));
  define_linear(m.def_submodule("linear"));
  define_logistic(m.def_submodule("logistic"));
  define_moments(m.def_submodule("moments"));
  define_pair_counts(m.def_submodule("pair_counts"));
  define_piecewise(m.def_submodule("piecewise"));
  define_posterior(m.def_submodule("posterior"));
  define_scores(m.def_submodule("scores"));
  define_searchlight(m.def_submodule("searchlight"));
  define_squares(m.def_submodule("squares"));
  define_sums(m.def_submodule("sums"));
  define_sweep(m.def_submodule("sweep"));
}
