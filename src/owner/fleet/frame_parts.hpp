// A frame that is larger than a message may be travels in parts. Each says which bytes of which frame it has, so that
// parts may be lost, come twice, in any order, and of several frames mixed: of a histogram the newest frame counts of
// which all parts are there.
//
// As bytes a part is a message of protocol buffers, FramePart in docs/fleet.proto.
#pragma once

#include <list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.hpp"
#include "fleet/outbox.hpp"

namespace landtrace::fleet {

inline constexpr std::size_t kMostFrameBytes = 32u << 20;
// What stands in a part besides its bytes takes less than that.
inline constexpr std::size_t kFramePartHead = 64;

struct FramePart {
  std::uint64_t sequence = 0;  // of the frame
  std::uint64_t size = 0;      // … its bytes
  std::uint64_t hash = 0;      // … hash_of() them
  std::uint64_t offset = 0;    // of these bytes in it
  std::string_view bytes;
};
std::string encode(const FramePart& part);
// A view into `message`. EPROTO.
Result<FramePart> decode_frame_part(std::string_view message);

// A frame, or a part of one, in parts of so many bytes at most, with their subjects. EPROTO for what is neither, E2BIG
// where a frame is too large, or a part would have no room.
Result<std::vector<Outbox::Letter>> in_parts(const Outbox::Letter& letter, std::size_t most_bytes);

// Puts frames together. What a host sends takes the room of that host alone: where it has no more, the oldest parts of
// its own go.
class FrameParts {
 public:
  struct Limits {
    std::size_t frames = 8;                 // of one histogram that are not complete; the newest stay
    std::size_t host_bytes = 64u << 20;     // … of one host
    std::size_t all_bytes = 1024u << 20;
  };
  FrameParts() = default;
  explicit FrameParts(Limits limits) : limits_(limits) {}

  // A part of a frame whose own subject is `subject`. The frame, if this was the last part that was missing; nullopt:
  // others are missing. EPROTO for what makes no sense.
  Result<std::optional<std::string>> add(const std::string& subject, std::string_view message);

  [[nodiscard]] std::size_t bytes() const { return bytes_; }

 private:
  // One frame of one histogram. Where a histogram's newest frames are is found by the order of keys.
  struct Key {
    std::string subject;
    std::uint64_t sequence = 0;
    std::uint64_t size = 0;
    std::uint64_t hash = 0;

    friend auto operator<=>(const Key&, const Key&) = default;
  };
  struct Open {
    std::map<std::uint64_t, std::string> parts;  // by offset; they do not overlap
    std::size_t there = 0;                       // bytes of the frame
    std::size_t cost = 0;                        // bytes of memory
    std::list<Key>::iterator age;
  };
  using OpenFrames = std::map<Key, Open>;

  void put(OpenFrames::iterator frame, std::uint64_t offset, std::string_view bytes);
  void drop(OpenFrames::iterator frame);
  // All of this histogram up to this sequence.
  void drop_older(const std::string& subject, std::uint64_t sequence);
  void make_room(const std::string& subject);

  Limits limits_ = {};
  OpenFrames open_;
  std::list<Key> ages_;  // that with the oldest first part first
  std::unordered_map<std::string, std::size_t> hosts_;  // bytes of each
  std::size_t bytes_ = 0;
};

}  // namespace landtrace::fleet
