// Open user_events_data files: each has write indices of its own, and refers to the events behind them.
#pragma once

#include <deque>
#include <map>
#include <unordered_map>
#include <vector>

#include "domain/events.hpp"

namespace landtrace::domain {

struct FileId {
  std::uint32_t slot = 0;
  std::uint32_t generation = 0;

  friend bool operator==(const FileId&, const FileId&) = default;
};

class Files {
 public:
  Files(ControlMemory& control, Grace& grace, Events& events) : control_(control), grace_(grace), events_(events) {}

  // EMFILE beyond plan::kMaxFiles, and beyond `limit` files of this user. `opener` is the process that opens it, 0
  // where that is not known.
  Result<FileId> open(std::uint32_t uid, std::uint32_t limit = plan::kMaxFiles, std::uint32_t opener = 0);
  // One who has it open has it no more; after the last one the file is gone.
  void close(FileId file);

  // Where files are written down from here on.
  void keep(Journal* journal) { journal_ = journal; }
  // A file of an earlier owner, its events in the order of its write indices (nullptr: one that is gone). Nobody has it
  // open yet: it waits for the `keepers`, of whom each is there once.
  Result<FileId> restore(const SavedFile& saved, const std::vector<Event*>& events, std::vector<ProcessId> keepers);
  // A process comes back for a restored file, which it need not wait for any more. EBADF for any other.
  Result<void> reopen(FileId file, std::uint32_t pid);
  // It has given up before it heard so, and will come back again.
  void await_again(FileId file, std::uint32_t pid);
  // Files wait no more for processes that are gone, and go themselves where they waited only for those.
  void drop_dead_keepers();
  // How many the user has open.
  [[nodiscard]] std::uint32_t count_of(std::uint32_t uid) const {
    const auto own = open_of_.find(uid);
    return own == open_of_.end() ? 0 : own->second;
  }
  // How many write indices the user's open files have, together.
  [[nodiscard]] std::uint32_t indices_of(std::uint32_t uid) const {
    const auto own = indices_of_.find(uid);
    return own == indices_of_.end() ? 0 : own->second;
  }
  // Whose an open file is.
  [[nodiscard]] std::uint32_t user_of(FileId file) const { return files_[file.slot].uid; }
  [[nodiscard]] bool is_any_open() const { return !open_of_.empty(); }
  // The processes that files wait for.
  [[nodiscard]] std::vector<std::uint32_t> keepers() const;

  // EBADF for a file that is not open.
  Result<void> check(FileId file) const;
  // Who has the descriptor may use the file, as in the kernel: a process that has changed its user, one of another user
  // that was given it. They know by its key, a number that nobody guesses; the generation stands in the control
  // segment.
  [[nodiscard]] std::uint64_t key_of(FileId file) const { return files_[file.slot].key; }
  // The same, and EINVAL where what is written to the file has the other form: a write index first, or in a plain file
  // none.
  enum class Form { kIndexed, kPlain };
  Result<void> check(FileId file, Form form) const;
  // The event's write index in the file: the one it has already, or a new one, which refers to the event. ENOMEM, as
  // where the kernel has no memory for it, beyond `limit` of the file's user.
  static constexpr std::uint32_t kNoLimit = ~0u;
  Result<std::uint32_t> add_event(FileId file, Event& event, std::uint32_t limit = kNoLimit);
  // What is written to the file is this event's payload from here on: a plain file. Refers to the event, and to those
  // that it was for before, until it is closed. ENOMEM as above.
  Result<void> set_plain_event(FileId file, Event& event, std::uint32_t limit = kNoLimit);

 private:
  struct File {
    std::uint32_t generation = 0;  // 0: not open
    std::uint32_t uid = 0;
    std::uint64_t key = 0;
    std::vector<std::uint32_t> events;                          // by write index
    std::unordered_map<std::uint32_t, std::uint32_t> index_of;  // event slot to write index
    std::size_t capacity = 0;                                   // of the published table
    bool plain = false;
    unsigned open_by = 1;  // connections that stand for it
    bool restored = false;
    std::vector<ProcessId> keepers;  // of a restored one: processes that may have it open, and have not come back yet
    ProcessId opener;
  };
  Result<void> restore_events(FileId file, bool plain, const std::vector<Event*>& events);
  void write_down(std::uint32_t slot);
  void close_unused(std::uint32_t slot);
  void wait_for(std::uint32_t slot, const ProcessId& keeper);
  void publish_table(FileId file, std::uint32_t table);
  Result<void> grow(FileId file);
  [[nodiscard]] Result<void> check_room(const File& file, std::uint32_t limit) const;
  void append_event(File& file, Event& event);

  ControlMemory& control_;
  Grace& grace_;
  Events& events_;
  std::vector<File> files_;
  std::deque<std::uint32_t> free_;
  // The files that may wait for a process, so that each process is looked at once. Pid and start, then slots.
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::vector<std::uint32_t>> waiting_for_;
  std::unordered_map<std::uint32_t, std::uint32_t> open_of_;     // by uid
  std::unordered_map<std::uint32_t, std::uint32_t> indices_of_;  // by uid
  Journal* journal_ = nullptr;
};

}  // namespace landtrace::domain
