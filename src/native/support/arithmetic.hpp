// Arithmetic as kernels need it, whatever other code of the process has set for its thread.
#pragma once
#include <cstdint>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace suffice {

// While it lives: rounding to nearest, subnormal numbers as they are, and no traps. Then as before.
class Arithmetic {
#if defined(__x86_64__)
  static constexpr unsigned MODES = 0xffc0, PLAIN = 0x1f80;  // of MXCSR, without its flags
  unsigned before_ = _mm_getcsr();

 public:
  Arithmetic() {
    if ((before_ & MODES) != PLAIN) _mm_setcsr(PLAIN);
  }
  ~Arithmetic() {
    if ((before_ & MODES) != PLAIN) _mm_setcsr(before_);
  }
#elif defined(__aarch64__)
  static constexpr std::uint64_t MODES = 0x3c89f00;  // of FPCR: rounding, flushing, NaNs and traps
  std::uint64_t before_ = get();

  static std::uint64_t get() {
    std::uint64_t modes;
    __asm__ volatile("mrs %0, fpcr" : "=r"(modes));
    return modes;
  }
  static void set(std::uint64_t modes) { __asm__ volatile("msr fpcr, %0" : : "r"(modes)); }

 public:
  Arithmetic() {
    if (before_ & MODES) set(before_ & ~MODES);
  }
  ~Arithmetic() {
    if (before_ & MODES) set(before_);
  }
#else
 public:
  Arithmetic() {}
#endif
  Arithmetic(const Arithmetic&) = delete;
  Arithmetic& operator=(const Arithmetic&) = delete;
};

}  // namespace suffice
