#include "fleet/frame_parts.hpp"

#include <algorithm>

#include "fleet/frame.hpp"
#include "fleet/snapshot_parts.hpp"
#include "fleet/subjects.hpp"
#include "fleet/wire.hpp"
#include "output/perfetto/proto.hpp"

namespace landtrace::fleet {
namespace {

namespace proto = output::proto;

enum class PartField : std::uint32_t { kVersion = 1, kSequence, kSize, kHash, kOffset, kBytes };
constexpr std::uint64_t kPartVersion = 1;

void put(std::string& out, PartField field, std::uint64_t number) {
  proto::put(out, static_cast<std::uint32_t>(field), number);
}
// Of what is kept of a part besides its bytes, so that small ones are no way to much memory.
constexpr std::size_t kPartCost = 128;
constexpr std::size_t kFrameCost = 512;

}  // namespace

std::string encode(const FramePart& part) {
  std::string out;
  out.reserve(kFramePartHead + part.bytes.size());
  put(out, PartField::kVersion, kPartVersion);
  put(out, PartField::kSequence, part.sequence);
  put(out, PartField::kSize, part.size);
  put(out, PartField::kHash, part.hash);
  put(out, PartField::kOffset, part.offset);
  proto::put(out, static_cast<std::uint32_t>(PartField::kBytes), part.bytes);
  return out;
}

Result<FramePart> decode_frame_part(std::string_view message) {
  FramePart part;
  std::uint64_t version = 0;
  WireReader reader(message);
  while (const auto field = reader.next()) {
    switch (static_cast<PartField>(field->number)) {
      case PartField::kVersion:
        version = field->value;
        break;
      case PartField::kSequence:
        part.sequence = field->value;
        break;
      case PartField::kSize:
        part.size = field->value;
        break;
      case PartField::kHash:
        part.hash = field->value;
        break;
      case PartField::kOffset:
        part.offset = field->value;
        break;
      case PartField::kBytes:
        part.bytes = field->bytes;
        break;
    }
  }
  const bool is_good = reader.is_at_end() && version == kPartVersion && part.size <= kMostFrameBytes &&
                       !part.bytes.empty() && part.offset < part.size && part.bytes.size() <= part.size - part.offset;
  if (!is_good) return fail(EPROTO, "a part of a frame that makes no sense");
  return part;
}

Result<std::vector<Outbox::Letter>> in_parts(const Outbox::Letter& letter, std::size_t most_bytes) {
  if (most_bytes < 2 * kFramePartHead || letter.bytes.size() > kMostFrameBytes) return fail(E2BIG);
  const auto whole = whole_of(letter.subject);
  FramePart all;
  if (whole) {
    LT_TRY(all, decode_frame_part(letter.bytes));
  } else if (is_frame_subject(letter.subject)) {
    LT_TRY(const Frame head, decode_head(letter.bytes));
    all = {head.sequence, letter.bytes.size(), hash_of(letter.bytes), 0, letter.bytes};
  } else {
    return fail(EPROTO);
  }
  const std::size_t each = most_bytes - kFramePartHead;
  std::vector<Outbox::Letter> parts;
  for (std::size_t at = 0; at < all.bytes.size(); at += each) {
    const FramePart part{all.sequence, all.size, all.hash, all.offset + at, all.bytes.substr(at, each)};
    parts.push_back({part_subject(whole.value_or(letter.subject), part.offset / each), encode(part)});
  }
  return parts;
}

void FrameParts::drop(OpenFrames::iterator frame) {
  bytes_ -= frame->second.cost;
  const auto host = hosts_.find(host_part(frame->first.subject));
  host->second -= frame->second.cost;
  if (host->second == 0) hosts_.erase(host);
  ages_.erase(frame->second.age);
  open_.erase(frame);
}

void FrameParts::drop_older(const std::string& subject, std::uint64_t sequence) {
  for (auto at = open_.lower_bound({subject, 0, 0, 0});
       at != open_.end() && at->first.subject == subject && at->first.sequence <= sequence;) {
    drop(at++);
  }
}

// What of it is not there yet: what was sent again may be cut elsewhere.
void FrameParts::put(OpenFrames::iterator frame, std::uint64_t offset, std::string_view bytes) {
  Open& open = frame->second;
  const auto before = open.cost;
  while (!bytes.empty()) {
    const auto next = open.parts.upper_bound(offset);
    if (next != open.parts.begin()) {
      const auto& [begin, known] = *std::prev(next);
      const std::uint64_t there = std::min<std::uint64_t>(begin + known.size() - std::min(offset, begin + known.size()),
                                                          bytes.size());
      bytes.remove_prefix(there);
      offset += there;
    }
    const std::size_t size = next == open.parts.end() ? bytes.size()
                                                      : std::min<std::size_t>(bytes.size(), next->first - offset);
    if (size == 0) continue;
    open.parts.emplace(offset, bytes.substr(0, size));
    open.there += size;
    open.cost += size + kPartCost;
    bytes.remove_prefix(size);
    offset += size;
  }
  bytes_ += open.cost - before;
  hosts_[host_part(frame->first.subject)] += open.cost - before;
}

void FrameParts::make_room(const std::string& subject) {
  std::size_t open = 0;
  auto oldest = open_.lower_bound({subject, 0, 0, 0});
  for (auto at = oldest; at != open_.end() && at->first.subject == subject; ++at) ++open;
  if (open > limits_.frames) drop(oldest);
  const std::string host = host_part(subject);
  for (auto at = ages_.begin(); at != ages_.end();) {
    const auto used = hosts_.find(host);
    const bool is_full = used != hosts_.end() && used->second > limits_.host_bytes;
    if (!is_full && bytes_ <= limits_.all_bytes) return;
    const auto age = at++;
    if (!is_full || host_part(age->subject) == host) drop(open_.find(*age));
  }
}

Result<std::optional<std::string>> FrameParts::add(const std::string& subject, std::string_view message) {
  LT_TRY(const FramePart part, decode_frame_part(message));
  const Key key{subject, part.sequence, part.size, part.hash};
  const auto [frame, is_new] = open_.try_emplace(key);
  if (is_new) {
    frame->second.age = ages_.insert(ages_.end(), key);
    frame->second.cost = kFrameCost + subject.size();
    bytes_ += frame->second.cost;
    hosts_[host_part(subject)] += frame->second.cost;
  }
  put(frame, part.offset, part.bytes);
  if (frame->second.there < part.size) {
    make_room(subject);
    return std::nullopt;
  }
  std::string whole;
  whole.reserve(part.size);
  for (const auto& [offset, bytes] : frame->second.parts) whole += bytes;
  if (hash_of(whole) != part.hash) {
    drop(frame);
    return fail(EPROTO, "parts that are no frame");
  }
  drop_older(subject, part.sequence);
  return whole;
}

}  // namespace landtrace::fleet
