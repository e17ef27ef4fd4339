// Whose events a perf event is about: one thread, and with `inherit` those that it makes, and theirs.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "programs/thread_events.hpp"

namespace landtrace::perf {

// Who has made whom since the first event was opened, as the kernel tells it. Where it does not tell (a network
// namespace, an old kernel and another user than root) parents are looked up when a thread is first met.
class Births {
 public:
  Births();

  // Takes what has happened since the last call.
  void catch_up();
  struct Birth {
    std::uint32_t parent;
    // As changes() was behind it.
    std::uint64_t number;
    // 0 where the kernel has told of it.
    std::uint64_t start_ticks;
  };
  // Of a thread that was made since then; nullptr: nothing is known.
  [[nodiscard]] const Birth* find(std::uint32_t tid) const;
  // Grows when a thread began: what was found out about its number before may be wrong.
  [[nodiscard]] std::uint64_t changes() const { return changes_; }
  [[nodiscard]] bool are_told() const { return events_.has_value(); }
  // Where they are not: notes what is below the process now.
  void look_below(std::uint32_t process);

 private:
  std::optional<programs::ThreadEvents> events_;
  std::unordered_map<std::uint32_t, Birth> births_;
  std::uint64_t changes_ = 0;
};

class Target {
 public:
  // `births` must outlive it.
  Target(Births& births, std::uint32_t tid, bool inherits);

  // Whether the thread's events count. `tgid` is its process, 0 where that is not known.
  [[nodiscard]] bool has(std::uint32_t tid, std::uint32_t tgid);
  // Call it now and then: where the kernel does not tell of processes, they are only found while they live.
  void look_around() {
    if (inherits_ && !births_.are_told()) births_.look_below(tid_);
  }
  // Whether none of its threads lives any more.
  [[nodiscard]] bool is_gone();

  // For enable_on_exec: whether the process runs another program than when this was called first.
  [[nodiscard]] bool has_called_exec();

 private:
  void forget_what_may_be_wrong();
  [[nodiscard]] bool find_out(std::uint32_t tid, std::uint32_t tgid) const;
  [[nodiscard]] bool is_inherited(const Births::Birth& birth) const;
  [[nodiscard]] bool is_descendant(std::uint32_t tid) const;
  [[nodiscard]] bool was_begun_below(std::uint32_t tid, std::uint32_t tgid) const;

  Births& births_;
  std::uint32_t tid_;
  bool inherits_;
  // When it was opened: what the thread had made before is not inherited.
  std::uint64_t began_ticks_;
  std::uint64_t births_before_;
  std::uint64_t program_ = 0;
  std::unordered_map<std::uint32_t, bool> known_;
  std::uint64_t changes_seen_ = 0;
};

}  // namespace landtrace::perf
