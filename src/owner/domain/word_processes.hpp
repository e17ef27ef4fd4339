// The processes that have enable words, or are about to, and the words of each.
//
// A word belongs to an address space, not to a process id: where a process has called exec, or its id is another's by
// now, what is known of it is dropped.
#pragma once

#include <chrono>
#include <optional>
#include <unordered_map>
#include <vector>

#include "domain/descriptors.hpp"
#include "domain/events.hpp"
#include "domain/serving.hpp"
#include "programs/families.hpp"
#include "programs/foreign_memory.hpp"

namespace landtrace::domain {

using programs::AddressSpace;
using programs::EnableBit;
using programs::Identity;

struct EnableBitHash {
  std::size_t operator()(EnableBit bit) const { return bit.address * 64 + bit.bit; }
};

struct EnableWord {
  std::uint32_t event;  // its slot
  std::uint64_t since_ticks;
  std::uint64_t claim;  // see ipc::Claim; 0: none
  // It came through an earlier owner's mount, whose files are of no use any more: its process may register it anew.
  bool is_left = false;
  std::uint32_t uid = 0;  // whose the process was when the word was registered
};
using EnableWordsByBit = std::unordered_map<EnableBit, EnableWord, EnableBitHash>;

struct WordProcess {
  Identity who;
  std::shared_ptr<AddressSpace> space;
  EnableWordsByBit words;
  unsigned expected_children = 0;
  std::chrono::steady_clock::time_point gone{};  // when that was first seen
  std::optional<programs::Ancestor> family;      // where its forks are followed
  std::uint32_t counted_for = 0;                 // whose descriptors it takes
};

class WordProcesses {
 public:
  using ByPid = std::unordered_map<std::uint32_t, WordProcess>;

  WordProcesses(Events& events, programs::ForeignMemory& memory, const ServingLink& served_by, Descriptors& descriptors)
      : events_(events), memory_(memory), served_by_(served_by), descriptors_(descriptors) {}

  // Where words are written down from here on.
  void keep(Journal* journal) { journal_ = journal; }

  [[nodiscard]] ByPid& all() { return processes_; }
  [[nodiscard]] const ByPid& all() const { return processes_; }
  // nullptr: it is not known.
  [[nodiscard]] WordProcess* find(std::uint32_t pid);
  // A process that has the memory: whoever serves the domain watches it from here on. EMFILE where its user has as many
  // as one may.
  Result<WordProcess*> add(std::shared_ptr<AddressSpace> space, Identity who);
  // The process is known no more; its words are, no more than the references that they held.
  void erase(std::uint32_t pid);

  // What one user may register.
  static constexpr std::size_t kMaxWordsOfUser = 1 << 18;
  [[nodiscard]] std::size_t words_of(std::uint32_t uid) const {
    const auto own = words_of_.find(uid);
    return own == words_of_.end() ? 0 : own->second;
  }
  [[nodiscard]] bool may_have_more(std::uint32_t uid) const { return words_of(uid) < kMaxWordsOfUser; }
  [[nodiscard]] std::size_t room_of(std::uint32_t uid) const {
    return may_have_more(uid) ? kMaxWordsOfUser - words_of(uid) : 0;
  }
  // Registers the word, unless the bit has one. Its value is the caller's to write.
  void insert(WordProcess& process, EnableBit bit, EnableWord word, Event& event);
  void forget(WordProcess& process, EnableWordsByBit::iterator word);
  static constexpr std::uint64_t kAnyTime = ~0ull;
  // Registers copies of what `from` had at `ticks`, and brings them up to date.
  void copy_words(const EnableWordsByBit& from, WordProcess& to, std::uint64_t ticks);
  // Every word whose event is wanted has the value that the event has now; `wanted` is by slot.
  void refresh(const std::vector<bool>& wanted);
  // Brings all words up to date of those who have missed a change and answer again; what waits behind those that do
  // not answer goes on.
  void make_up();

 private:
  // Whoever serves the domain is told where one has missed its change, or will have it later.
  void set_all(std::vector<programs::ForeignMemory::Change> changes);

  Events& events_;
  programs::ForeignMemory& memory_;
  const ServingLink& served_by_;
  Descriptors& descriptors_;
  std::unordered_map<std::uint32_t, std::size_t> words_of_;  // how many, by uid
  Journal* journal_ = nullptr;
  ByPid processes_;
};

}  // namespace landtrace::domain
