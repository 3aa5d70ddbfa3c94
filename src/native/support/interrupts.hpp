// Ctrl-C inside a kernel: loops that may take long say how much they have done, and every few
// hundredths of a second it is asked whether anybody still waits for them.
//
// What is asked may throw: the results of the kernel are then not used.
#pragma once
#include "support/views.hpp"

#ifndef LEVEL
#define LEVEL base
#endif

namespace suffice {

// What is asked, by the thread that works; nothing at first.
extern void (*ask_for_interrupts)();

// Ask, unless this thread did a moment ago.
void check_interrupts();

namespace LEVEL {
namespace {

// The work of a loop: operations of about a nanosecond, as its author guesses them.
class Work {
  static constexpr Index PIECE = 1 << 20;  // operations between two looks at the clock
  Index left_ = PIECE;

 public:
  INLINE void done(Index operations) {
    left_ -= operations;
    if (left_ >= 0) return;
    left_ = PIECE;
    check_interrupts();
  }
};

}  // namespace
}  // namespace LEVEL
}  // namespace suffice
