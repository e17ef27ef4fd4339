// A host's snapshot as it travels: the bytes of a trace file in parts, and behind them a message that says what all of
// them are. Parts may be lost, come twice or in any order, and overlap.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "fleet/clock_offset.hpp"

namespace landtrace::fleet {

inline constexpr std::size_t kMostPartBytes = 256 * 1024;
// Of a file, but for its last one, and for servers with smaller messages.
inline constexpr std::size_t kLeastPartBytes = 16 * 1024;
// Of one host. The oldest events are left out of what would be more.
inline constexpr std::uint64_t kMostSnapshotBytes = 64u << 20;

// u64 generation | u64 offset | bytes of the file. Numbers are little-endian.
struct SnapshotPart {
  std::uint64_t generation = 0;  // when the host began to send it, in nanoseconds since 1970: the newest one counts
  std::uint64_t offset = 0;
  std::string_view bytes;
};
inline constexpr std::size_t kPartHead = 16;
std::string encode(const SnapshotPart& part);
// A view into `message`. EBADMSG.
Result<SnapshotPart> part_of_snapshot(std::string_view message);

struct SnapshotEnd {
  std::uint64_t generation = 0;
  std::uint64_t parts = 0;
  std::uint64_t bytes = 0;  // of the file
  std::uint64_t hash = 0;   // … hash_of() it
  std::uint64_t events = 0;
  std::uint64_t left = 0;                  // older events that would have made it too large
  std::uint64_t oldest_ns = 0;             // of an event; the host's monotonic clock
  std::uint64_t frozen_ns = 0;             // when the rings were read, likewise
  std::optional<ClockOffset> clock = {};   // from that clock to the one of who asked; none: there was no answer
  std::vector<std::string> left_out = {};  // fields of which only zeros have travelled

  friend bool operator==(const SnapshotEnd&, const SnapshotEnd&) = default;
};
std::string json_of(const SnapshotEnd& end);
// EBADMSG.
Result<SnapshotEnd> snapshot_end_of(const std::string& json);

// FNV-1a of 64 bits: tells what was damaged on the way, and nothing against who means harm. `before`: of what is in
// front.
inline constexpr std::uint64_t kHashOfNothing = 0xcbf29ce484222325;
std::uint64_t hash_of(std::string_view bytes, std::uint64_t before = kHashOfNothing);

// Which parts of a file are there.
class Assembly {
 public:
  // Of a newer generation than all before: what was there is nothing any more. False: it is of an older one, beyond
  // what a snapshot may have, or one gap too many, and does not count. The caller keeps the bytes.
  bool add(const SnapshotPart& part);
  // False: of an older generation.
  bool finish(const SnapshotEnd& end);

  [[nodiscard]] bool is_complete() const { return end_ && there_ == end_->bytes; }
  [[nodiscard]] const std::optional<SnapshotEnd>& end() const { return end_; }
  // Bytes, within what the end says, where that is known.
  [[nodiscard]] std::uint64_t there() const { return there_; }

 private:
  bool take_generation(std::uint64_t generation);
  [[nodiscard]] std::uint64_t counted(std::uint64_t begin, std::uint64_t end) const;

  std::uint64_t generation_ = 0;
  std::uint64_t there_ = 0;
  std::map<std::uint64_t, std::uint64_t> ranges_;  // begin -> end; they neither meet nor overlap
  std::optional<SnapshotEnd> end_;
};

}  // namespace landtrace::fleet
