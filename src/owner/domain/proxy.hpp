// The owner's own place in the data plane: events on behalf of programs that come through the mounted file system, or
// that write to a file past the shim (a raw system call, stdio's own write, a shell's printf >&3).
#pragma once

#include <sys/uio.h>

#include <optional>
#include <span>
#include <unordered_map>

#include "domain/domain.hpp"
#include "programs/sender_names.hpp"
#include "programs/thread_cpus.hpp"
#include "plan/emit.hpp"

namespace landtrace::domain {

// One per thread, and always used from it.
class Proxy {
 public:
  explicit Proxy(Domain& domain) : domain_(domain) {}
  ~Proxy();
  Proxy(const Proxy&) = delete;
  Proxy& operator=(const Proxy&) = delete;

  // What thread `tid` of user `uid` wrote to a user_events_data file: recorded as that thread's, in its user's rings
  // and under the CPU that it last ran on (where it made the call, if it waits for the answer). The bytes taken, or a
  // negative errno as of plan::write_file(). Enters the domain at a user's first event only.
  ssize_t write(FileId file, std::uint32_t tid, std::uint32_t uid, std::span<const iovec> vectors);

  // Records in one instance alone, whoever listens to what: trace_marker, inject. Where the event does more in it (its
  // triggers, filters) it does all of that; `unseen`: View::unseen. The caller holds the domain. ENOSPC where the user
  // has no place; nothing happens while the instance does not trace.
  Result<void> record(const Instance& instance, std::uint32_t event_slot, std::uint32_t tid, std::uint32_t uid,
                      std::span<const ring::Segment> segments, std::uint32_t unseen = 0);

 private:
  struct Place {
    plan::View view;
    plan::Thread thread;
    std::uint64_t program_budget;  // of the event that is being written
    const User* user;              // who has that index now
    std::uint64_t serial;          // of who had it then
  };
  // The calling thread's place in that user's segment; nullptr when there is none.
  Place* place_of(std::uint32_t uid);
  // The same, to write there for that thread.
  Place* place_for(std::uint32_t tid, std::uint32_t uid);

  Domain& domain_;
  std::unordered_map<std::uint32_t, Place> places_;  // by uid
  plan::ThreadSlot* slot_ = nullptr;                 // the same for all users, and in none's memory
  programs::SenderNames names_;
  programs::ThreadCpus cpus_;
};

}  // namespace landtrace::domain
