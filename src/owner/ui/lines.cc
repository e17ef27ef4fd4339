#include "ui/lines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "output/json/string.hpp"

namespace landtrace::ui {
namespace {

//     "            comm-1234    [001] .....  5853.601981: name: fields"
// Names of threads have at most 15 bytes, in a column of 16, so one that looks like the rest of a line misleads nobody.
constexpr std::size_t kCommColumn = 16;

struct Parts {
  std::string_view comm;
  std::int32_t tid = 0;
  std::string_view event;
};

bool parse_line(std::string_view line, Parts& parts) {
  if (line.size() <= kCommColumn || line[kCommColumn] != '-') return false;
  const std::string_view comm = line.substr(0, kCommColumn);
  parts.comm = comm.substr(std::min(comm.find_first_not_of(' '), comm.size()));
  const char* const end = line.data() + line.size();
  const auto [behind, error] = std::from_chars(line.data() + kCommColumn + 1, end, parts.tid);
  if (error != std::errc{}) return false;
  const std::string_view rest(behind, static_cast<std::size_t>(end - behind));
  const std::size_t time = rest.find(": ");
  if (time == std::string_view::npos) return false;
  parts.event = rest.substr(time + 2);
  parts.event = parts.event.substr(0, parts.event.find(':'));
  return true;
}

// "CPU:1 [LOST 123 EVENTS]"; without a number some were.
std::uint64_t lost_in(std::string_view line) {
  const std::size_t at = line.find(" [LOST ");
  if (!line.starts_with("CPU:") || at == std::string_view::npos) return 0;
  std::uint64_t count = 1;
  std::from_chars(line.data() + at + 7, line.data() + line.size(), count);
  return count;
}

}  // namespace

void Lines::add(std::string_view bytes) {
  partial_ += bytes;
  std::size_t begin = 0;
  for (std::size_t end; (end = partial_.find('\n', begin)) != std::string::npos; begin = end + 1) {
    add_line(std::string_view(partial_).substr(begin, end - begin));
  }
  partial_.erase(0, begin);
}

void Lines::add_line(std::string_view line) {
  has_news_ = true;
  kept_.emplace_back(line);
  if (kept_.size() > kKept) kept_.pop_front();
  new_lines_ = std::min(new_lines_ + 1, kKept);
  Parts parts;
  if (!parse_line(line, parts)) {
    lost_ += lost_in(line);
    return;
  }
  ++count_;
  auto event = events_.find(parts.event);
  if (event == events_.end() && events_.size() < kMostNames) event = events_.emplace(parts.event, 0).first;
  if (event != events_.end() && ++event->second > 0 && !changed_events_.contains(parts.event)) {
    changed_events_.emplace(parts.event);
  }
  if (programs_.size() >= kMostNames && !programs_.contains(parts.tid)) programs_.erase(programs_.begin());
  Program& program = programs_[parts.tid];
  if (program.comm != parts.comm) program.comm = parts.comm;
  ++program.count;
  changed_programs_.insert(parts.tid);
}

std::string Lines::news(bool all) {
  std::string out = fmt::format("\"count\":{},\"lost\":{},\"events\":{{", count_, lost_);
  const auto comma = [&out] {
    if (out.back() != '{' && out.back() != '[') out += ',';
  };
  for (const auto& [name, count] : events_) {
    if (!all && !changed_events_.contains(name)) continue;
    comma();
    output::json::append_string(out, name);
    out += fmt::format(":{}", count);
  }
  out += "},\"programs\":[";
  for (const auto& [tid, program] : programs_) {
    if (!all && !changed_programs_.contains(tid)) continue;
    comma();
    out += fmt::format("[{},", tid);
    output::json::append_string(out, program.comm);
    out += fmt::format(",{}]", program.count);
  }
  out += "],\"lines\":[";
  const std::size_t lines = all ? kept_.size() : std::min({new_lines_, kNews, kept_.size()});
  for (std::size_t i = kept_.size() - lines; i < kept_.size(); ++i) {
    comma();
    output::json::append_string(out, kept_[i]);
  }
  out += ']';
  if (all) return out;
  changed_events_.clear();
  changed_programs_.clear();
  new_lines_ = 0;
  has_news_ = false;
  return out;
}

}  // namespace landtrace::ui
