#include "fleet/serving/slow_sink.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <set>

#include "arch/clock.hpp"
#include "fleet/left_out.hpp"
#include "fleet/order.hpp"
#include "output/json/string.hpp"
#include "output/json/value.hpp"
#include "symbols/short_name.hpp"

namespace landtrace::fleet {
namespace {

constexpr std::size_t kMostKept = 1024;
constexpr std::size_t kMostTasks = 65536;
constexpr std::size_t kMostFields = 2048;  // bytes
constexpr std::size_t kMostFrames = 48;
constexpr std::size_t kMostName = 200;

std::string group_of(const std::vector<ipc::HistogramKeyValue>& by) {
  std::string name;
  for (const ipc::HistogramKeyValue& key : by) {
    name.append(std::to_string(key.number)).append(1, '\0').append(key.text).append(1, '\0');
  }
  return name;
}

// What it is in a frame, more or less.
std::size_t size_of(const Slow& slow) {
  constexpr std::size_t kHead = 64;
  std::size_t size = kHead + slow.task.size() + slow.fields.size();
  for (const ipc::HistogramKeyValue& key : slow.keys) size += 2 * sizeof key.number + key.text.size();
  for (const std::string& frame : slow.stack) size += frame.size() + 4;
  return size;
}

}  // namespace

SlowSink::SlowSink(const Request& request, bool with_stacks, std::vector<std::string> left_out)
    : LatencySink(request, measure::Pairs::Limits()),
      left_out_(std::move(left_out)),
      to_wall_ns_(wall_ns() - arch::monotonic_ns()) {
  keep(with_stacks ? measure::LatencySink::Kept::kStacks : measure::LatencySink::Kept::kEvents);
}

void SlowSink::type(const output::EventType& type) {
  LatencySink::type(type);
  types_[type.id] = type;
}

void SlowSink::task(std::int32_t tid, const output::Task& task) {
  if (tasks_.size() >= kMostTasks) tasks_.clear();
  tasks_[tid] = task.comm;
}

std::string SlowSink::fields_text(const Paired& end) const {
  const auto type = types_.find(end.event_id);
  if (type == types_.end()) return "";
  const std::vector<std::byte> rest = without_fields(type->second, end.payload, left_out_);
  std::string text = "{";
  for (const event::Field& field : type->second.declaration.fields) {
    const std::size_t before = text.size();
    text += text.size() > 1 ? "," : "";
    output::json::append_string(text, field.name);
    text += ':';
    if (std::ranges::find(left_out_, field.name) != left_out_.end()) {
      text += "\"(left out)\"";
    } else {
      output::json::append_value(text, field, rest);
    }
    if (text.size() > kMostFields) text.resize(before);
  }
  return text + "}";
}

void SlowSink::paired(Paired end) {
  Kept& kept = kept_[group_of(end.by) + std::to_string(std::bit_width(end.ns))];
  if (kept.slow.time_ns != 0 && kept.slow.ns >= end.ns) return;
  kept.slow = {.keys = end.by, .ns = end.ns, .time_ns = end.time_ns + to_wall_ns_, .tid = end.tid};
  kept.slow.keys.push_back({measure::Pairs::step_of(end.ns), {}, {}});
  kept.slow.fields = fields_text(end);
  kept.stack = std::move(end.stack);
  if (const auto task = tasks_.find(end.tid); task != tasks_.end()) kept.slow.task = task->second;
  if (kept_.size() > kMostKept) forget_some();
}

// The fastest half.
void SlowSink::forget_some() {
  std::vector<std::uint64_t> times;
  for (const auto& [name, kept] : kept_) times.push_back(kept.slow.ns);
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  std::size_t rest = times.size() / 2;
  std::erase_if(kept_, [&](const auto& one) { return rest > 0 && one.second.slow.ns <= *middle && rest-- > 0; });
}

// What is named by who reads it. Names are looked up once, and not for events that a slower one has replaced.
void SlowSink::complete(Kept& kept) {
  if (const auto task = tasks_.find(kept.slow.tid); kept.slow.task.empty() && task != tasks_.end()) {
    kept.slow.task = task->second;
  }
  if (!kept.stack) return;
  for (const std::uint64_t address : kept.stack->caller) {
    if (kept.slow.stack.size() >= kMostFrames) break;
    const auto place = names_.find(kept.stack->tgid, address, kept.stack->time_ns, kept.slow.stack.empty());
    std::string name = fmt::format("{:#x}", address);
    if (place.object != nullptr) {
      const std::string object = place.object->path.substr(place.object->path.rfind('/') + 1);
      name = fmt::format("[{}+{:#x}]", object, place.offset);
      if (place.function) name = symbols::short_name(place.function->name).substr(0, kMostName) + " [" + object + "]";
    }
    kept.slow.stack.push_back(name.substr(0, kMostName));
  }
  kept.stack.reset();
}

std::vector<Slow> SlowSink::slowest() {
  std::vector<std::pair<std::string, Kept*>> all;
  for (auto& [name, kept] : kept_) {
    auto by = kept.slow.keys;
    by.pop_back();
    all.emplace_back(group_of(by), &kept);
  }
  const auto is_slower = [](const auto& a, const auto& b) { return a.second->slow.ns > b.second->slow.ns; };
  std::ranges::stable_sort(all, is_slower);
  std::set<std::string> groups;
  // Not that of std::ranges, which returns a view: clang 14 cannot compile those of libstdc++ 12.
  std::stable_partition(all.begin(), all.end(), [&](const auto& one) { return groups.insert(one.first).second; });
  std::vector<Slow> slowest;
  std::size_t bytes = 0;
  for (const auto& [group, kept] : all) {
    if (slowest.size() >= kMostSlow) break;
    complete(*kept);
    bytes += size_of(kept->slow);
    if (bytes > kMostSlowBytes) break;
    slowest.push_back(kept->slow);
  }
  return slowest;
}

}  // namespace landtrace::fleet
