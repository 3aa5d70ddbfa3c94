// The levels of the processor that every kernel is compiled for.
//
// The functions of a header stand in a table, of which each level makes its own:
// `suffice::v4::sums` is a `Sums`. Nothing else of a level can be seen from outside.
#pragma once

#if defined(__x86_64__)
#define EVERY_LEVEL(Table, name) \
  namespace v2 {                 \
  extern const Table name;       \
  }                              \
  namespace v3 {                 \
  extern const Table name;       \
  }                              \
  namespace v4 {                 \
  extern const Table name;       \
  }
#else
#define EVERY_LEVEL(Table, name) \
  namespace base {               \
  extern const Table name;       \
  }
#endif
