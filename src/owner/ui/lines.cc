#include "ui/lines.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "output/json/string.hpp"

namespace landtrace::ui {
namespace {

void add_comma(std::string& out) {
  if (out.back() != '{' && out.back() != '[') out += ',';
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

std::uint32_t Lines::kind_of(std::string_view name) {
  const auto known = kind_by_name_.find(name);
  if (known != kind_by_name_.end()) return known->second;
  if (kinds_.size() >= kMostNames) return 0;
  kinds_.push_back({std::string(name)});
  const auto kind = static_cast<std::uint32_t>(kinds_.size() - 1);
  kind_by_name_.emplace(name, kind);
  return kind;
}

// Of too many threads the one that has been silent for longest is forgotten.
Lines::Thread& Lines::thread_of(std::int32_t tid) {
  if (threads_.size() >= kMostNames && !threads_.contains(tid)) {
    threads_.erase(std::min_element(threads_.begin(), threads_.end(),
                                    [](const auto& a, const auto& b) { return a.second.last_us < b.second.last_us; }));
  }
  return threads_[tid];
}

void Lines::add_line(std::string_view line) {
  has_news_ = true;
  new_lines_ = std::min(new_lines_ + 1, kKept);
  LineParts parts;
  if (!parse_line(line, parts)) {
    const std::uint64_t lost = lost_in(line);
    lost_ += lost;
    return lost > 0 ? recent_.add_lost(line, lost) : recent_.add_text(line);
  }
  ++count_;
  const std::uint32_t kind = kind_of(parts.event);
  ++kinds_[kind].count;
  kinds_[kind].has_changed = true;
  // What is shown goes without the system.
  std::string shown(line);
  const std::size_t colon = parts.event.find(':');
  if (colon != std::string_view::npos) {
    shown.erase(static_cast<std::size_t>(parts.event.data() - line.data()), colon + 1);
  }
  recent_.add(shown, parts.time_us, parts.tid, kind);
  Thread& thread = thread_of(parts.tid);
  if (thread.comm != parts.comm) thread.comm = parts.comm;
  thread.tgid = parts.tgid;
  thread.last_us = parts.time_us;
  thread.has_changed = true;
  ++thread.count;
  for (auto& [known, count] : thread.kinds) {
    if (known != kind) continue;
    ++count;
    return;
  }
  thread.kinds.emplace_back(kind, 1);
}

ThreadName Lines::name_of(std::int32_t tid) const {
  const auto thread = threads_.find(tid);
  return thread == threads_.end() ? ThreadName() : ThreadName{thread->second.tgid, thread->second.comm};
}

// "NAME":[number, count]
void Lines::add_kinds(std::string& out, bool all) const {
  for (std::size_t i = 0; i < kinds_.size(); ++i) {
    const Kind& kind = kinds_[i];
    if (kind.count == 0 || (!all && !kind.has_changed)) continue;
    add_comma(out);
    output::json::append_string(out, kind.name);
    out += fmt::format(":[{},{}]", i, kind.count);
  }
}

// [tid, tgid, name, count, [[kind, count]]]
void Lines::add_threads(std::string& out, bool all) const {
  for (const auto& [tid, thread] : threads_) {
    if (!all && !thread.has_changed) continue;
    add_comma(out);
    out += fmt::format("[{},{},", tid, thread.tgid);
    output::json::append_string(out, thread.comm);
    out += fmt::format(",{},[", thread.count);
    for (const auto& [kind, count] : thread.kinds) {
      add_comma(out);
      out += fmt::format("[{},{}]", kind, count);
    }
    out += "]]";
  }
}

std::string Lines::news(bool all) {
  std::string out = fmt::format("\"count\":{},\"lost\":{},\"events\":{{", count_, lost_);
  add_kinds(out, all);
  out += "},\"programs\":[";
  add_threads(out, all);
  out += "],\"lines\":[";
  for (const std::string_view line : recent_.last_lines(all ? kKept : std::min(new_lines_, kNews))) {
    add_comma(out);
    output::json::append_string(out, line);
  }
  out += ']';
  if (all) return out;
  for (Kind& kind : kinds_) kind.has_changed = false;
  for (auto& [tid, thread] : threads_) thread.has_changed = false;
  new_lines_ = 0;
  has_news_ = false;
  return out;
}

}  // namespace landtrace::ui
