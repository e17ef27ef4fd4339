// One set of rings of an instance (it records into them, or they are its snapshot), and what the owner keeps about
// them: where each began when it was last cleared, and how far the consuming readers are.
//
// Some rings are claimed by writers, who need not run on the CPU that the ring belongs to: ring::cpu_of_ring().
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "buffer/merge.hpp"
#include "domain/instances.hpp"

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

// The domain must outlive it. The caller holds the domain.
class Contents {
 public:
  // `owned`: this object gives the rings back when it goes; else they are the instance's.
  Contents(const domain::Users& users, domain::Instances& instances, domain::Grace& grace,
           const domain::RingPlace& place, bool owned);
  ~Contents();
  Contents(const Contents&) = delete;
  Contents& operator=(const Contents&) = delete;

  [[nodiscard]] domain::RingPlace& place() { return place_; }
  void set_owned(bool owned) { owned_ = owned; }

  // Forgets what is in the rings, without touching them: writers go on.
  void clear(std::uint32_t cpu);
  // When that was last done to all CPUs (a raw time); 0: never.
  [[nodiscard]] std::uint64_t cleared_at() const { return cleared_at_; }
  void set_overwrite(bool overwrite);
  // The user with this index goes; somebody else's rings will be in the same place.
  void user_goes(std::uint32_t user);

  struct Counts {
    std::uint64_t entries = 0;  // to be read
    std::uint64_t overrun = 0;  // overwritten before they were read
    std::uint64_t dropped = 0;  // there was no room for them
    std::uint64_t read = 0;     // by consuming readers
    std::uint64_t bytes = 0;    // of the entries, in the rings
  };
  // Since the last clear().
  [[nodiscard]] Counts counts(std::uint32_t cpu);
  // The raw time of the oldest entry of a CPU.
  [[nodiscard]] std::optional<std::uint64_t> oldest(std::uint32_t cpu);
  // Bytes in the fullest ring of the CPU that consuming readers have not taken.
  [[nodiscard]] std::uint64_t unread_bytes(std::uint32_t cpu);

  // For consuming readers, which share one position per ring: puts what there is into `merge`. What the caller pops
  // from it is gone for all of them; consumed() gives its room back to the writers.
  void consume(std::uint32_t cpu, Merge& merge);
  void consumed();

  // Copies what `other` holds, the newest `bytes` of each ring, in order with what producers have written here since.
  // No event begins in those rings any more. A producer that was stopped in the middle of one may still finish it
  // there; such events are counted as overrun.
  void adopt(Contents& other, std::uint64_t bytes, std::weak_ptr<Contents> self);

 private:
  friend class Reading;
  struct Ring {
    // Where the ring was at the last clear(), and how many events it had discarded then.
    ring::Mark base{};
    ring::Discarded discarded{};
    // Records that are older than the ring: see adopt().
    std::shared_ptr<const Frozen> frozen;
    // Made at the first consuming read.
    std::unique_ptr<RingCursor> consumer;
    // What the rings counted that these were adopted from.
    Counts before;
    // In discard mode writers overwrite nothing from here on.
    ring::Mark kept{};
  };
  // Of one ring at one moment.
  struct State;
  void add_users();
  [[nodiscard]] std::uint32_t cpu_of(std::size_t index) const;
  [[nodiscard]] const std::byte* memory_of(std::size_t index) const;
  [[nodiscard]] State state_of(std::size_t index) const;
  [[nodiscard]] bool is_plausible(ring::Mark base, ring::Mark end, std::uint64_t dropped) const;
  [[nodiscard]] ring::Discarded discarded(std::size_t index) const;
  void clear_ring(std::size_t index);
  [[nodiscard]] RingCursor cursor_of(std::size_t index, const State& state) const;
  void adopt_ring(std::size_t index, const Contents& other, const State& old, std::uint64_t bytes);
  [[nodiscard]] arch::RawClock raw_clock() const { return instances_.raw_clock(); }

  const domain::Users& users_;
  domain::Instances& instances_;
  domain::Grace& grace_;
  domain::RingPlace place_;
  bool owned_;
  // No record is taken to be older than this; 0, since rings may be older than this object.
  std::uint64_t started_ = 0;
  std::uint64_t cleared_at_ = 0;
  std::uint32_t cpus_;
  std::uint32_t rings_per_set_;
  std::vector<Ring> rings_;  // those of a user after those of another
};

}  // namespace landtrace::buffer
