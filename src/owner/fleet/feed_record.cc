#include "fleet/feed_record.hpp"

#include <cstring>

namespace landtrace::fleet {
namespace {

constexpr std::size_t kHead = 1 + 2 * sizeof(std::uint32_t);
// Far more than a message of NATS can have.
constexpr std::uint32_t kMostBytes = 256u << 20;
constexpr std::string_view kKnownKinds = "CASOGF";

void append_size(std::string& out, std::size_t size) {
  const auto number = static_cast<std::uint32_t>(size);
  out.append(reinterpret_cast<const char*>(&number), sizeof number);
}

std::uint32_t size_at(std::string_view bytes, std::size_t at) {
  std::uint32_t number = 0;
  std::memcpy(&number, bytes.data() + at, sizeof number);
  return number;
}

}  // namespace

std::string encode(const FeedRecord& record) {
  std::string out(1, static_cast<char>(record.kind));
  append_size(out, record.name.size());
  append_size(out, record.bytes.size());
  return out.append(record.name).append(record.bytes);
}

void FeedReader::add(std::string_view bytes) {
  waiting_.erase(0, taken_);
  taken_ = 0;
  waiting_ += bytes;
}

Result<std::optional<FeedRecord>> FeedReader::next() {
  const std::string_view rest = std::string_view(waiting_).substr(taken_);
  if (rest.size() < kHead) return std::nullopt;
  const std::size_t name = size_at(rest, 1);
  const std::size_t bytes = size_at(rest, 1 + sizeof(std::uint32_t));
  if (kKnownKinds.find(rest[0]) == std::string_view::npos || name > kMostBytes || bytes > kMostBytes) {
    return fail(EPROTO, "landtrace-fleet is of another version");
  }
  if (rest.size() < kHead + name + bytes) return std::nullopt;
  taken_ += kHead + name + bytes;
  return FeedRecord{static_cast<FeedRecord::Kind>(rest[0]), std::string(rest.substr(kHead, name)),
                    std::string(rest.substr(kHead + name, bytes))};
}

}  // namespace landtrace::fleet
