/* What landtrace_bench calls in the module (lttng_peer in bench_peers.cc). */
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "lttng_tp.h"

/* Each has a loop on this side, so that no call is added to what a program with the tracepoint pays. */
#define PEER(name, ...)                                                                                   \
  __attribute__((visibility("default"))) int landtrace_bench_lttng_enabled_##name(void) {                 \
    return lttng_ust_tracepoint_enabled(landtrace_bench, name) != 0;                                      \
  }                                                                                                       \
  __attribute__((visibility("default"))) void landtrace_bench_lttng_emit_##name(uint64_t first, uint64_t count) { \
    for (uint64_t i = first; i < first + count; ++i) lttng_ust_tracepoint(landtrace_bench, name, __VA_ARGS__);    \
  }

/* As in rules.hpp. */
static const char kText[32] = "the quick brown fox jumps away.";

PEER(sixteen, i, ~i)
PEER(filtered_one, 4, 0, i)
PEER(filtered_two, 4, 0, i)
PEER(filtered_passed, 4, 0, i)
PEER(filtered_inside, kText)
