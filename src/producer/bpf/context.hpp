// What r1 of a program leads to when it begins, by the program's type. Programs read it and never write to it.
//
//   kEntry       TRACEPOINT        an event's entry, as `format` lays it out. Its first 8 bytes cannot be read
//   kProbed      KPROBE            pt_regs of x86-64, of the place where a probe is
//   kWords       RAW_TRACEPOINT    what whoever runs it by BPF_PROG_TEST_RUN hands over; SOCKET_FILTER: nothing is run
//   kSample      PERF_EVENT        bpf_perf_event_data of a timer: pt_regs, the period, an address
#pragma once

#include <linux/bpf.h>

#include <cstdint>
#include <optional>

#include "base/shared_layout.hpp"

namespace landtrace::bpf {

enum class Context : std::uint32_t { kEntry, kProbed, kWords, kSample };

// The kernel's struct pt_regs, whose first fifteen are those of arch/registers.hpp.
//
//   0    8     …    112  120       128  136  144     152  160  168
//   +----+----+-----+----+---------+----+----+-------+----+----+
//   | r15, r14 … rdi     | orig_ax | ip | cs | flags | sp | ss |
//   +----+----+-----+----+---------+----+----+-------+----+----+
struct ProbedRegisters {
  std::uint64_t general[15];
  std::uint64_t original_ax;
  std::uint64_t ip;
  std::uint64_t cs;
  std::uint64_t flags;
  std::uint64_t sp;
  std::uint64_t ss;
};
LT_SHARED(ProbedRegisters, 168, 8);

struct TimerSample {
  ProbedRegisters registers;
  std::uint64_t period;
  std::uint64_t address;
};
LT_SHARED(TimerSample, 184, 8);

// Of a raw tracepoint.
inline constexpr std::uint32_t kMaxWords = 12;

// From which byte on, and how far, it can be read.
constexpr std::uint32_t context_begin(Context context) { return context == Context::kEntry ? 8 : 0; }
constexpr std::uint32_t context_end(Context context) {
  switch (context) {
    case Context::kProbed:
      return sizeof(ProbedRegisters);
    case Context::kWords:
      return kMaxWords * sizeof(std::uint64_t);
    case Context::kSample:
      return sizeof(TimerSample);
    default:
      return 8192;
  }
}

// Of a bpf_prog_type; nullopt: programs of the type are not run here.
constexpr std::optional<Context> context_of(std::uint32_t type) {
  switch (type) {
    case BPF_PROG_TYPE_TRACEPOINT:
      return Context::kEntry;
    case BPF_PROG_TYPE_KPROBE:
      return Context::kProbed;
    // Libraries try out with socket filters what there is.
    case BPF_PROG_TYPE_SOCKET_FILTER:
    case BPF_PROG_TYPE_RAW_TRACEPOINT:
      return Context::kWords;
    case BPF_PROG_TYPE_PERF_EVENT:
      return Context::kSample;
    default:
      return std::nullopt;
  }
}

}  // namespace landtrace::bpf
