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

  m.def(
      "equal_frequency",
      [](Read<1> weights, Index parts, Array<std::int64_t, 1> places) {
        const Index m = weights.shape(0);
        require(parts > 0, "there is a part at least");
        if (places.shape(0) < (parts < m ? parts : m) - 1)
          throw nb::value_error("places must have room for a cut between any two parts");
        Unlocked unlocked;
        return kernels.equal_frequency(weights, parts, places);
      },
      "weights"_a, "parts"_a, "places"_a,
      "Write the places at which cells of such weights are cut into at most so many parts of about "
      "the same weight, ascending. Returns how many there are.");
}

}  // namespace suffice::bindings
