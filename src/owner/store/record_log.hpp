// A map of keys to values that outlives its process in a file: each change is appended as it happens, and the file is
// written anew when most of it is history.
//
// A record carries its length and a checksum. Whoever is killed in the middle of an append leaves a torn tail, and what
// comes before it counts. A length that is damaged may look like that, but for what stands behind the record. Nothing
// is synced: a system that goes down takes the domain along (see journal.hpp).
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/fd.hpp"

namespace landtrace::store {

class RecordLog {
 public:
  using Entries = std::map<std::string, std::string>;

  // What the file at `path` holds. There are no entries if it does not begin with `header`, or if it is not the
  // caller's alone: another user's, readable or writable for others, a link, no ordinary file. `damage` says what was
  // not read though it may have been a log of the caller's, and why; it is empty for a log with another header, and for
  // a torn tail.
  struct Left {
    std::optional<Entries> entries;
    std::string damage;
  };
  static Left read(const std::string& path, const std::string& header);

  RecordLog(std::string path, std::string header) : path_(std::move(path)), header_(std::move(header)) {}

  void put(const std::string& key, std::string value);
  void erase(const std::string& key);
  // Forgets all keys that begin so.
  void erase_all(const std::string& prefix);

  // Until this is called changes are kept in memory, and a file that is there stays as it is. Then it is replaced, at
  // once and as a whole.
  Result<void> start();
  // Removes the file; from here on changes are kept in memory again.
  void end();
  // The same, and the file stays as it is.
  void leave();

  [[nodiscard]] bool is_started() const { return static_cast<bool>(fd_); }

  // While there is one, changes are appended by the megabyte, and what is left when the last one goes: whoever is
  // killed meanwhile leaves some of them, the earlier ones. nullptr: of no log.
  class Batch {
   public:
    explicit Batch(RecordLog* log) : log_(log) {
      if (log_ != nullptr) ++log_->batches_;
    }
    ~Batch() {
      if (log_ != nullptr && --log_->batches_ == 0) log_->flush();
    }
    Batch(const Batch&) = delete;
    Batch& operator=(const Batch&) = delete;

   private:
    RecordLog* const log_;
  };

 private:
  void append(char operation, const std::string& key, const std::string& value);
  void flush();
  [[nodiscard]] bool is_mostly_history() const;
  Result<void> rewrite();
  Result<void> write_entries(int fd);

  std::string path_;
  std::string header_;
  Entries entries_;
  std::size_t live_ = 0;     // bytes of the records of all entries
  std::size_t written_ = 0;  // bytes in the file
  std::size_t batches_ = 0;
  std::string pending_;  // what is to be appended
  Fd fd_;
};

}  // namespace landtrace::store
