#include "store/record_log.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

namespace landtrace::store {
namespace {

constexpr char kHeader = 'h';
constexpr char kPut = '+';
constexpr char kErase = '-';

// What is read or written at once.
constexpr std::size_t kPiece = 1 << 20;

// In the byte order of the machine: a journal does not leave it.
struct Head {
  std::uint32_t size;  // of what follows the head
  std::uint32_t checksum;
  std::uint32_t key_size;
  char operation;
  char reserved[3];
};
static_assert(sizeof(Head) == 16);

std::uint32_t checksum_of(const Head& head, std::string_view body) {
  std::uint32_t hash = 0x811c9dc5;  // FNV-1a
  const auto add = [&](std::string_view bytes) {
    for (const char byte : bytes) hash = (hash ^ static_cast<unsigned char>(byte)) * 0x01000193;
  };
  add(body);
  add({reinterpret_cast<const char*>(&head.key_size), sizeof head.key_size});
  add({&head.operation, 1});
  return hash;
}

std::string record(char operation, const std::string& key, const std::string& value) {
  Head head{
      static_cast<std::uint32_t>(key.size() + value.size()), 0, static_cast<std::uint32_t>(key.size()), operation, {}};
  const std::string body = key + value;
  head.checksum = checksum_of(head, body);
  return std::string(reinterpret_cast<const char*>(&head), sizeof head) + body;
}

// Whether a record stands at the beginning of the bytes.
bool is_record(Head head, std::string_view bytes) {
  return head.size <= bytes.size() - sizeof head && head.key_size <= head.size &&
         head.checksum == checksum_of(head, bytes.substr(sizeof head, head.size));
}

// Whether the rest of a file, of which the head asks for more, is one append that was cut. Else a length is damaged:
// then there is nothing behind the record but the end of the file, or another record.
bool is_torn(Head head, std::string_view rest) {
  constexpr int kMostTries = 64;  // what looks like a head so often was not left by one append
  head.size = static_cast<std::uint32_t>(rest.size() - sizeof head);
  if (is_record(head, rest)) return false;
  int tries = 0;
  for (std::size_t at = 1; at + sizeof head <= rest.size(); ++at) {
    std::memcpy(&head, rest.data() + at, sizeof head);
    const bool is_change = head.operation == kPut || head.operation == kErase;
    if (!is_change || head.reserved[0] != 0 || head.reserved[1] != 0 || head.reserved[2] != 0) continue;
    if (head.key_size > head.size || head.size > rest.size() - at - sizeof head) continue;
    if (++tries == kMostTries || is_record(head, rest.substr(at))) return false;
  }
  return true;
}

std::size_t size_of(const std::string& key, const std::string& value) {
  return sizeof(Head) + key.size() + value.size();
}

// The records of a file, one after the other: a file may be larger than what one would have in memory at once.
class RecordReader {
 public:
  explicit RecordReader(int fd) : fd_(fd) {}

  // False at the end, at a torn tail, and where `damage()` says so. `body` is good until the next call.
  bool next(Head& head, std::string_view& body) {
    if (!have(sizeof head)) return false;
    std::memcpy(&head, buffer_.data() + at_, sizeof head);
    const bool is_whole = have(sizeof head + head.size);
    if (!damage_.empty()) return false;
    const std::string_view rest = std::string_view(buffer_).substr(at_);
    if (!is_whole && is_torn(head, rest)) return false;
    if (!is_whole || !is_record(head, rest)) {
      damage_ = "what stands there is damaged";
      return false;
    }
    body = rest.substr(sizeof head, head.size);
    at_ += sizeof head + head.size;
    return true;
  }
  [[nodiscard]] const std::string& damage() const { return damage_; }
  [[nodiscard]] std::size_t position() const { return before_ + at_; }
  // Of what was read.
  [[nodiscard]] std::size_t size() const { return before_ + buffer_.size(); }

 private:
  // Whether so many bytes follow.
  bool have(std::size_t size) {
    while (buffer_.size() - at_ < size) {
      buffer_.erase(0, at_);
      before_ += std::exchange(at_, 0);
      const std::size_t old = buffer_.size();
      buffer_.resize(old + kPiece);
      const ssize_t n = ::read(fd_, buffer_.data() + old, kPiece);
      const int error = errno;
      buffer_.resize(old + static_cast<std::size_t>(std::max<ssize_t>(n, 0)));
      if (n == 0) return false;
      if (n < 0 && error != EINTR) {
        damage_ = errno_text(error);
        return false;
      }
    }
    return true;
  }

  int fd_;
  std::string buffer_;
  std::size_t at_ = 0;      // in the buffer
  std::size_t before_ = 0;  // bytes of the file that came before it
  std::string damage_;
};

bool is_ours_alone(int fd) {
  struct stat st {};
  return ::fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == ::geteuid() && (st.st_mode & 077) == 0 &&
         st.st_nlink == 1;
}

}  // namespace

RecordLog::Left RecordLog::read(const std::string& path, const std::string& header) {
  const Fd fd(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!fd && errno == ENOENT) return {};
  if (!fd) return {std::nullopt, path + " cannot be read: " + errno_text(errno)};
  if (!is_ours_alone(fd.get())) {
    return {std::nullopt, path + " is not believed: it is no ordinary file, or others may read or write it"};
  }
  RecordReader records(fd.get());
  Head head;
  std::string_view body;
  const auto what_failed = [&] {
    return records.damage().empty()
               ? std::string()
               : path + " was read up to byte " + std::to_string(records.position()) + ": " + records.damage();
  };
  if (!records.next(head, body)) {
    // The file was renamed when it had its header: that is never a torn tail.
    const bool is_empty = records.size() == 0;
    return {std::nullopt, is_empty || !records.damage().empty() ? what_failed() : path + " is no journal"};
  }
  if (head.operation != kHeader || body != header) return {};
  Entries entries;
  while (records.next(head, body)) {
    const std::string key(body.substr(0, head.key_size));
    if (head.operation == kPut) {
      entries.insert_or_assign(key, std::string(body.substr(head.key_size)));
    } else if (head.operation == kErase) {
      entries.erase(key);
    }
  }
  return {std::move(entries), what_failed()};
}

void RecordLog::put(const std::string& key, std::string value) {
  std::string& place = entries_[key];
  if (const bool known = !place.empty(); known) {
    if (place == value) return;
    live_ -= size_of(key, place);
  }
  place = std::move(value);
  live_ += size_of(key, place);
  append(kPut, key, place);
}

void RecordLog::erase(const std::string& key) {
  const auto found = entries_.find(key);
  if (found == entries_.end()) return;
  live_ -= size_of(key, found->second);
  entries_.erase(found);
  append(kErase, key, {});
}

void RecordLog::erase_all(const std::string& prefix) {
  const Batch batch(this);
  for (auto at = entries_.lower_bound(prefix); at != entries_.end() && at->first.starts_with(prefix);) {
    const std::string key = at->first;
    ++at;
    erase(key);
  }
}

// A small file may be so three times over; a large one takes room that others need.
bool RecordLog::is_mostly_history() const {
  constexpr std::size_t kSmall = 256u << 10;
  constexpr std::size_t kLarge = 16u << 20;
  return written_ > kSmall && written_ > live_ + std::min(3 * live_, std::max(live_, kLarge));
}

void RecordLog::append(char operation, const std::string& key, const std::string& value) {
  if (!fd_) return;
  pending_ += record(operation, key, value);
  if (batches_ == 0 || pending_.size() >= kPiece) flush();
}

void RecordLog::flush() {
  if (!fd_ || pending_.empty()) return;
  const std::string bytes = std::exchange(pending_, {});
  written_ += bytes.size();
  if (!is_mostly_history() && write_all(fd_.get(), bytes.data(), bytes.size())) return;
  // A full disk may have room for less. A journal with a gap would be worse than none.
  if (!rewrite()) end();
}

Result<void> RecordLog::write_entries(int fd) {
  std::string bytes = record(kHeader, header_, {});
  std::size_t written = 0;
  const auto flush = [&] {
    written += bytes.size();
    auto result = write_all(fd, bytes.data(), bytes.size());
    bytes.clear();
    return result;
  };
  for (const auto& [key, value] : entries_) {
    bytes += record(kPut, key, value);
    if (bytes.size() >= kPiece) LT_CHECK(flush());
  }
  LT_CHECK(flush());
  written_ = written;
  return {};
}

Result<void> RecordLog::rewrite() {
  const std::string next = path_ + ".new";
  ::unlink(next.c_str());
  Fd fd(::open(next.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!fd) return fail_errno("open " + next);
  if (auto written = write_entries(fd.get()); !written) {
    ::unlink(next.c_str());
    return written;
  }
  if (::rename(next.c_str(), path_.c_str()) != 0) {
    auto error = fail_errno("rename " + next);
    ::unlink(next.c_str());
    return error;
  }
  fd_ = std::move(fd);
  pending_.clear();
  return {};
}

Result<void> RecordLog::start() { return rewrite(); }

void RecordLog::end() {
  if (!fd_) return;
  fd_.reset();
  pending_.clear();
  ::unlink(path_.c_str());
}

void RecordLog::leave() {
  flush();
  fd_.reset();
}

}  // namespace landtrace::store
