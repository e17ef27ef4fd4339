// One set of rings of an instance (what it records into, or its snapshot) and what its owner knows of them: from where
// they count since they were cleared, and how far the consuming readers are.
//
// Rings that belong to no CPU (writers without restartable sequences claim them) are shown as that of CPU `claimed ring
// modulo CPUs`, where most of their writers ran: tools look for events under the CPUs that there are.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "buffer/merge.hpp"
#include "domain/domain.hpp"

namespace landtrace::buffer {

inline constexpr std::uint32_t kAllCpus = ~0u;

class Contents;

// A reading that takes nothing away. It ends with what was there when it began.
class Reading {
 public:
  Reading(std::shared_ptr<Contents> contents, std::uint32_t cpu);
  Merge merge;

 private:
  std::shared_ptr<Contents> contents_;  // keeps the rings where they are
  std::deque<RingCursor> cursors_;
};

// The domain must outlive it. Who calls it holds the domain.
class Contents {
 public:
  // `owned`: the rings are given back with this object; else they are the instance's.
  Contents(domain::Domain& domain, const domain::RingPlace& place, bool owned);
  ~Contents();
  Contents(const Contents&) = delete;
  Contents& operator=(const Contents&) = delete;

  [[nodiscard]] domain::RingPlace& place() { return place_; }
  void set_owned(bool owned) { owned_ = owned; }

  // Forgets what is there; writers go on.
  void clear(std::uint32_t cpu);
  // When that was last done to all CPUs (a raw time); 0: never.
  [[nodiscard]] std::uint64_t cleared_at() const { return cleared_at_; }
  void set_overwrite(bool overwrite);

  struct Counts {
    std::uint64_t entries = 0;  // to be read
    std::uint64_t overrun = 0;  // overwritten before they were read
    std::uint64_t dropped = 0;  // found no room
    std::uint64_t read = 0;     // by consuming readers
    std::uint64_t bytes = 0;    // of the entries, in the rings
  };
  // Since the last clear().
  [[nodiscard]] Counts counts(std::uint32_t cpu);
  // The raw time of the oldest entry of a CPU.
  [[nodiscard]] std::optional<std::uint64_t> oldest(std::uint32_t cpu);
  // Bytes in the fullest ring of the CPU that consuming readers have not taken.
  [[nodiscard]] std::uint64_t unread_bytes(std::uint32_t cpu);

  // For consuming readers, who share one position per ring: looks at what is there and puts it into `merge`. What was
  // popped from it is consumed with consumed().
  void consume(std::uint32_t cpu, Merge& merge);
  void consumed();

  // Takes over what `other` holds, as far as `bytes` per ring go. Nobody writes to those rings any more, but for producers
  // that were stopped in the middle of it: their events are counted as overrun.
  void adopt(Contents& other, std::uint64_t bytes, std::weak_ptr<Contents> self);

 private:
  friend class Reading;
  struct Ring {
    ring::Mark base{};                     // of the last clear()
    std::uint64_t discarded = 0;           // then
    std::shared_ptr<const Frozen> frozen;  // what came before the ring
    std::unique_ptr<RingCursor> consumer;  // made at the first consuming read
    Counts before;                         // in the rings that these took over from
    ring::Mark kept{};                     // in discard mode writers leave alone what stands from here on
  };
  struct State;  // of one ring at one moment
  void add_users();
  [[nodiscard]] std::uint32_t cpu_of(std::size_t index) const;
  [[nodiscard]] const std::byte* memory_of(std::size_t index) const;
  [[nodiscard]] State state_of(std::size_t index) const;
  [[nodiscard]] std::uint64_t discarded(std::size_t index) const;
  void clear_ring(std::size_t index);
  [[nodiscard]] std::shared_ptr<const Frozen> freeze(std::size_t index, std::uint64_t bytes, std::uint64_t& gone) const;
  [[nodiscard]] arch::RawClock raw_clock() const { return domain_.clock_line().raw_clock(); }

  domain::Domain& domain_;
  domain::RingPlace place_;
  bool owned_;
  std::uint64_t started_ = 0;  // rings may be older than this object
  std::uint64_t cleared_at_ = 0;
  std::uint32_t cpus_;
  std::uint32_t rings_per_set_;
  std::vector<Ring> rings_;  // those of a user after those of another
};

}  // namespace landtrace::buffer
