// Rows of a compressed sparse matrix (CSR).
#pragma once
#include "support/views.hpp"

namespace suffice {

// Of row i, the cells from `starts[i]` to `starts[i + 1]`, each with its column.
template <class T, class I>
struct Compressed {
  const T* data;
  const I* columns;
  Vector<const std::int64_t> starts;  // (n + 1,)
};

// A function for each type of cells and of places that kernels are compiled for.
template <class... Kernel>
struct Each : Kernel... {};
template <template <class, class> class Kernel>
using OfCells = Each<Kernel<double, std::int32_t>, Kernel<double, std::int64_t>,
                     Kernel<float, std::int32_t>, Kernel<float, std::int64_t>,
                     Kernel<std::int64_t, std::int32_t>, Kernel<std::int64_t, std::int64_t>,
                     Kernel<std::int32_t, std::int32_t>, Kernel<std::int32_t, std::int64_t>>;

}  // namespace suffice
