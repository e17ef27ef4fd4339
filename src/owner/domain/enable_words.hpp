// Enable words: bits in the memory of unmodified programs that say whether anybody listens to an event.
//
// A word belongs to an address space, not to a file: it is kept, and keeps its event, until it is unregistered or
// the address space goes (exec, exit), also after the file was closed; fork duplicates it. Processes under the shim
// announce their children (duplicate()); those of others are found out (follow_forks(), see forks.hpp).
#pragma once

#include "domain/forks.hpp"

namespace landtrace::domain {

class EnableWords {
 public:
  EnableWords(Events& events, const ServingLink& served_by, Descriptors& descriptors)
      : events_(events), processes_(events, memory_, served_by, descriptors), forks_(processes_, memory_) {}

  // Who runs the domain, and is waited for longer than others.
  void set_owner(std::uint32_t uid) { memory_.set_owner(uid); }

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
  void keep(Journal* journal) { processes_.keep(journal); }
  // The words of a process of an earlier owner, each with its event (nullptr: one that is gone), set to what the events
  // are now. ESRCH where the process is another by now. What the process has given up meanwhile is left alone.
  Result<void> restore(const SavedProcess& saved, const std::vector<Event*>& events);
  // The number of the program that the process runs, see AddressSpace::identity; 0 where it cannot be told.
  std::uint64_t program_of(std::uint32_t pid, Identity client);

  // The process's memory where it is known; else nullptr. EPERM where it is another user's.
  Result<std::shared_ptr<programs::AddressSpace>> known_space(std::uint32_t pid, Identity client);
  // The memory that a process has which comes to have words, unless it is known: it need not be opened here, which may
  // take long. EPERM as above.
  Result<void> know(const std::shared_ptr<programs::AddressSpace>& space, Identity client);

  // From here on children of the process are found without their announcing themselves. The process must be in the
  // middle of a request.
  Result<void> follow_forks(std::uint32_t pid, Identity client);

  // Brings all words of these events up to date; returns when they are.
  void refresh(const std::vector<Event*>& events);
  // Words of programs whose memory did not answer, and does now, get what they have missed; and what nobody waits for
  // goes on without those that do not answer.
  void make_up() { processes_.make_up(); }
  // Whether anything is to be done so: make_up() is to be called every now and then.
  [[nodiscard]] bool any_unfinished() const { return memory_.any_missed() || memory_.is_at_work(); }
  // Drops the words of address spaces that are gone, and the references they held. True: some of them wait for a
  // child yet.
  bool sweep();
  // Clears every word: the domain ends.
  void clear_all();

  [[nodiscard]] bool has_words() const;
  [[nodiscard]] std::size_t words_of(std::uint32_t uid) const { return processes_.words_of(uid); }
  [[nodiscard]] bool has_process(std::uint32_t pid) const { return processes_.all().contains(pid); }
  [[nodiscard]] std::vector<std::uint32_t> processes() const;

 private:
  // The process if it is there and its address space is the one that it was; what was left of an earlier one is
  // dropped. EPERM where it is another user's.
  Result<WordProcess*> find_process(std::uint32_t pid, Identity client);
  // The process with its address space as it is now.
  Result<WordProcess*> process(std::uint32_t pid, Identity client);
  // The process that has the words of a vfork child; otherwise nullptr.
  [[nodiscard]] WordProcess* find_sharer(std::uint32_t pid, Identity client);

  Events& events_;
  programs::ForeignMemory memory_;
  WordProcesses processes_;
  Forks forks_;
};

}  // namespace landtrace::domain
