#include "cli/top/function_set.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

#include "cli/functions/rows.hpp"
#include "cli/probes/probed_object.hpp"
#include "cli/quantity.hpp"

namespace landtrace::cli {
namespace {

constexpr const char* kOption = "OBJECT:GLOB";
constexpr const char* kAll = "*";

// They run once, before main() and behind it.
bool is_start_up(const std::string& name) {
  constexpr std::array<std::string_view, 8> kNames{"_start",
                                                   "_init",
                                                   "_fini",
                                                   "frame_dummy",
                                                   "register_tm_clones",
                                                   "deregister_tm_clones",
                                                   "__do_global_dtors_aux",
                                                   "_dl_relocate_static_pie"};
  return std::find(kNames.begin(), kNames.end(), name) != kNames.end();
}

Result<ProbeText> parse_wanted(const std::string& wanted) {
  LT_TRY(ProbeText text, parse_probe(kOption, wanted));
  if (text.is_return || !text.arguments.empty()) {
    return fail(EINVAL, fmt::format("{}: want OBJECT:GLOB alone, as in 'libc.so.6:mem*', not '{}'", kOption, wanted));
  }
  return text;
}

// A stripped program has names for what it exports alone, which may be next to nothing.
bool has_names(const std::vector<FunctionRow>& rows) {
  constexpr std::size_t kFew = 20;
  const auto named = std::count_if(rows.begin(), rows.end(), [](const FunctionRow& row) { return !row.name.empty(); });
  return static_cast<std::size_t>(named) * kFew >= rows.size();
}

class Collector {
 public:
  explicit Collector(const std::vector<std::string>& command) : command_(command) {}

  Result<void> add(const std::string& wanted) {
    LT_TRY(const ProbeText text, parse_wanted(wanted));
    LT_TRY(std::vector<FunctionRow> rows, rows_of(text));
    if (take(rows, Unnamed::kToo) == 0) {
      return fail(ENOENT,
                  fmt::format("{}: no function of {} matches '{}'", kOption, set_.objects.back(), text.function));
    }
    return {};
  }

  Result<void> add_program() {
    ProbeText all;
    all.option = "CMD";
    all.function = kAll;
    LT_TRY(std::vector<FunctionRow> rows, rows_of(all));
    const bool tells_names = has_names(rows);
    if (take(rows, tells_names ? Unnamed::kNot : Unnamed::kToo) > 0) return {};
    return fail(ENOENT, set_.objects.back() + " has no functions whose calls can be followed");
  }

  Result<FunctionSet> finish(std::size_t limit) && {
    if (set_.functions.size() <= limit) return std::move(set_);
    return fail(E2BIG, fmt::format("{} functions of {} match, more than {}: name some of them ('{}:a*'), or raise "
                                   "--limit",
                                   count_text(set_.functions.size()), fmt::join(set_.objects, ", "), limit,
                                   set_.objects.front().substr(set_.objects.front().rfind('/') + 1)));
  }

 private:
  enum class Unnamed : std::uint8_t { kNot, kToo };

  Result<std::vector<FunctionRow>> rows_of(const ProbeText& text) {
    LT_TRY(const std::string path, find_probed_object(text, command_));
    LT_TRY(code::Analysis analysis, code::Analysis::open(path));
    if (std::find(set_.objects.begin(), set_.objects.end(), path) != set_.objects.end()) {
      set_.objects.erase(std::find(set_.objects.begin(), set_.objects.end(), path));
    }
    set_.objects.push_back(path);
    return function_rows(analysis, text.function == kAll ? "" : text.function);
  }

  // Returns how many of them are in the set.
  std::size_t take(const std::vector<FunctionRow>& rows, Unnamed unnamed) {
    std::size_t taken = 0;
    for (const FunctionRow& row : rows) {
      if (row.is_chooser || is_start_up(row.name) || (row.name.empty() && unnamed == Unnamed::kNot)) continue;
      if (!row.has_return()) {
        ++set_.refused;
        continue;
      }
      ++taken;
      const std::string& path = set_.objects.back();
      if (known_.emplace(path, row.offset).second) set_.functions.push_back({path, row.offset, row.name});
    }
    return taken;
  }

  const std::vector<std::string>& command_;
  FunctionSet set_;
  std::set<std::pair<std::string, std::uint64_t>> known_;
};

}  // namespace

Result<void> check_wanted(const std::vector<std::string>& wanted, const std::vector<std::string>& command) {
  if (wanted.empty() && command.empty()) {
    return fail(EINVAL, "want a CMD, or functions of the domain's programs: OBJECT:GLOB, as in 'libc.so.6:mem*'");
  }
  for (const std::string& one : wanted) LT_CHECK(parse_wanted(one));
  return {};
}

Result<FunctionSet> find_functions(const std::vector<std::string>& wanted, const std::vector<std::string>& command,
                                   std::size_t limit) {
  Collector collector(command);
  if (wanted.empty()) LT_CHECK(collector.add_program());
  for (const std::string& one : wanted) LT_CHECK(collector.add(one));
  return std::move(collector).finish(limit);
}

}  // namespace landtrace::cli
