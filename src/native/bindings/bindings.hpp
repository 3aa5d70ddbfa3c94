// What module.cpp puts together: a submodule for each kind of kernel.
#pragma once
#include <nanobind/nanobind.h>

namespace suffice::bindings {

// The level that kernels run at: the best that the processor has, or that of SUFFICE_SIMD.
int level();
const char* level_name();

void define_bins(nanobind::module_ m);
void define_columns(nanobind::module_ m);
void define_comoments(nanobind::module_ m);
void define_coordinate(nanobind::module_ m);
void define_counts(nanobind::module_ m);
void define_cuts(nanobind::module_ m);
void define_densities(nanobind::module_ m);
void define_descent(nanobind::module_ m);
void define_distances(nanobind::module_ m);
void define_eigen(nanobind::module_ m);
void define_elementary(nanobind::module_ m);
void define_factor(nanobind::module_ m);
void define_gram(nanobind::module_ m);
void define_interrupts(nanobind::module_ m);
void define_linear(nanobind::module_ m);
void define_logistic(nanobind::module_ m);
void define_moments(nanobind::module_ m);
void define_pair_counts(nanobind::module_ m);
void define_piecewise(nanobind::module_ m);
void define_posterior(nanobind::module_ m);
void define_scores(nanobind::module_ m);
void define_searchlight(nanobind::module_ m);
void define_squares(nanobind::module_ m);
void define_sums(nanobind::module_ m);
void define_sweep(nanobind::module_ m);

}  // namespace suffice::bindings

// A table of functions, of the level that kernels run at.
#if defined(__x86_64__)
#define CHOSEN(table) (*(const decltype(v2::table)*[]){&v2::table, &v3::table, &v4::table}[level()])
#else
#define CHOSEN(table) (base::table)
#endif
