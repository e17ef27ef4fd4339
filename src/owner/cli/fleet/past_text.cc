#include "cli/fleet/past_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <ctime>
#include <nlohmann/json.hpp>

#include "cli/fleet/fleet_text.hpp"
#include "cli/fleet/order_request.hpp"
#include "cli/quantity.hpp"
#include "cli/visible.hpp"

namespace landtrace::cli {
namespace {

using Json = nlohmann::ordered_json;
using fleet::Frame;
using fleet::History;

constexpr std::uint64_t kNsOfSecond = 1'000'000'000;

Result<HistView> view_of(const HistShape& shape, const Frame& frame) {
  LT_TRY(HistView view, make_view(shape, frame.table));
  if (fleet::is_of_latency(frame)) {
    view.unpaired = {frame.unpaired.starts, frame.unpaired.ends, frame.unpaired.lost};
  }
  return view;
}

HistShape shape_of_frame(const Frame& frame) {
  HistShape shape = shape_of(fleet::Order(), frame.table);
  shape.title = frame.event;
  return shape;
}

std::string value_text(const HistShape& shape, double value) {
  return shape.is_time ? duration_text(value) : fmt::format("{:.6g}", value);
}

std::vector<std::string> names_of_columns(const HistShape& shape) {
  std::vector<std::string> names{"TIME"};
  for (const std::string& key : shape.keys) names.push_back(key);
  names.emplace_back("COUNT");
  for (const std::string& sum : shape.sums) names.push_back(sum);
  if (shape.spread) names.insert(names.end(), {"P50", "P90", "P99", "P99.9"});
  return names;
}

std::vector<std::string> columns_of(const HistShape& shape, const HistView& view, const HistGroup& group,
                                    const std::string& time) {
  std::vector<std::string> row{time};
  for (const HistKey& key : group.keys) row.push_back(key.text);
  row.push_back(count_text(group.count));
  for (std::size_t i = 0; i < group.sums.size(); ++i) {
    row.push_back(view.is_signed(i) ? std::to_string(static_cast<std::int64_t>(group.sums[i]))
                                    : std::to_string(group.sums[i]));
  }
  if (!shape.spread) return row;
  for (const double part : {0.5, 0.9, 0.99, 0.999}) row.push_back(value_text(shape, group.spread.percentile(part)));
  return row;
}

// The slots of one event, from `at` on.
Result<std::string> slots_text(const std::vector<Frame>& frames, std::size_t begin, std::size_t end) {
  const HistShape shape = shape_of_frame(frames[begin]);
  std::vector<std::vector<std::string>> rows{names_of_columns(shape)};
  for (std::size_t at = begin; at < end; ++at) {
    LT_TRY(const HistView view, view_of(shape, frames[at]));
    const std::string time = moment_text(frames[at].generation);
    for (const HistGroup& group : view.groups) rows.push_back(columns_of(shape, view, group, time));
    if (view.groups.empty()) rows.push_back({time, "-"});
  }
  return shape.title + "\n" + table_text(std::move(rows));
}

Json slot_json(const Frame& frame, const HistShape& shape, const HistView& view) {
  Json json{{"from_ns", frame.generation}, {"until_ns", frame.time_ns}};
  json.update(Json::parse(json_text(shape, view), nullptr, false));
  return json;
}

Json order_json(const Frame& frame) {
  Json json{{"order", frame.order},
            {"event", frame.event},
            {"oldest_ns", frame.generation},
            {"newest_ns", frame.time_ns},
            {"hosts", std::strtoull(frame.host.c_str(), nullptr, 10)},
            {"keys", Json::array()}};
  for (const ipc::HistogramKey& key : frame.table.keys) json["keys"].push_back(key.name);
  return json;
}

}  // namespace

std::string moment_text(std::uint64_t time_ns) {
  const auto time = static_cast<std::time_t>(time_ns / kNsOfSecond);
  std::tm parts{};
  if (::localtime_r(&time, &parts) == nullptr) return "?";
  char text[64] = {};
  std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &parts);
  return text;
}

std::string orders_of_past_text(const History& history) {
  std::vector<std::vector<std::string>> rows{{"ORDER", "FROM", "TO", "HOSTS", "KEYS", "WHAT"}};
  for (const Frame& frame : history.frames) {
    std::vector<std::string> keys;
    for (const ipc::HistogramKey& key : frame.table.keys) keys.push_back(key.name);
    rows.push_back({frame.order, moment_text(frame.generation), moment_text(frame.time_ns), frame.host,
                    keys.empty() ? "-" : fmt::format("{}", fmt::join(keys, ",")), frame.event});
  }
  return table_text(std::move(rows));
}

Result<std::string> past_text(const History& history, std::size_t columns) {
  std::string text;
  const std::vector<Frame>& frames = history.frames;
  for (std::size_t begin = 0, end = 0; begin < frames.size(); begin = end) {
    while (end < frames.size() && frames[end].event == frames[begin].event) ++end;
    if (end - begin > 1) {
      LT_TRY(const std::string slots, slots_text(frames, begin, end));
      text += slots;
      continue;
    }
    const HistShape shape = shape_of_frame(frames[begin]);
    LT_TRY(const HistView view, view_of(shape, frames[begin]));
    text += chart_text(shape, view, columns);
  }
  return text;
}

Result<std::string> past_json(const History& history) {
  Json all{{"source", history.source},
           {"note", history.note},
           {"reaches_ns", history.reaches_ns},
           {"dropped_bytes", history.dropped_bytes},
           {"unclear", history.unclear},
           {"is_behind", history.is_behind},
           {"misfits", history.misfits},
           {"no_room", history.no_room}};
  Json slots = Json::array(), orders = Json::array();
  for (const Frame& frame : history.frames) {
    if (frame.sequence == 0) {
      orders.push_back(order_json(frame));
      continue;
    }
    const HistShape shape = shape_of_frame(frame);
    LT_TRY(const HistView view, view_of(shape, frame));
    slots.push_back(slot_json(frame, shape, view));
  }
  if (!orders.empty() || slots.empty()) all["orders"] = std::move(orders);
  if (!slots.empty()) all["slots"] = std::move(slots);
  return all.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::vector<std::string> past_notes(const History& history, std::uint64_t from_ns) {
  std::vector<std::string> notes;
  if (!history.note.empty()) notes.push_back(history.note + "; this is from a collector's memory");
  if (history.reaches_ns > from_ns) {
    notes.push_back(fmt::format("a collector's memory reaches back to {}: {} of what was counted before had no room "
                                "(landtrace collect --memory)",
                                moment_text(history.reaches_ns), size_text(history.dropped_bytes)));
  }
  if (history.unclear > 0) {
    notes.push_back(fmt::format("{} events are left out: they were counted before what is known from here on, and "
                                "nobody knows when",
                                count_text(history.unclear)));
  }
  if (history.is_behind) notes.emplace_back("frames are on their way that are not in this yet");
  if (!history.misfits.empty()) {
    notes.push_back(fmt::format("left out, having other fields: {}", fmt::join(history.misfits, " ")));
  }
  if (!history.no_room.empty()) {
    notes.push_back(fmt::format("not all is in this of hosts that have more than a collector's memory has room for: {} "
                                "(landtrace collect --memory)",
                                fmt::join(history.no_room, " ")));
  }
  return notes;
}

}  // namespace landtrace::cli
