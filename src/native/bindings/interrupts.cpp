#include "support/interrupts.hpp"

#include <nanobind/nanobind.h>

#include <atomic>

#include "bindings/bindings.hpp"

namespace suffice::bindings {

namespace nb = nanobind;
using namespace nb::literals;

// Whether results of threads are still waited for.
struct Stop {
  std::atomic<bool> flag{false};
};

static thread_local const Stop* watched = nullptr;

static void interrupt(bool stopped) {
  nb::gil_scoped_acquire locked;
  if (stopped) PyErr_SetNone(PyExc_KeyboardInterrupt);
  if (stopped || PyErr_CheckSignals()) throw nb::python_error();
}

// A thread that watches a flag is not the main one, to which signals are delivered: it does not
// wait for the interpreter.
static void ask() {
  if (!watched) return interrupt(false);
  if (watched->flag) interrupt(true);
}

static nb::object call_watched(const Stop& stop, const nb::callable& call) {
  struct Watch {
    const Stop* before = watched;
    explicit Watch(const Stop& of) { watched = &of; }
    ~Watch() { watched = before; }
  } watch(stop);
  if (stop.flag) interrupt(true);
  return call();
}

// As all others it takes a module by value.
// NOLINTNEXTLINE(performance-unnecessary-value-param)
void define_interrupts(nb::module_ m) {
  ask_for_interrupts = &ask;
  m.doc() = "Ctrl-C inside kernels: they ask for signals every few hundredths of a second.";
  nb::class_<Stop>(m, "Stop", "A flag that ends what other threads compute.")
      .def(nb::init<>())
      .def(
          "set", [](Stop& stop) { stop.flag = true; }, "Let calls end.")
      .def(
          "is_set", [](const Stop& stop) { return stop.flag.load(); }, "Whether they are to end.")
      .def("call", &call_watched, "function"_a,
           nb::sig("def call(self, function: collections.abc.Callable[[], typing.Any]) -> "
                   "typing.Any"),
           "Call a function of no arguments; return its result.\n\n"
           "Once the flag is set, the kernel that runs raises KeyboardInterrupt within a moment.\n"
           "Not for the main thread: its signals are not asked for meanwhile.");
}

}  // namespace suffice::bindings
