// The last events that were read, in bounded memory: the page's timeline, and its snapshot.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace landtrace::ui {

class Recent {
 public:
  static constexpr std::size_t kMostEvents = 1u << 18;
  static constexpr std::size_t kChunk = 64 * 1024;
  static constexpr std::size_t kMostChunks = 512;

  struct Event {
    std::uint64_t time_us = 0;  // never less than the one before has
    std::uint64_t lost = 0;     // so many were lost here; then it is no event
    std::uint64_t chunk = 0;    // of the text
    std::uint32_t offset = 0;
    std::uint32_t size = 0;
    std::int32_t tid = 0;
    std::uint32_t kind = 0;
  };

  // A line that is an event's.
  void add(std::string_view line, std::uint64_t time_us, std::int32_t tid, std::uint32_t kind);
  // One that tells of a loss.
  void add_lost(std::string_view line, std::uint64_t count);
  // Any other.
  void add_text(std::string_view line);

  [[nodiscard]] const std::deque<Event>& events() const { return events_; }
  // Index of the first that is not before.
  [[nodiscard]] std::size_t find(std::uint64_t time_us) const;
  [[nodiscard]] std::string_view text(const Event& event) const;
  // The newest lines, the newest last; they are valid until the next is added.
  [[nodiscard]] std::vector<std::string_view> last_lines(std::size_t most) const;
  // All lines that are kept.
  [[nodiscard]] std::string all() const;
  void clear();

 private:
  void keep(Event event, std::string_view line);

  std::deque<Event> events_;
  std::deque<std::string> chunks_;
  std::uint64_t first_chunk_ = 0;
};

}  // namespace landtrace::ui
