// Enable words: bits in the memory of unmodified programs that say whether anybody listens to an event.
//
// A word belongs to an address space, not to a file: it is kept, and keeps its event, until it is unregistered or
// the address space goes (exec, exit), also after the file was closed; fork duplicates it. Processes under the shim
// announce their children (duplicate()); those of others are found out (follow_forks()), by the kernel's telling or, where it
// does not, by looking at all processes there are.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <unordered_map>
#include <vector>

#include "domain/events.hpp"
#include "programs/families.hpp"
#include "programs/foreign_memory.hpp"
#include "programs/process_events.hpp"

namespace landtrace::domain {

using programs::EnableBit;
using programs::Identity;

class EnableWords {
 public:
  explicit EnableWords(Events& events) : events_(events) {}

  // EADDRINUSE where this bit of this word is registered already, but for the same claim: a program asks again when its
  // owner died before the answer. What came through a mount of an earlier owner may be registered again, too.
  Result<void> check_unused(std::uint32_t pid, Identity client, EnableBit bit, std::uint64_t claim = 0);
  // Registers the bit and sets it to what the event is now. ENOMEM where the process could not write there.
  // `claim`: where the process says that the word is registered, see ipc::Claim; 0: nowhere.
  Result<void> add(std::uint32_t pid, Identity client, EnableBit bit, Event& event, std::uint64_t claim = 0);
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

  // Where words are written down from here on.
  void keep(Journal* journal) { journal_ = journal; }
  // The words of a process of an earlier owner, each with its event (nullptr: one that is gone), set to what the events are
  // now. ESRCH where the process is another by now. What the process has given up meanwhile is left alone.
  Result<void> restore(const SavedProcess& saved, const std::vector<Event*>& events);
  // The number of the program that the process runs, see AddressSpace::identity; 0 where it cannot be told.
  std::uint64_t program_of(std::uint32_t pid, Identity client);

  // The process's memory where it is known; else nullptr. EPERM where it is another user's.
  Result<std::shared_ptr<programs::AddressSpace>> known_space(std::uint32_t pid, Identity client);
  // The memory that a process has which comes to have words, unless it is known: it need not be opened here, which may take
  // long. EPERM as above.
  Result<void> know(const std::shared_ptr<programs::AddressSpace>& space, Identity client);

  // Told of each process that has words or comes to have some: somebody is to call sweep() soon after it has ended.
  void set_watcher(std::function<void(std::uint32_t pid)> watcher);

  // From here on children of the process are found without their announcing themselves. The process must be in the middle of a
  // request.
  Result<void> follow_forks(std::uint32_t pid, Identity client);
  // Whether the kernel tells of forks; otherwise children are looked for.
  [[nodiscard]] bool is_told_of_forks() const { return fork_events_.has_value(); }
  [[nodiscard]] bool has_followed() const { return followed_ > 0; }

  // Brings all words of these events up to date; returns when they are.
  void refresh(const std::vector<Event*>& events);
  // Drops the words of address spaces that are gone, and the references they held. True: some of them wait for a
  // child yet.
  bool sweep();
  // Clears every word: the domain ends.
  void clear_all();

  [[nodiscard]] bool has_words() const;
  [[nodiscard]] bool has_process(std::uint32_t pid) const { return processes_.contains(pid); }
  [[nodiscard]] std::vector<std::uint32_t> processes() const;

 private:
  struct BitHash {
    std::size_t operator()(EnableBit bit) const { return bit.address * 64 + bit.bit; }
  };
  struct Word {
    std::uint32_t event;  // its slot
    std::uint64_t since_ticks;
    std::uint64_t claim;  // see ipc::Claim; 0: none
    // It came through an earlier owner's mount, whose files are of no use any more: its process may register it anew.
    bool is_left = false;
  };
  using Words = std::unordered_map<EnableBit, Word, BitHash>;
  struct Process {
    Identity who;
    std::shared_ptr<programs::AddressSpace> space;
    Words words;
    unsigned expected_children = 0;
    std::chrono::steady_clock::time_point gone{};  // when that was first seen
    std::optional<programs::Ancestor> family;                // where its forks are followed
  };
  // The process if it is there and its address space is the one that it was; what was left of an earlier one is dropped.
  Result<Process*> find_process(std::uint32_t pid, Identity client);
  // The process's address space as it is now; words of an earlier one under the same pid are dropped.
  // EPERM where it is another user's.
  Result<Process*> process(std::uint32_t pid, Identity client);
  Process* remember(std::shared_ptr<programs::AddressSpace> space, Identity client);
  static bool has_become(Process& process, Identity client);
  void insert(Process& process, EnableBit bit, Word word, Event& event);
  void forget(Process& process, Words::iterator word);
  void erase(std::uint32_t pid);
  static constexpr std::uint64_t kAnyTime = ~0ull;
  // Registers copies of what `from` had at `ticks`, and brings them up to date.
  void copy_words(const Words& from, Process& to, std::uint64_t ticks);

  // -- of those whose forks are followed (enable_words_forks.cc) --
  // Takes note of the forks until now. Where they are not told, those of one process that is about to change its words, or
  // that which made the process...
  void catch_up(std::uint32_t pid);
  // ... or of all: before what is known of a process is dropped, and after a change that must reach all of them.
  void catch_up();
  [[nodiscard]] bool is_relative(std::uint32_t pid) const;
  // What the kernel has told. False if that is not all.
  bool catch_up_by_events();
  void catch_up_by_looking(const std::vector<programs::TaskStat>& tasks);
  // False where the child has no copy of its own of its ancestor's words, or not any more.
  bool adopt(std::uint32_t ancestor, std::uint32_t child, std::uint64_t born_ticks);
  static bool is_copy(const Process& parent, std::uint32_t child);
  // The process that has the words of a vfork child; otherwise 0.
  [[nodiscard]] std::uint32_t sharer_of(std::uint32_t pid) const;

  Events& events_;
  programs::ForeignMemory memory_;
  Journal* journal_ = nullptr;
  std::function<void(std::uint32_t)> watcher_;
  std::unordered_map<std::uint32_t, Process> processes_;
  std::size_t followed_ = 0;  // of them
  std::optional<programs::ProcessEvents> fork_events_;
};

}  // namespace landtrace::domain
