#include "support/interrupts.hpp"

#include <chrono>

namespace suffice {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds MOMENT{20};

void (*ask_for_interrupts)() = nullptr;

void check_interrupts() {
  static thread_local Clock::time_point last{};
  const auto now = Clock::now();
  if (now - last < MOMENT) return;
  last = now;
  if (ask_for_interrupts) ask_for_interrupts();
}

}  // namespace suffice
