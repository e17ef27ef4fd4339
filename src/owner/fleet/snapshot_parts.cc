#include "fleet/snapshot_parts.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "fleet/parse_json.hpp"

namespace landtrace::fleet {
namespace {

using Json = nlohmann::json;

// A file's names and formats come on top of its events.
constexpr std::uint64_t kMostFileBytes = 2 * kMostSnapshotBytes;
// Each second one of the smallest parts that hosts send may come first.
constexpr std::size_t kMostRanges = kMostFileBytes / kLeastPartBytes / 2;

void put(std::string& out, std::uint64_t number) {
  for (unsigned shift = 0; shift < 64; shift += 8) out += static_cast<char>(number >> shift & 0xff);
}

std::uint64_t take(std::string_view& bytes) {
  std::uint64_t number = 0;
  for (unsigned shift = 0; shift < 64; shift += 8) {
    number |= std::uint64_t{static_cast<unsigned char>(bytes[shift / 8])} << shift;
  }
  bytes.remove_prefix(sizeof number);
  return number;
}

}  // namespace

std::string encode(const SnapshotPart& part) {
  std::string message;
  message.reserve(kPartHead + part.bytes.size());
  put(message, part.generation);
  put(message, part.offset);
  return message.append(part.bytes);
}

Result<SnapshotPart> part_of_snapshot(std::string_view message) {
  if (message.size() <= kPartHead) return fail(EBADMSG, "a part of a snapshot that makes no sense");
  SnapshotPart part;
  part.generation = take(message);
  part.offset = take(message);
  part.bytes = message;
  return part;
}

std::string json_of(const SnapshotEnd& end) {
  Json json{
      {"generation", end.generation}, {"parts", end.parts}, {"bytes", end.bytes},         {"hash", end.hash},
      {"events", end.events},         {"left", end.left},   {"oldest_ns", end.oldest_ns}, {"frozen_ns", end.frozen_ns},
      {"left_out", end.left_out}};
  if (end.clock) {
    json["offset_ns"] = end.clock->offset_ns;
    json["bound_ns"] = end.clock->bound_ns;
  }
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<SnapshotEnd> snapshot_end_of(const std::string& text) {
  const Json json = parse_json(text);
  if (!json.is_object()) return fail(EBADMSG, "the end of a snapshot that makes no sense");
  try {
    SnapshotEnd end;
    end.generation = json.at("generation").get<std::uint64_t>();
    end.parts = json.at("parts").get<std::uint64_t>();
    end.bytes = json.at("bytes").get<std::uint64_t>();
    end.hash = json.at("hash").get<std::uint64_t>();
    end.events = json.value("events", end.events);
    end.left = json.value("left", end.left);
    end.oldest_ns = json.value("oldest_ns", end.oldest_ns);
    end.frozen_ns = json.value("frozen_ns", end.frozen_ns);
    end.left_out = json.value("left_out", end.left_out);
    if (json.contains("bound_ns")) {
      end.clock = {json.at("offset_ns").get<std::int64_t>(), json.at("bound_ns").get<std::uint64_t>()};
    }
    return end;
  } catch (const Json::exception&) {
    return fail(EBADMSG, "the end of a snapshot that makes no sense");
  }
}

std::uint64_t hash_of(std::string_view bytes, std::uint64_t before) {
  constexpr std::uint64_t kPrime = 0x100000001b3;
  std::uint64_t hash = before;
  for (const char c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * kPrime;
  return hash;
}

bool Assembly::take_generation(std::uint64_t generation) {
  if (generation < generation_) return false;
  if (generation > generation_) {
    ranges_.clear();
    end_.reset();
    there_ = 0;
  }
  generation_ = generation;
  return true;
}

bool Assembly::add(const SnapshotPart& part) {
  if (part.offset > kMostFileBytes || part.bytes.size() > kMostFileBytes - part.offset) return false;
  if (!take_generation(part.generation)) return false;
  std::uint64_t begin = part.offset;
  std::uint64_t end = begin + part.bytes.size();
  auto next = ranges_.upper_bound(begin);
  if (next != ranges_.begin() && std::prev(next)->second >= begin) --next;
  const bool meets_one = next != ranges_.end() && next->first <= end;
  if (!meets_one && ranges_.size() >= kMostRanges) return false;
  while (next != ranges_.end() && next->first <= end) {
    there_ -= counted(next->first, next->second);
    begin = std::min(begin, next->first);
    end = std::max(end, next->second);
    next = ranges_.erase(next);
  }
  ranges_[begin] = end;
  there_ += counted(begin, end);
  return true;
}

bool Assembly::finish(const SnapshotEnd& end) {
  if (!take_generation(end.generation)) return false;
  end_ = end;
  there_ = 0;
  for (const auto& [begin, behind] : ranges_) there_ += counted(begin, behind);
  return true;
}

std::uint64_t Assembly::counted(std::uint64_t begin, std::uint64_t end) const {
  const std::uint64_t most = end_ ? end_->bytes : ~0ull;
  return std::min(end, most) - std::min(begin, most);
}

}  // namespace landtrace::fleet
