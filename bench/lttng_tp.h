/* The tracepoints of the peer, with payloads of ours: two 64-bit numbers; and what filters judge. LTTng's macros want
 * this form. */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER landtrace_bench
#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "lttng_tp.h"
#if !defined(LANDTRACE_BENCH_LTTNG_TP_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define LANDTRACE_BENCH_LTTNG_TP_H
#include <lttng/tracepoint.h>
#include <stdint.h>
LTTNG_UST_TRACEPOINT_EVENT(landtrace_bench, sixteen, LTTNG_UST_TP_ARGS(uint64_t, a, uint64_t, b),
                           LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(uint64_t, a, a)
                                                   lttng_ust_field_integer(uint64_t, b, b)))
LTTNG_UST_TRACEPOINT_EVENT_CLASS(landtrace_bench, numbers, LTTNG_UST_TP_ARGS(uint32_t, n, int32_t, s, uint64_t, q),
                                 LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(uint32_t, n, n)
                                                         lttng_ust_field_integer(int32_t, s, s)
                                                             lttng_ust_field_integer(uint64_t, q, q)))
LTTNG_UST_TRACEPOINT_EVENT_CLASS(landtrace_bench, text, LTTNG_UST_TP_ARGS(const char *, text),
                                 LTTNG_UST_TP_FIELDS(lttng_ust_field_array_text(char, text, text, 32)))
LTTNG_UST_TRACEPOINT_EVENT_INSTANCE(landtrace_bench, numbers, landtrace_bench, filtered_one,
                                    LTTNG_UST_TP_ARGS(uint32_t, n, int32_t, s, uint64_t, q))
LTTNG_UST_TRACEPOINT_EVENT_INSTANCE(landtrace_bench, numbers, landtrace_bench, filtered_two,
                                    LTTNG_UST_TP_ARGS(uint32_t, n, int32_t, s, uint64_t, q))
LTTNG_UST_TRACEPOINT_EVENT_INSTANCE(landtrace_bench, numbers, landtrace_bench, filtered_passed,
                                    LTTNG_UST_TP_ARGS(uint32_t, n, int32_t, s, uint64_t, q))
LTTNG_UST_TRACEPOINT_EVENT_INSTANCE(landtrace_bench, text, landtrace_bench, filtered_inside,
                                    LTTNG_UST_TP_ARGS(const char *, text))
#endif
#include <lttng/tracepoint-event.h>
