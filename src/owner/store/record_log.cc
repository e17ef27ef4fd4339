#include "store/record_log.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <string_view>

namespace landtrace::store {
namespace {

constexpr char kHeader = 'h';
constexpr char kPut = '+';
constexpr char kErase = '-';

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

std::size_t size_of(const std::string& key, const std::string& value) {
  return sizeof(Head) + key.size() + value.size();
}

// The next record of `text`, cut off its front. False at the end, or where the rest is none.
bool take_record(std::string_view& text, Head& head, std::string_view& body) {
  if (text.size() < sizeof head) return false;
  std::memcpy(&head, text.data(), sizeof head);
  if (text.size() - sizeof head < head.size || head.key_size > head.size) return false;
  body = text.substr(sizeof head, head.size);
  if (head.checksum != checksum_of(head, body)) return false;
  text.remove_prefix(sizeof head + head.size);
  return true;
}

bool is_ours_alone(int fd) {
  struct stat st {};
  return ::fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == ::geteuid() && (st.st_mode & 077) == 0 &&
         st.st_nlink == 1;
}

std::string contents(const std::string& path) {
  const Fd fd(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!fd || !is_ours_alone(fd.get())) return {};
  auto text = read_file("/proc/self/fd/" + std::to_string(fd.get()));
  return text ? std::move(*text) : std::string();
}

}  // namespace

std::optional<RecordLog::Entries> RecordLog::read(const std::string& path, const std::string& header) {
  Entries entries;
  const std::string all = contents(path);
  std::string_view text = all;
  Head head;
  std::string_view body;
  if (!take_record(text, head, body) || head.operation != kHeader || body != header) return std::nullopt;
  while (take_record(text, head, body)) {
    const std::string key(body.substr(0, head.key_size));
    if (head.operation == kPut) {
      entries.insert_or_assign(key, std::string(body.substr(head.key_size)));
    } else if (head.operation == kErase) {
      entries.erase(key);
    }
  }
  return entries;
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
  for (auto at = entries_.lower_bound(prefix); at != entries_.end() && at->first.starts_with(prefix);) {
    const std::string key = at->first;
    ++at;
    erase(key);
  }
}

void RecordLog::append(char operation, const std::string& key, const std::string& value) {
  if (!fd_) return;
  constexpr std::size_t kSmall = 256u << 10;
  const std::string bytes = record(operation, key, value);
  written_ += bytes.size();
  const bool mostly_history = written_ > kSmall && written_ > 4 * live_;
  if (!mostly_history && write_all(fd_.get(), bytes.data(), bytes.size())) return;
  // A full disk may have room for less. A journal with a gap would be worse than none.
  if (!rewrite()) end();
}

Result<void> RecordLog::rewrite() {
  std::string bytes = record(kHeader, header_, {});
  for (const auto& [key, value] : entries_) bytes += record(kPut, key, value);
  const std::string next = path_ + ".new";
  ::unlink(next.c_str());
  Fd fd(::open(next.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!fd) return fail_errno("open " + next);
  if (auto written = write_all(fd.get(), bytes.data(), bytes.size()); !written) {
    ::unlink(next.c_str());
    return written;
  }
  if (::rename(next.c_str(), path_.c_str()) != 0) {
    auto error = fail_errno("rename " + next);
    ::unlink(next.c_str());
    return error;
  }
  fd_ = std::move(fd);
  written_ = bytes.size();
  return {};
}

Result<void> RecordLog::start() { return rewrite(); }

void RecordLog::end() {
  if (!fd_) return;
  fd_.reset();
  ::unlink(path_.c_str());
}

}  // namespace landtrace::store
