/* What an event costs: cost [TURNS] prints nanoseconds for an empty turn and for one that emits, of 20 rounds the best:
 * what others add, while they have the processor, is not the event's. As C and as C++. */
#ifdef __cplusplus
#include <landtrace/landtrace.hpp>

#include <cstdint>
#else
#include <landtrace/landtrace.h>
#endif
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#ifdef __cplusplus
using Cost = landtrace::Event<"cost", landtrace::Field<"a", std::uint64_t>, landtrace::Field<"b", std::uint64_t>>;
#define EMIT(i) Cost::emit(i, i)
#else
LANDTRACE_EVENT(cost, LT_U64(a), LT_U64(b));
#define EMIT(i) LANDTRACE_EMIT(cost, i, i)
#endif

static double now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return 1e9 * (double)now.tv_sec + (double)now.tv_nsec;
}

static double least(double a, double b) { return a < b ? a : b; }

int main(int argc, char** argv) {
  const int rounds = 20;
  const unsigned long turns = (argc > 1 ? strtoul(argv[1], NULL, 10) : 10000000) / rounds;
  volatile uint64_t turn = 0;
  double empty = 1e9, emitted = 1e9;
  for (int round = 0; round < rounds; ++round) {
    double begin = now_ns();
    for (unsigned long i = 0; i < turns; ++i) turn = turn + 1;
    empty = least(empty, now_ns() - begin);
    begin = now_ns();
    for (unsigned long i = 0; i < turns; ++i) {
      turn = turn + 1;
      const uint64_t value = turn;
      EMIT(value);
    }
    emitted = least(emitted, now_ns() - begin);
  }
  printf("%.2f %.2f\n", empty / (double)turns, emitted / (double)turns);
  return 0;
}
