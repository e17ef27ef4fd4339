// An invariant of a fuzzer: stops the program, so that libFuzzer keeps the input.
#pragma once

#include <cstdio>
#include <cstdlib>

#define LT_REQUIRE(condition)                                                      \
  do {                                                                             \
    if (!(condition)) {                                                            \
      std::fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
      std::abort();                                                                \
    }                                                                              \
  } while (false)
