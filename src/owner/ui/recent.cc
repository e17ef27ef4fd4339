#include "ui/recent.hpp"

#include <algorithm>

namespace landtrace::ui {

void Recent::add_text(std::string_view line) {
  if (chunks_.empty() || chunks_.back().size() + line.size() + 1 > kChunk) {
    chunks_.emplace_back().reserve(kChunk);
    if (chunks_.size() > kMostChunks) {
      chunks_.pop_front();
      ++first_chunk_;
      while (!events_.empty() && events_.front().chunk < first_chunk_) events_.pop_front();
    }
  }
  chunks_.back().append(line).append(1, '\n');
}

void Recent::keep(Event event, std::string_view line) {
  add_text(line);
  // Lines of several CPUs may be a little out of order; looking for a time must not be.
  if (!events_.empty()) event.time_us = std::max(event.time_us, events_.back().time_us);
  event.chunk = first_chunk_ + chunks_.size() - 1;
  event.size = static_cast<std::uint32_t>(line.size());
  event.offset = static_cast<std::uint32_t>(chunks_.back().size() - line.size() - 1);
  events_.push_back(event);
  if (events_.size() > kMostEvents) events_.pop_front();
}

void Recent::add(std::string_view line, std::uint64_t time_us, std::int32_t tid, std::uint32_t kind) {
  keep({.time_us = time_us, .tid = tid, .kind = kind}, line);
}

void Recent::add_lost(std::string_view line, std::uint64_t count) { keep({.lost = count}, line); }

std::size_t Recent::find(std::uint64_t time_us) const {
  const auto is_before = [](const Event& event, std::uint64_t time) { return event.time_us < time; };
  return static_cast<std::size_t>(std::lower_bound(events_.begin(), events_.end(), time_us, is_before) -
                                  events_.begin());
}

std::string_view Recent::text(const Event& event) const {
  return std::string_view(chunks_[event.chunk - first_chunk_]).substr(event.offset, event.size);
}

std::vector<std::string_view> Recent::last_lines(std::size_t most) const {
  std::vector<std::string_view> lines;
  for (auto chunk = chunks_.rbegin(); chunk != chunks_.rend(); ++chunk) {
    for (std::string_view rest = *chunk; !rest.empty() && lines.size() < most;) {
      rest.remove_suffix(1);
      const std::size_t before = rest.rfind('\n');
      const std::size_t begin = before == std::string_view::npos ? 0 : before + 1;
      lines.push_back(rest.substr(begin));
      rest = rest.substr(0, begin);
    }
  }
  std::reverse(lines.begin(), lines.end());
  return lines;
}

std::string Recent::all() const {
  std::string text;
  for (const std::string& chunk : chunks_) text += chunk;
  return text;
}

void Recent::clear() {
  events_.clear();
  first_chunk_ += chunks_.size();
  chunks_.clear();
}

}  // namespace landtrace::ui
