#include "ring/writer.hpp"

#include <sched.h>

#include <algorithm>
#include <optional>

#include "arch/write.hpp"
#include "base/system_call.hpp"

namespace landtrace::ring {
namespace {

using arch::WriteOutcome;
using arch::WriteRequest;

// A debugger that single-steps restarts every sequence for ever; after this many the claimed rings serve.
constexpr int kMaxRestarts = 1000;
// A ring is held for some 100 ns, unless its holder is preempted.
constexpr int kMaxWaits = 50;
// In a ring that is claimed: one that fills up the lap, and some where the consumer makes room meanwhile.
constexpr int kMaxTries = 4;

RingWords* ring_at(const RingSet& rings, std::uint32_t index) {
  return reinterpret_cast<RingWords*>(rings.base + index * rings.geometry.stride);
}

// Where an event is counted that found no room when `consumed` was that.
std::uint64_t* figure_of(RingWords* ring, std::uint64_t consumed) {
  return (consumed & kOddTurn) != 0 ? &ring->discarded_odd : &ring->discarded;
}

// Atomic, as in the rings that are claimed nobody holds the claim here. Not for the ring of a CPU, where
// arch::add_one_rseq_if() counts without a lock prefix.
void count_discarded(RingWords* ring, std::uint64_t consumed) {
  __atomic_fetch_add(figure_of(ring, consumed), 1, __ATOMIC_RELAXED);
}

// What `consumed` is, where there is no room for the record; nullopt: there is by now. The tail is read first: it only
// grows, so the ring was full at the moment when the other was read.
std::optional<std::uint64_t> found_full(const WriteRequest& request) {
  // Pairs with nothing: it keeps the two loads in order.
  const std::uint64_t tail = __atomic_load_n(&request.ring->commit.position, __ATOMIC_ACQUIRE);
  const std::uint64_t consumed = __atomic_load_n(request.consumed, __ATOMIC_RELAXED);
  const auto needed = static_cast<std::int64_t>(tail + request.length - consumed);
  if (needed > static_cast<std::int64_t>(request.size)) return consumed;
  return std::nullopt;
}

std::uint32_t cpu_for(const WriteMode& mode) {
  if (mode.cpu != kOwnCpu) return mode.cpu;
  const int here = ::sched_getcpu();
  return here < 0 ? 0 : static_cast<std::uint32_t>(here);
}

// The record in a ring that nobody else is writing; nullopt: somebody is.
std::optional<WriteResult> write_if_unclaimed(WriteRequest& request, const RingSet& rings, std::uint32_t index,
                                              const WriteMode& mode, std::uint32_t claim) {
  RingWords* const ring = ring_at(rings, index);
  std::uint32_t unclaimed = 0;
  // Pairs with the release store below, and with the exchange in the owner's reap_claims(): the tail that the holder
  // before left is seen.
  if (!__atomic_compare_exchange_n(&ring->claim, &unclaimed, claim, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
    return std::nullopt;
  }
  aim(request, rings, index);
  WriteOutcome outcome = WriteOutcome::kWrapped;
  std::optional<std::uint64_t> full;
  for (int tries = 0; tries < kMaxTries && outcome != WriteOutcome::kCommitted && !full; ++tries) {
    outcome = arch::write_exclusive(request, mode.clock);
    if (outcome == WriteOutcome::kFull) full = found_full(request);
  }
  if (outcome != WriteOutcome::kCommitted) count_discarded(ring, full.value_or(*request.consumed));
  // Pairs with the acquire exchange above, in the next holder, and with the load in Reader::is_claimed().
  __atomic_store_n(&ring->claim, 0, __ATOMIC_RELEASE);
  return outcome == WriteOutcome::kCommitted ? WriteResult::kWritten : WriteResult::kDiscarded;
}

// In one of the claimed rings that belong to a CPU.
std::optional<WriteResult> write_claimed_of(std::uint32_t cpu, WriteRequest& request, const RingSet& rings,
                                            const WriteMode& mode, std::uint32_t claim) {
  for (std::uint32_t number = cpu; number < rings.claimed; number += std::max(rings.cpus, 1u)) {
    if (const auto result = write_if_unclaimed(request, rings, rings.cpus + number, mode, claim)) return result;
  }
  return std::nullopt;
}

// Claims a ring that nobody else is writing: one of the CPU's own, or else of the next CPU's. A holder that died keeps
// its claim until the owner of the domain frees it (reaper.cc); the others serve meanwhile. If all are taken the event
// is counted as discarded: a signal handler must not wait for the thread that it interrupted.
WriteResult write_claimed(WriteRequest& request, const RingSet& rings, const WriteMode& mode, std::uint32_t claim) {
  const std::uint32_t cpus = std::max(rings.cpus, 1u);
  const std::uint32_t cpu = cpu_for(mode) % cpus;
  // Who writes for another thread is no signal handler. It waits a little, so that the CPU is the right one.
  for (int waits = mode.cpu == kOwnCpu ? 0 : kMaxWaits; waits > 0; --waits) {
    if (const auto result = write_claimed_of(cpu, request, rings, mode, claim)) return *result;
    system_call(SYS_sched_yield);
  }
  for (std::uint32_t i = 0; i < cpus; ++i) {
    if (const auto result = write_claimed_of((cpu + i) % cpus, request, rings, mode, claim)) return *result;
  }
  const std::uint32_t index = rings.cpus + cpu % rings.claimed;
  count_discarded(ring_at(rings, index), rings.consumed[index]);
  return WriteResult::kDiscarded;
}

// Whether the record is counted as discarded, in the ring of this CPU that it is aimed at. False: there is room by now,
// or this is another CPU.
bool discard_on_cpu(const WriteRequest& request, const RingSet& rings, const WriteMode& mode) {
  const auto cpu = static_cast<std::uint32_t>(request.consumed - rings.consumed);
  const std::optional<std::uint64_t> full = found_full(request);
  return full && arch::add_one_rseq_if(request.consumed, *full, figure_of(request.ring, *full), mode.area, cpu) ==
                     WriteOutcome::kCommitted;
}

}  // namespace

WriteResult write_after(WriteOutcome first, WriteRequest& request, const RingSet& rings, const WriteMode& mode,
                        std::uint32_t claim) {
  if (mode.area == nullptr) return write_claimed(request, rings, mode, claim);
  WriteOutcome outcome = first;
  // The thread may lose its area while it tries: to client/tsc_guard.cc.
  for (int attempts = 0; attempts < kMaxRestarts && mode.area != nullptr; ++attempts) {
    if (outcome == WriteOutcome::kCommitted) return WriteResult::kWritten;
    if (outcome == WriteOutcome::kFull && discard_on_cpu(request, rings, mode)) return WriteResult::kDiscarded;
    // A CPU that was added after the domain was made has no ring.
    if (mode.area->cpu_id_start >= rings.cpus) break;
    outcome = write_at_once(request, rings, mode, TimeOfWrite{});
  }
  return write_claimed(request, rings, mode, claim);
}

}  // namespace landtrace::ring
