#include "ui/timeline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "output/json/string.hpp"

namespace landtrace::ui {
namespace {

constexpr std::size_t kMostSingle = 1500;  // events that are told one by one
constexpr std::size_t kMostTexts = 300;    // … with their lines
constexpr std::size_t kMostColumns = 2000;
constexpr std::size_t kMostLanes = 24;

struct Lane {
  std::int32_t tid = 0;
  ThreadName name;
};

struct Range {
  std::size_t begin = 0;
  std::size_t end = 0;
};

class Writer {
 public:
  using Naming = std::function<ThreadName(std::int32_t)>;
  Writer(const Recent& recent, const TimelinePart& part, const Naming& name_of)
      : recent_(recent), part_(part), name_of_(name_of) {}

  std::string write() {
    const auto& events = recent_.events();
    const std::uint64_t first = events.empty() ? 0 : events.front().time_us;
    const std::uint64_t last = events.empty() ? 0 : events.back().time_us;
    if (part_.to_us == 0) {
      const std::uint64_t length = part_.from_us;
      part_.to_us = last + 1;
      part_.from_us = part_.to_us - std::min(length, part_.to_us);
    }
    part_.to_us = std::max(part_.to_us, part_.from_us + 1);
    const Range range{recent_.find(part_.from_us), recent_.find(part_.to_us)};
    choose_lanes(range);
    out_ = fmt::format("{{\"first\":{},\"last\":{},\"from\":{},\"to\":{},\"lanes\":[", first, last, part_.from_us,
                       part_.to_us);
    for (const Lane& lane : lanes_) {
      begin_item();
      out_ += fmt::format("[{},{},", lane.tid, lane.name.tgid);
      output::json::append_string(out_, lane.name.comm);
      out_ += ']';
    }
    out_ += "],";
    if (range.end - range.begin <= kMostSingle) {
      add_events(range);
    } else {
      add_columns(range);
    }
    out_ += ",\"lost\":[";
    for (std::size_t i = range.begin; i < range.end; ++i) {
      if (events[i].lost == 0) continue;
      begin_item();
      out_ += fmt::format("[{},{}]", events[i].time_us - part_.from_us, events[i].lost);
    }
    return out_ + "]}";
  }

 private:
  void choose_lanes(Range range) {
    std::unordered_map<std::int32_t, std::uint32_t> counts;
    for (std::size_t i = range.begin; i < range.end; ++i) {
      const Recent::Event& event = recent_.events()[i];
      if (event.lost == 0) ++counts[event.tid];
    }
    std::vector<std::pair<std::uint32_t, std::int32_t>> busiest;
    for (const auto& [tid, count] : counts) busiest.emplace_back(count, tid);
    std::sort(busiest.begin(), busiest.end(), std::greater<>());
    busiest.resize(std::min(busiest.size(), kMostLanes));
    for (const auto& [count, tid] : busiest) lanes_.push_back({tid, name_of_(tid)});
    std::sort(lanes_.begin(), lanes_.end(),
              [](const Lane& a, const Lane& b) { return std::tie(a.name.tgid, a.tid) < std::tie(b.name.tgid, b.tid); });
    for (std::size_t i = 0; i < lanes_.size(); ++i) lane_of_.emplace(lanes_[i].tid, i);
  }

  void begin_item() {
    if (out_.back() != '[') out_ += ',';
  }

  // [time since the part's beginning, lane, kind, line]
  void add_events(Range range) {
    const bool has_text = range.end - range.begin <= kMostTexts;
    out_ += "\"events\":[";
    for (std::size_t i = range.begin; i < range.end; ++i) {
      const Recent::Event& event = recent_.events()[i];
      const auto lane = lane_of_.find(event.tid);
      if (event.lost > 0 || lane == lane_of_.end()) continue;
      begin_item();
      out_ += fmt::format("[{},{},{}", event.time_us - part_.from_us, lane->second, event.kind);
      if (has_text) {
        out_ += ',';
        output::json::append_string(out_, recent_.text(event));
      }
      out_ += ']';
    }
    out_ += ']';
  }

  // [column, lane, events]
  void add_columns(Range range) {
    const std::size_t columns = std::clamp<std::size_t>(part_.columns, 1, kMostColumns);
    const std::uint64_t length = part_.to_us - part_.from_us;
    std::vector<std::uint32_t> counts(columns * lanes_.size());
    for (std::size_t i = range.begin; i < range.end; ++i) {
      const Recent::Event& event = recent_.events()[i];
      const auto lane = lane_of_.find(event.tid);
      if (event.lost > 0 || lane == lane_of_.end()) continue;
      const double place = static_cast<double>(event.time_us - part_.from_us) / static_cast<double>(length);
      const auto column = static_cast<std::size_t>(place * static_cast<double>(columns));
      ++counts[lane->second * columns + std::min(column, columns - 1)];
    }
    out_ += fmt::format("\"columns\":{},\"counts\":[", columns);
    for (std::size_t i = 0; i < counts.size(); ++i) {
      if (counts[i] == 0) continue;
      begin_item();
      out_ += fmt::format("[{},{},{}]", i % columns, i / columns, counts[i]);
    }
    out_ += ']';
  }

  const Recent& recent_;
  TimelinePart part_;
  const Naming& name_of_;
  std::vector<Lane> lanes_;
  std::unordered_map<std::int32_t, std::size_t> lane_of_;
  std::string out_;
};

}  // namespace

std::string timeline(const Recent& recent, const TimelinePart& part,
                     const std::function<ThreadName(std::int32_t)>& name_of) {
  return Writer(recent, part, name_of).write();
}

}  // namespace landtrace::ui
