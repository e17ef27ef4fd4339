// Enable words: bits in the memory of unmodified programs that say whether anybody listens to an event.
//
// A word belongs to an address space, not to a file: it is kept, and keeps its event, until it is unregistered or
// the address space goes (exec, exit), also after the file was closed; fork duplicates it.
#pragma once

#include <chrono>
#include <unordered_map>
#include <vector>

#include "domain/events.hpp"
#include "domain/foreign_memory.hpp"

namespace landtrace::domain {

class EnableWords {
 public:
  explicit EnableWords(Events& events) : events_(events) {}

  // EADDRINUSE where this bit of this word is registered already.
  Result<void> check_unused(std::uint32_t pid, Identity client, EnableBit bit);
  // Registers the bit and sets it to what the event is now. ENOMEM where the process could not write there.
  Result<void> add(std::uint32_t pid, Identity client, EnableBit bit, Event& event);
  // Clears the bit as the process itself would: EFAULT where it could not, but the registration goes in any case.
  // ENOENT if it is not registered.
  Result<void> remove(std::uint32_t pid, Identity client, EnableBit bit);

  // Opens the process's memory now, because it may not be allowed later: a process that drops its rights becomes
  // inaccessible to the user that it then is.
  void remember(std::uint32_t pid, Identity client);
  // The process is about to fork. If it ends before the child has come forward its words wait a second for that.
  // EPERM for another user's.
  Result<void> expect_child(std::uint32_t pid, Identity client);
  // `child` was forked from `parent` and has copies of its words: they are registered for it, too, and brought
  // up to date. EPERM where the parent is another user's.
  Result<void> duplicate(std::uint32_t parent, std::uint32_t child, Identity client);

  // The process's memory for a request of its own; kept if it has words. EPERM where it is another user's.
  Result<std::shared_ptr<AddressSpace>> space(std::uint32_t pid, Identity client);
  [[nodiscard]] ForeignMemory& memory() { return memory_; }

  // Told of each process that comes to have words: somebody is to call sweep() soon after it has ended.
  void set_watcher(std::function<void(std::uint32_t pid)> watcher) { watcher_ = std::move(watcher); }

  // Brings all words of these events up to date; returns when they are.
  void refresh(const std::vector<Event*>& events);
  // Drops the words of address spaces that are gone, and the references they held. True: some of them wait for a
  // child yet.
  bool sweep();
  // Clears every word: the domain ends.
  void clear_all();

  [[nodiscard]] bool has_process(std::uint32_t pid) const { return processes_.contains(pid); }

 private:
  struct BitHash {
    std::size_t operator()(EnableBit bit) const { return bit.address * 64 + bit.bit; }
  };
  using Words = std::unordered_map<EnableBit, std::uint32_t, BitHash>;  // to the event's slot
  struct Process {
    Identity who;
    std::shared_ptr<AddressSpace> space;
    Words words;
    unsigned expected_children = 0;
    std::chrono::steady_clock::time_point gone{};  // when that was first seen
  };
  // The process if it is there and its address space is the one that it was; what was left of an earlier one is dropped.
  Result<Process*> find_process(std::uint32_t pid, Identity client);
  // The process's address space as it is now; words of an earlier one under the same pid are dropped.
  // EPERM where it is another user's.
  Result<Process*> process(std::uint32_t pid, Identity client);
  static bool has_become(Process& process, Identity client);
  void forget(Process& process);

  Events& events_;
  ForeignMemory memory_;
  std::function<void(std::uint32_t)> watcher_;
  std::unordered_map<std::uint32_t, Process> processes_;
};

}  // namespace landtrace::domain
