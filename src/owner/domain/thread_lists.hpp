// Whose events an instance takes: set_event_pid, set_event_notrace_pid, and the option event-fork, which lets them
// grow.
#pragma once

#include "domain/plans.hpp"
#include "domain/serving.hpp"
#include "programs/thread_events.hpp"

namespace landtrace::domain {

// Threads by their ids; nullopt: no list.
using Threads = std::optional<std::vector<std::uint32_t>>;

class ThreadLists {
 public:
  ThreadLists(ControlMemory& control, Grace& grace, Instances& instances, Plans& plans, const ServingLink& served_by)
      : control_(control), grace_(grace), instances_(instances), plans_(plans), served_by_(served_by) {}

  // Whose events the instance takes from here on, and whose never; without either it takes everybody's. Lists need not
  // be sorted. ENOSPC.
  Result<void> set(Instance& instance, Threads only, Threads never);
  // Threads that those of the lists make are listed, too, and those that end no more; where the kernel tells of them
  // (as it does root).
  void follow_forks(Instance& instance, bool on);

  // Readable when catch_up() has something to do; -1: nobody follows. Another one each time that somebody begins to.
  [[nodiscard]] int events_fd() const { return events_ ? events_->fd() : -1; }
  void catch_up();
  // Whether the event of a thread that nobody knows is to wait for catch_up(). Any thread may ask. Pairs with the
  // release store in follow_where_wanted().
  [[nodiscard]] bool is_following() const { return __atomic_load_n(&is_following_, __ATOMIC_ACQUIRE); }

 private:
  void follow_where_wanted();

  ControlMemory& control_;
  Grace& grace_;
  Instances& instances_;
  Plans& plans_;
  const ServingLink& served_by_;
  std::optional<programs::ThreadEvents> events_;
  bool is_following_ = false;
};

}  // namespace landtrace::domain
