// Open user_events_data files: each has write indices of its own, and refers to the events behind them.
#pragma once

#include <deque>
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

  // EMFILE beyond plan::kMaxFiles, and beyond `limit` files of this user.
  Result<FileId> open(std::uint32_t uid, std::uint32_t limit = plan::kMaxFiles);
  void close(FileId file);

  // EBADF for a file that is not open. Who has the descriptor may use the file, as in the kernel: a process that has
  // changed its user, one of another user that was given it. So the generation is a number that nobody guesses.
  Result<void> check(FileId file) const;
  // The same, and EINVAL where what is written to the file has the other form: a write index first, or in a plain file
  // none.
  enum class Form { kIndexed, kPlain };
  Result<void> check(FileId file, Form form) const;
  // The event's write index in the file: the one it has already, or a new one, which refers to the event.
  Result<std::uint32_t> add_event(FileId file, Event& event);
  // What is written to the file is this event's payload from here on: a plain file. Refers to the event, and to those that
  // it was for before, until it is closed.
  Result<void> set_plain_event(FileId file, Event& event);

 private:
  struct File {
    std::uint32_t generation = 0;  // 0: not open
    std::uint32_t uid = 0;
    std::vector<std::uint32_t> events;                          // by write index
    std::unordered_map<std::uint32_t, std::uint32_t> index_of;  // event slot to write index
    std::size_t capacity = 0;                                   // of the published table
    bool plain = false;
  };
  void publish_table(FileId file, std::uint32_t table);
  Result<void> grow(FileId file);

  ControlMemory& control_;
  Grace& grace_;
  Events& events_;
  std::vector<File> files_;
  std::deque<std::uint32_t> free_;
  std::unordered_map<std::uint32_t, std::uint32_t> open_of_;  // by uid
};

}  // namespace landtrace::domain
