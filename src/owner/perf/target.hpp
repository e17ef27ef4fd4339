// Whose events a perf event is about: one thread, and with `inherit` those that it makes, and theirs; and when these
// become other programs.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "perf/exec_watch.hpp"
#include "programs/thread_events.hpp"

namespace landtrace::perf {

// Who has made whom, and who has called exec, since the first event was opened, as the kernel tells it. Where it does
// not tell (a network namespace, an old kernel and another user than root) parents are looked up when a thread is first
// met.
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
    // Whether it is another thread of its parent's process; known where the kernel tells.
    bool is_thread = false;
  };
  struct Exec {
    // By CLOCK_MONOTONIC.
    std::uint64_t time_ns;
    // As changes() was behind it.
    std::uint64_t number;
  };
  // Of a thread that was made since then; nullptr: nothing is known.
  [[nodiscard]] const Birth* find(std::uint32_t tid) const;
  // The first exec of a process after the number; nullptr: the kernel has not told of any.
  [[nodiscard]] const Exec* first_exec(std::uint32_t process, std::uint64_t after) const;
  // The process of a thread, by what was told of its birth.
  [[nodiscard]] std::uint32_t process_of(std::uint32_t tid) const;
  // Grows when a thread began or called exec: what was found out about its number before may be wrong.
  [[nodiscard]] std::uint64_t changes() const { return changes_; }
  [[nodiscard]] bool are_told() const { return events_.has_value(); }
  // Where they are not: notes what is below the process now.
  void look_below(std::uint32_t process);

 private:
  std::optional<programs::ThreadEvents> events_;
  std::unordered_map<std::uint32_t, Birth> births_;
  std::unordered_map<std::uint32_t, std::vector<Exec>> execs_;
  std::uint64_t changes_ = 0;
};

class Target {
 public:
  enum class Inherits { kNothing, kThreads, kAll };
  // `births` must outlive it. `watches_exec`: exec_ns() or has_left() will be asked.
  Target(Births& births, std::uint32_t tid, Inherits inherits, bool watches_exec = false);

  // Whether the thread's events count. `tgid` is its process, 0 where that is not known.
  [[nodiscard]] bool has(std::uint32_t tid, std::uint32_t tgid);
  // Call it now and then: where the kernel does not tell of processes, they are only found while they live.
  void look_around() {
    if (inherits_ == Inherits::kAll && !births_.are_told()) births_.look_below(tid_);
  }
  // Whether none of its threads lives any more.
  [[nodiscard]] bool is_gone();

  // For enable_on_exec: when the process called exec first, by CLOCK_MONOTONIC. nullopt: it has not; kSomeTime: it has
  // since the last call, and nobody tells when.
  static constexpr std::uint64_t kSomeTime = 0;
  [[nodiscard]] std::optional<std::uint64_t> exec_ns();
  // For remove_on_exec: whether the thread had become another program by that time, or those that have made it had
  // before they did. Where the kernel does not tell, only the first process is known.
  [[nodiscard]] bool has_left(std::uint32_t tid, std::uint32_t tgid, std::uint64_t time_ns);

 private:
  [[nodiscard]] bool runs_another_program() const;
  void forget_what_may_be_wrong();
  [[nodiscard]] bool find_out(std::uint32_t tid, std::uint32_t tgid) const;
  [[nodiscard]] bool is_inherited(const Births::Birth& birth) const;
  [[nodiscard]] bool is_descendant(std::uint32_t tid) const;
  [[nodiscard]] bool was_begun_below(std::uint32_t tid, std::uint32_t tgid) const;

  Births& births_;
  std::uint32_t tid_;
  Inherits inherits_;
  // When it was opened: what the thread had made before is not inherited.
  std::uint64_t began_ticks_;
  std::uint64_t births_before_;
  std::uint64_t program_ = 0;
  std::optional<ExecWatch> watch_;
  std::unordered_map<std::uint32_t, bool> known_;
  std::uint64_t changes_seen_ = 0;
};

}  // namespace landtrace::perf
