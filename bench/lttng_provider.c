/* What landtrace_bench calls in the module (lttng_peer in bench_peers.cc). */
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "lttng_tp.h"

__attribute__((visibility("default"))) int landtrace_bench_lttng_enabled(void) {
  return lttng_ust_tracepoint_enabled(landtrace_bench, sixteen) != 0;
}

/* A loop on this side, so that no call is added to what a program with the tracepoint pays. */
__attribute__((visibility("default"))) void landtrace_bench_lttng_emit(uint64_t first, uint64_t count) {
  for (uint64_t i = first; i < first + count; ++i) lttng_ust_tracepoint(landtrace_bench, sixteen, i, ~i);
}
