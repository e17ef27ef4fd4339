#include "cli/selection.hpp"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <charconv>

#include "cli/event_rules.hpp"
#include "cli/quantity.hpp"

namespace landtrace::cli {
namespace {

// Text shows rounded microseconds, so a time copied from there means half a microsecond to each side.
constexpr std::uint64_t kHalfMicrosecond_ns = 500;
constexpr std::uint32_t kMostCpus = 4096;

Result<std::uint64_t> seconds(const char* option, const std::string& text) {
  auto ns = parse_seconds(text);
  if (!ns) return fail(EINVAL, fmt::format("{}: {}", option, ns.error().message));
  return ns;
}

Result<std::vector<std::uint32_t>> numbers(const char* option, const std::vector<std::string>& texts) {
  std::vector<std::uint32_t> all;
  for (const std::string& text : texts) {
    std::uint32_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || end != text.data() + text.size() || number == 0) {
      return fail(EINVAL, fmt::format("{} '{}': want a number", option, text));
    }
    all.push_back(number);
  }
  return all;
}

template <typename T>
bool is_among(const std::vector<T>& all, const T& one) {
  return all.empty() || std::find(all.begin(), all.end(), one) != all.end();
}

}  // namespace

void Selection::add_options(Command& command, Texts& texts, const std::string& verb) {
  command.repeated("-e,--event", texts.events, fmt::format("SYSTEM:EVENT to {}, globs allowed; may be repeated", verb),
                   {.type = "PATTERN"});
  command.option("--filter", texts.filter, fmt::format("{} only events for which EXPR is true: 'status >= 500'", verb),
                 {.type = "EXPR"});
  command.repeated_list("--pid", texts.pids, "Only these processes", {.type = "PID"});
  add_place_options(command, texts);
  command.option("--from", texts.from, "Time of the first event to " + verb, {.type = "SECONDS"});
  command.option("--to", texts.to, "Time of the last event to " + verb, {.type = "SECONDS"});
}

void Selection::add_place_options(Command& command, Texts& texts) {
  command.repeated_list("--tid", texts.tids, "Only these threads", {.type = "TID"});
  command.repeated_list("--comm", texts.comms, "Only threads of these names, globs allowed", {.type = "NAME"});
  command.option("--cpu", texts.cpus, "Only these CPUs: 0-3,8", {.type = "LIST"});
}

Result<Selection> Selection::parse(const Texts& texts) {
  Selection selection;
  LT_TRY(selection.events_, reader::EventFilter::parse(texts.events));
  if (!texts.filter.empty()) LT_CHECK(check_filter(texts.filter));
  selection.filter_ = reader::ExpressionFilter(texts.filter);
  if (!texts.from.empty()) {
    LT_TRY(selection.from_ns_, seconds("--from", texts.from));
    selection.from_ns_ -= std::min(selection.from_ns_, kHalfMicrosecond_ns);
  }
  if (!texts.to.empty()) {
    LT_TRY(selection.to_ns_, seconds("--to", texts.to));
    selection.to_ns_ += kHalfMicrosecond_ns - 1;
  }
  LT_TRY(selection.pids_, numbers("--pid", texts.pids));
  LT_TRY(selection.tids_, numbers("--tid", texts.tids));
  selection.comms_ = texts.comms;
  if (!texts.cpus.empty()) {
    selection.cpus_ = language::parse_cpu_list(texts.cpus, kMostCpus);
    if (!selection.cpus_) return fail(EINVAL, fmt::format("--cpu '{}': want a list as 0-3,8", texts.cpus));
  }
  selection.has_places_ =
      !(selection.pids_.empty() && selection.tids_.empty() && selection.comms_.empty() && !selection.cpus_);
  return selection;
}

Result<void> Selection::know(const std::map<std::uint16_t, output::EventType>& types, std::uint32_t cpus) {
  for (const auto& [id, type] : types) {
    if (known_[id]) continue;
    known_[id] = true;
    wanted_[id] = events_.wants(type);
    stacks_[id] = output::is_user_stack(type) && !(wanted_[id] && filter_.is_empty());
    has_stacks_ = has_stacks_ || stacks_[id];
    if (wanted_[id] && !stacks_[id]) wanted_[id] = filter_.know(type, cpus);
  }
  if (auto mistake = filter_.mistake("--filter")) return tl::unexpected<Error>(*std::move(mistake));
  return {};
}

bool Selection::is_in_place(const output::Record& record, const output::Task* task) const {
  const auto tid = static_cast<std::uint32_t>(record.tid);
  const std::uint32_t pid = task != nullptr && task->tgid != 0 ? task->tgid : tid;
  if (!wants_cpu(record.cpu) || !is_among(pids_, pid) || !is_among(tids_, tid)) return false;
  return comms_.empty() || (task != nullptr && std::any_of(comms_.begin(), comms_.end(), [&](const auto& comm) {
                              return ::fnmatch(comm.c_str(), task->comm.c_str(), 0) == 0;
                            }));
}

bool Selection::wants(const output::Record& record, const output::Task* task) {
  if (stacks_[record.event_id]) {
    const auto last = last_.find(record.tid);
    return last != last_.end() && last->second;
  }
  const bool is_wanted = wants_itself(record, task);
  if (has_stacks_) last_[record.tid] = is_wanted;
  return is_wanted;
}

}  // namespace landtrace::cli
