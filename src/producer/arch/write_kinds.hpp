// The two kinds of restartable writes, each of which is there once: of which the time is read in the sequence, and at a
// time that was held (write.hpp). Their instructions are the same but where these macros say so; the operand `is_held`
// is 1 or 0.
#pragma once

// Assembly reads by its columns.
// clang-format off
#define LT_IF_HELD(code) ".if %c[is_held]\n\t" code ".endif\n\t"
#define LT_UNLESS_HELD(code) ".if %c[is_held] == 0\n\t" code ".endif\n\t"

// A fault in the sequence is reported as if it had happened here: thread_time.cc looks for it.
#define LT_RESTART_SYMBOL                           \
  ".globl landtrace_write_restart\n\t"              \
  ".hidden landtrace_write_restart\n\t"             \
  "landtrace_write_restart:\n\t"

// What hold_time() arms.
#define LT_HELD_SYMBOL                              \
  ".globl landtrace_held_write\n\t"                 \
  ".hidden landtrace_held_write\n\t"                \
  "landtrace_held_write:\n\t"

// Of a function with one of these symbols.
#ifdef __clang__
#define LT_ONE_COPY __attribute__((noinline))
#else
#define LT_ONE_COPY __attribute__((noipa))
#endif
// clang-format on
