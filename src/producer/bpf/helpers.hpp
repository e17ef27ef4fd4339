// What programs can call: helpers by the numbers of <linux/bpf.h>.
#pragma once

#include "bpf/execution.hpp"

namespace landtrace::bpf {

// nullptr: there is none of that number.
Helper find_helper(std::uint32_t number);

namespace helpers {

// maps: helpers_maps.cc
std::uint64_t map_lookup(Execution&, std::uint64_t map, std::uint64_t key, std::uint64_t, std::uint64_t, std::uint64_t);
std::uint64_t map_update(Execution&, std::uint64_t map, std::uint64_t key, std::uint64_t value, std::uint64_t flags,
                         std::uint64_t);
std::uint64_t map_delete(Execution&, std::uint64_t map, std::uint64_t key, std::uint64_t, std::uint64_t, std::uint64_t);

// the thread: helpers_thread.cc
std::uint64_t ktime_get_ns(Execution&, std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t);
std::uint64_t get_current_pid_tgid(Execution&, std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t,
                                   std::uint64_t);
std::uint64_t get_current_uid_gid(Execution&, std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t,
                                  std::uint64_t);
std::uint64_t get_current_comm(Execution&, std::uint64_t to, std::uint64_t size, std::uint64_t, std::uint64_t,
                               std::uint64_t);
std::uint64_t get_smp_processor_id(Execution&, std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t,
                                   std::uint64_t);
std::uint64_t get_prandom_u32(Execution&, std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t);
std::uint64_t get_stackid(Execution&, std::uint64_t, std::uint64_t map, std::uint64_t flags, std::uint64_t,
                          std::uint64_t);

// memory: helpers_memory.cc
std::uint64_t find_readable(Execution&, std::uint64_t address, std::uint64_t size, std::uint64_t, std::uint64_t,
                            std::uint64_t);
std::uint64_t find_writable(Execution&, std::uint64_t address, std::uint64_t size, std::uint64_t, std::uint64_t,
                            std::uint64_t);
std::uint64_t probe_read(Execution&, std::uint64_t to, std::uint64_t size, std::uint64_t from, std::uint64_t,
                         std::uint64_t);
std::uint64_t probe_read_str(Execution&, std::uint64_t to, std::uint64_t size, std::uint64_t from, std::uint64_t,
                             std::uint64_t);

// output: helpers_output.cc
std::uint64_t trace_printk(Execution&, std::uint64_t format, std::uint64_t size, std::uint64_t, std::uint64_t,
                           std::uint64_t);
std::uint64_t perf_event_output(Execution&, std::uint64_t, std::uint64_t map, std::uint64_t flags, std::uint64_t data,
                                std::uint64_t size);
std::uint64_t ringbuf_output(Execution&, std::uint64_t map, std::uint64_t data, std::uint64_t size, std::uint64_t flags,
                             std::uint64_t);
std::uint64_t ringbuf_reserve(Execution&, std::uint64_t map, std::uint64_t size, std::uint64_t flags, std::uint64_t,
                              std::uint64_t);
std::uint64_t ringbuf_submit(Execution&, std::uint64_t record, std::uint64_t flags, std::uint64_t, std::uint64_t,
                             std::uint64_t);
std::uint64_t ringbuf_discard(Execution&, std::uint64_t record, std::uint64_t flags, std::uint64_t, std::uint64_t,
                              std::uint64_t);
std::uint64_t ringbuf_query(Execution&, std::uint64_t map, std::uint64_t flags, std::uint64_t, std::uint64_t,
                            std::uint64_t);

constexpr std::uint64_t answer(std::int64_t result) { return static_cast<std::uint64_t>(result); }

}  // namespace helpers
}  // namespace landtrace::bpf
