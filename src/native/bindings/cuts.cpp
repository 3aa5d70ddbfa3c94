#include "densities/cuts.hpp"

#include "bindings/arrays.hpp"
#include "bindings/bindings.hpp"

namespace suffice::bindings {

void define_cuts(nb::module_ m) {
  static const Cuts& kernels = CHOSEN(cuts);
  m.doc() = "Where a column of cells is cut in two, so that both parts tell most of the class.";

  m.def(
      "every",
      [](Read<2> count, Array<std::int64_t, 1> places) {
        if (places.shape(0) + 1 < count.shape(1))
          throw nb::value_error("places must have room for a cut between any two of the m cells");
        const Arithmetic arithmetic;
        Unlocked unlocked;
        return kernels.every(count, places);
      },
      "count"_a, "places"_a,
      "Write every place at which cells with the weights (k, m) of classes are cut in two, and "
      "their parts in turn, as long as a cut shortens the description of the data (U. M. Fayyad "
      "and K. B. Irani, 1993); in any order. "
      "Returns how many there are.");
}

}  // namespace suffice::bindings
