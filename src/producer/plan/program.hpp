// An eBPF program among the triggers of an event.
#pragma once

#include <optional>

#include "bpf/program.hpp"
#include "plan/emit.hpp"

namespace landtrace::plan {

inline const bpf::Program& program_of(const View& view, const Trigger& trigger) {
  return *control_at<bpf::Program>(view, trigger.target);
}

// Runs it in programs of the user whose it is. The caller is inside a Section. Async-signal-safe; takes some 1.5 KiB of
// stack, and 3.5 more for subprograms, or for an event that was written in several pieces.
// `segment_count` is without those that are View::unseen.
void run_bpf(const View& view, const Thread& thread, const bpf::Program& program, const Segment* segments,
             std::uint32_t segment_count);

// Runs it for whoever asks, with `size` bytes as its context: what there is from context_begin() on. nullopt: it is
// another user's. The caller is inside a Section.
std::optional<std::uint64_t> run_bpf_on(const View& view, const Thread& thread, const bpf::Program& program,
                                        const std::byte* context, std::uint64_t size);

}  // namespace landtrace::plan
