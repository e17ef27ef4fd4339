#include "rules/probes/probed_objects.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "symbols/short_name.hpp"

namespace landtrace::rules {
namespace {

// The file that a definition means: its path, or where an object of that name is.
std::string file_of(std::string_view path) {
  return path.find('/') == std::string_view::npos ? programs::find_object(path) : std::string(path);
}

std::string sentence_of(const Error& error) { return error.message.empty() ? errno_text(error.code) : error.message; }

// "time, gettimeofday (REASON); vfork (REASON)".
std::string refused_text(const programs::FunctionSpots& spots) {
  constexpr std::size_t kMostNamed = 8;  // for each reason
  std::map<std::string_view, std::set<std::string>> reasons;
  for (const auto& one : spots.refused) reasons[one.reason].insert(symbols::WrittenName(one.name).whole());
  std::string text;
  for (const auto& [reason, names] : reasons) {
    const std::size_t shown = std::min(names.size(), kMostNamed);
    const auto end = std::next(names.begin(), static_cast<std::ptrdiff_t>(shown));
    text += fmt::format("{}{}", text.empty() ? "" : "; ", fmt::join(names.begin(), end, ", "));
    if (shown < names.size()) text += fmt::format(" and {} more", names.size() - shown);
    text += fmt::format(" ({})", reason);
  }
  return text;
}

std::string left_out_text(const programs::FunctionSpots& spots) {
  if (spots.refused.empty()) return "";
  return fmt::format("{} of {} functions {} left out: {}", spots.refused.size(),
                     spots.refused.size() + spots.functions.size(), spots.refused.size() == 1 ? "is" : "are",
                     refused_text(spots));
}

}  // namespace

int CallersObjects::check_file(std::string_view path) {
  auto object = files_.open(asker_, path);
  if (!object) return object.error().code;
  object_ = *std::move(object);
  return 0;
}

bool CallersObjects::has_function(std::string_view path, std::string_view symbol, std::int64_t offset) {
  why_.clear();
  if (known_object_ && path == known_as_ && offset == 0) {
    if (const auto known = known_.find(symbol); known != known_.end()) {
      object_ = known_object_;
      take(known->second);
      return true;
    }
  }
  const std::string file = file_of(path);
  return !file.empty() && find(file, symbol, offset);
}

bool CallersObjects::find(const std::string& file, std::string_view symbol, std::int64_t offset) {
  auto function = files_.find_function(asker_, file, symbol);
  if (!function) {
    // Of a file that is not there, or may not be read, nothing is said.
    if (function.error().code == EINVAL || function.error().code == EOPNOTSUPP) why_ = function.error().message;
    return false;
  }
  const programs::FunctionSpot& spot = function->spot;
  // A label of assembler has no size; what an ifunc chooses has other instructions each.
  const bool is_within = spot.size == 0 || static_cast<std::uint64_t>(offset) < spot.size;
  if (offset != 0 && (!is_within || !spot.choices.empty())) return false;
  take(spot);
  object_ = std::move(function->object);
  return true;
}

void CallersObjects::take(const programs::FunctionSpot& spot) {
  offsets_ = spot.choices.empty() ? std::vector{spot.offset} : spot.choices;
}

Result<programs::FunctionSpots> CallersObjects::find_all(const std::string& file, const std::string& pattern,
                                                         bool are_returns, programs::Named named) {
  LT_TRY(programs::FunctionPlaces places, files_.find_functions(asker_, file, pattern, are_returns, named));
  object_ = std::move(places.object);
  programs::FunctionSpots& spots = places.spots;
  const std::size_t count = spots.functions.size();
  if (count > language::kMostOfPattern) {
    return fail(E2BIG, fmt::format("{} functions fit '{}', and one definition can have {} at most", count, pattern,
                                   language::kMostOfPattern));
  }
  if (count == 0 && spots.refused.empty()) {
    return fail(ENOENT, fmt::format("No function fits '{}'", pattern));
  }
  if (count == 0) {
    return fail(EOPNOTSUPP, fmt::format("No function that fits '{}' can be probed: {}", pattern, refused_text(spots)));
  }
  left_out_ = left_out_text(spots);
  return std::move(spots);
}

Result<void> CallersObjects::find_matching(std::string_view path, std::string_view pattern, bool is_return) {
  const std::string file = file_of(path);
  if (file.empty() || !files_.open(asker_, file)) return fail(ENOENT);
  LT_TRY(const programs::FunctionSpots spots, find_all(file, std::string(pattern), is_return, programs::Named::kAny));
  std::set<std::uint64_t> offsets;  // several ifuncs may choose the same
  for (const auto& one : spots.functions) {
    take(one.spot);
    offsets.insert(offsets_.begin(), offsets_.end());
  }
  offsets_.assign(offsets.begin(), offsets.end());
  return {};
}

Result<programs::FunctionSpots> CallersObjects::find_each(const language::ProbePattern& pattern) {
  std::string file = file_of(pattern.object);
  if (file.empty() && pattern.family == language::ProbeFamily::kKprobe) file = programs_.find_object(pattern.object);
  if (file.empty() || !files_.open(asker_, file)) return fail(ENOENT);
  LT_TRY(programs::FunctionSpots spots,
         find_all(file, pattern.pattern, pattern.is_return, programs::Named::kUnmistakably));
  known_as_ = pattern.object;
  known_object_ = object_;
  for (const auto& one : spots.functions) known_[one.name] = one.spot;
  return spots;
}

int CallersObjects::find_usdt(std::string_view path, std::string_view provider, std::string_view name,
                              std::vector<language::UsdtPlace>& places) {
  const std::string file = file_of(path);
  if (file.empty()) return ENOENT;
  auto found = files_.find_usdt(asker_, file, provider, name);
  if (!found) return found.error().code;
  if (found->places.empty()) return ENOENT;
  object_ = std::move(found->object);
  places = std::move(found->places);
  return 0;
}

// The domain's programs are what a kernel is to the kernel's probes.
CallersObjects::Answer CallersObjects::look_up_in_programs(std::string_view symbol) {
  for (const std::string& path : programs_.executables(asker_.tid)) {
    if (has_function(path, symbol, 0)) return Answer::kFunction;
  }
  return are_to_come() ? Answer::kNoModule : Answer::kNoFunction;
}

CallersObjects::Answer CallersObjects::look_up(std::string_view module, std::string_view symbol) {
  if (module.empty()) return look_up_in_programs(symbol);
  if (known_object_ && module == known_as_ && has_function(module, symbol, 0)) return Answer::kFunction;
  std::string file = programs::find_object(module);
  if (file.empty()) file = programs_.find_object(module);
  if (file.empty()) return Answer::kNoModule;
  return has_function(file, symbol, 0) ? Answer::kFunction : Answer::kNoFunction;
}

language::AllNamedFetches CallersObjects::find_names(std::int64_t offset, bool is_return,
                                                     const std::vector<std::string>& expressions) {
  if (offsets_.size() != 1) {
    return tl::unexpected<std::string>("names of the source need one function; $argN is an argument of any");
  }
  const std::uint64_t place = offsets_.front() + static_cast<std::uint64_t>(offset);
  auto answers = files_.find_values(asker_, object_->path, place, is_return, expressions);
  if (!answers) return tl::unexpected<std::string>(sentence_of(answers.error()));
  std::vector<language::NamedFetches> found;
  for (auto& answer : *answers) {
    if (!answer) {
      found.emplace_back(tl::unexpected<std::string>(std::move(answer.error())));
      continue;
    }
    std::vector<language::NamedFetch> fetches;
    for (auto& value : *answer) fetches.push_back({std::move(value.name), std::move(value.fetch)});
    found.emplace_back(std::move(fetches));
  }
  return found;
}

std::string CallersObjects::why_no_function(std::string_view path, std::string_view symbol) {
  if (!why_.empty()) return why_;
  const std::string file = file_of(path);
  if (file.empty()) return {};
  return files_.why_no_function(asker_, file, symbol).value_or("");
}

tl::expected<language::LinePlace, std::string> CallersObjects::find_line(std::string_view path, std::string_view file,
                                                                         unsigned line) {
  const std::string object = file_of(path);
  if (!lines_) {
    // A file that is not there, or may not be read, is the kernel's affair.
    if (object.empty() || !files_.open(asker_, object)) return tl::unexpected<std::string>("");
    auto found = files_.find_line(asker_, object, file, line);
    if (!found) {
      return tl::unexpected<std::string>(sentence_of(found.error()));
    }
    lines_ = *std::move(found);
  }
  object_ = lines_->object;
  offsets_ = {lines_->places.offsets.at(chosen_)};
  return language::LinePlace{object_->path, offsets_.front()};
}

}  // namespace landtrace::rules
