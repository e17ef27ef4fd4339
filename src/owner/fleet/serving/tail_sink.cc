#include "fleet/serving/tail_sink.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "arch/clock.hpp"
#include "fleet/left_out.hpp"
#include "fleet/order.hpp"
#include "output/json/value.hpp"
#include "output/text/line.hpp"
#include "output/text/own_events.hpp"

namespace landtrace::fleet {
namespace {

// Of one round. What does not fit is counted.
constexpr std::size_t kMostBytes = 128 * 1024;
constexpr std::uint64_t kNsPerSecond = 1'000'000'000;
constexpr std::uint64_t kSecondsPerDay = 86400;

// From `begin` on: whatever a program has put into a text, it is no line of its own.
void write_newlines(std::string& text, std::size_t begin) {
  for (std::size_t at = text.find('\n', begin); at != std::string::npos; at = text.find('\n', at)) {
    text.replace(at, 1, "\\n");
  }
}

}  // namespace

TailSink::TailSink(std::string host, std::vector<std::string> left_out)
    : host_(std::move(host)), left_out_(std::move(left_out)), to_wall_ns_(wall_ns() - arch::monotonic_ns()) {}

std::string TailSink::take() {
  if (without_room_ != 0) lost_in_order(last_cpu_, std::exchange(without_room_, 0), last_ns_);
  return std::exchange(lines_, {});
}

// In UTC.
void TailSink::begin_line(std::uint64_t time_ns) {
  const std::uint64_t wall = time_ns + to_wall_ns_;
  const std::uint64_t seconds = wall / kNsPerSecond % kSecondsPerDay;
  fmt::format_to(std::back_inserter(lines_), "{:02}:{:02}:{:02}.{:06} {} ", seconds / 3600, seconds / 60 % 60,
                 seconds % 60, wall % kNsPerSecond / 1000, host_);
}

void TailSink::in_order(const output::Record& record, const output::Task* who, const output::EventType& type) {
  if (lines_.size() > kMostBytes) {
    ++without_room_;
    last_cpu_ = record.cpu;
    last_ns_ = record.time_ns;
    return;
  }
  if (without_room_ != 0) lost_in_order(record.cpu, std::exchange(without_room_, 0), record.time_ns);
  begin_line(record.time_ns);
  std::size_t begin = lines_.size();
  fmt::format_to(std::back_inserter(lines_), "{}-{} ", who == nullptr ? "<...>" : who->comm, record.tid);
  write_newlines(lines_, begin);
  begin = lines_.size();
  append_body(record, type);
  if (lines_.ends_with('\n')) lines_.pop_back();
  if (!output::is_user_stack(type)) write_newlines(lines_, begin);  // whose frames have lines of their own
  lines_ += "\n";
}

void TailSink::append_body(const output::Record& record, const output::EventType& type) {
  if (!has_one_of(type, left_out_)) return output::append_text_body(lines_, record, &type);
  lines_ += type.name + ":";
  for (const event::Field& field : type.declaration.fields) {
    lines_ += " " + field.name + "=";
    if (std::ranges::find(left_out_, field.name) != left_out_.end()) {
      lines_ += "(left out)";
    } else {
      output::json::append_value(lines_, field, record.payload);
    }
  }
}

void TailSink::lost_in_order(std::uint32_t cpu, std::uint64_t count, std::uint64_t time_ns) {
  begin_line(time_ns);
  output::append_text_lost(lines_, cpu, count);
  if (!lines_.ends_with('\n')) lines_ += "\n";
}

}  // namespace landtrace::fleet
