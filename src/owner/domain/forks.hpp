// The children of processes with enable words that do not announce themselves: each has copies of its parent's words.
//
// The kernel tells whoever listens of every fork, and what it tells is looked at before anything that depends on it.
// Where it tells nothing (no right to listen, another network namespace) or has told too much at once, all processes
// that there are are looked at instead.
#pragma once

#include "domain/word_processes.hpp"
#include "programs/process_events.hpp"
#include "programs/task.hpp"

namespace landtrace::domain {

class Forks {
 public:
  Forks(WordProcesses& processes, programs::ForeignMemory& memory) : processes_(processes), memory_(memory) {}

  // From here on the children of the process are found. The process must be in the middle of a request.
  void follow(WordProcess& process);
  // The process is known no more, nor are its words.
  void forget(std::uint32_t pid);

  // Takes note of the forks until now. Where they are not told, those of one process that is about to change its words,
  // or that which made the process...
  void catch_up(std::uint32_t pid);
  // ... or of all: before what is known of a process is dropped, and after a change that must reach all of them.
  void catch_up();

 private:
  [[nodiscard]] bool is_relative(std::uint32_t pid) const;
  // What the kernel has told. False if that is not all.
  bool catch_up_by_events();
  void catch_up_by_looking(const std::vector<programs::TaskStat>& tasks);
  // False where the child has no copy of its own of its ancestor's words, or not any more.
  bool adopt(std::uint32_t ancestor, std::uint32_t child, std::uint64_t born_ticks);

  WordProcesses& processes_;
  programs::ForeignMemory& memory_;
  std::size_t followed_ = 0;  // of the processes
  std::optional<programs::ProcessEvents> events_;
};

}  // namespace landtrace::domain
