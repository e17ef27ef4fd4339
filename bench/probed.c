// A program that knows nothing of tracing, with functions for the rows of probes. It says "ready", calls its functions
// for each line of input, and prints what a call of each cost, in ns: the least of many short rounds, in which all
// take their turns, so that what else the machine does is not in it.
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

enum { kRounds = 300, kCalls = 2000 };

static const char text[] = "fifteen letters";

#ifdef __clang__ /* makes no clones */
#define APART __attribute__((noinline, aligned(64)))
#else
#define APART __attribute__((noinline, noclone, aligned(64)))
#endif
#define PROBED(name)                                                                                         \
  APART uint64_t name(uint64_t number, const char* bytes);                                                   \
  APART uint64_t name(uint64_t number, const char* bytes) {                                                  \
    __asm__ volatile("" : : "r"(bytes)); /* so that both are handed over */                                   \
    return number * 3 + 0x12345;         /* an instruction that is longer than a jump */                      \
  }
PROBED(bench_entry)
PROBED(bench_number)
PROBED(bench_string)
PROBED(bench_both)
PROBED(bench_latency)
PROBED(bench_refused)
PROBED(bench_no_longer)

static double now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static uint64_t read_counter(uint64_t number, const char* bytes) {
  (void)bytes;
#if defined(__x86_64__)
  return number + __rdtsc();
#else
  return number;
#endif
}

// In line for the counter, which is no function.
__attribute__((always_inline)) static inline double round_of(uint64_t (*function)(uint64_t, const char*)) {
  uint64_t sum = 0;
  const double begin = now_ns();
  for (uint64_t i = 0; i < kCalls; ++i) sum += function(i, text);
  const double took = now_ns() - begin;
  __asm__ volatile("" : : "r"(sum));
  return took / kCalls;
}

static void keep_least(double* least, double now) {
  if (now < *least) *least = now;
}

static void measure(void) {
  static const struct {
    const char* name;
    uint64_t (*function)(uint64_t, const char*);
  } functions[] = {{"entry", bench_entry},     {"number", bench_number},   {"string", bench_string},
                   {"both", bench_both},       {"latency", bench_latency}, {"refused", bench_refused},
                   {"no_longer", bench_no_longer}};
  enum { kFunctions = sizeof functions / sizeof functions[0] };
  double least[kFunctions], counter = 1e9;
  for (int f = 0; f < kFunctions; ++f) least[f] = 1e9;
  for (int round = 0; round < kRounds; ++round) {
    keep_least(&counter, round_of(read_counter));
    for (int f = 0; f < kFunctions; ++f) keep_least(&least[f], round_of(functions[f].function));
  }
  printf("rdtsc %.3f", counter);
  for (int f = 0; f < kFunctions; ++f) printf(" %s %.3f", functions[f].name, least[f]);
  printf("\n");
  fflush(stdout);
}

int main(void) {
  char line[16];
  printf("ready\n");
  fflush(stdout);
  while (fgets(line, sizeof line, stdin) != NULL) measure();
  return 0;
}
