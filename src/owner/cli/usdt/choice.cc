#include "cli/usdt/choice.hpp"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <set>

#include "cli/failure.hpp"
#include "cli/near_names.hpp"
#include "cli/probes/probed_object.hpp"
#include "cli/usdt/objects.hpp"
#include "cli/usdt/rows.hpp"
#include "code/refusal.hpp"
#include "symbols/usdt_notes.hpp"

namespace landtrace::cli {
namespace {

constexpr std::size_t kMostProbes = 1000;

bool is_meant(const std::string& glob, const std::string& name) {
  return ::fnmatch(glob.c_str(), name.c_str(), 0) == 0;
}

// Of one file, each once.
using UsdtNames = std::set<std::pair<std::string, std::string>>;  // provider, name
UsdtNames names_in_file(const std::string& path) {
  UsdtNames names;
  const auto file = symbols::ElfFile::open(path);
  if (!file) return names;
  for (symbols::UsdtNote& note : symbols::read_usdt_notes(*file)) {
    names.emplace(std::move(note.provider), std::move(note.name));
  }
  return names;
}

// What was looked at, to say what there is.
struct Search {
  std::vector<std::string> objects;
  std::vector<std::string> providers;
  std::vector<std::string> names;  // of the provider that was asked for
  std::size_t left_out = 0;
};

bool is_pattern(const std::string& text) { return text.find_first_of("*?[") != std::string::npos; }

// Of a pattern those are meant that can be probed, and it is said which are left out.
bool is_left_out(const std::string& path, const ProbeText& probe, std::vector<UsdtRow>& rows) {
  if (rows.empty()) rows = usdt_rows(path).value_or(std::vector<UsdtRow>());
  for (const UsdtRow& row : rows) {
    if (row.provider != probe.provider || row.name != probe.function) continue;
    const auto refused =
        std::find_if(row.spots.begin(), row.spots.end(), [](const UsdtSpot& spot) { return !spot.can_be_probed(); });
    if (refused == row.spots.end()) return false;
    complain(fmt::format("usdt:{}:{} is left out, as it cannot be probed: {}", row.provider, row.name,
                         code::refusal_text(refused->refusal)));
    return true;
  }
  return false;
}

void look_into(const std::string& path, const ProbeText& text, const std::string& provider, Search& search,
               std::vector<ProbeText>& found) {
  search.objects.push_back(path);
  std::vector<UsdtRow> rows;
  for (const auto& [its_provider, name] : names_in_file(path)) {
    if (search.providers.empty() || search.providers.back() != its_provider) search.providers.push_back(its_provider);
    if (!is_meant(provider, its_provider)) continue;
    search.names.push_back(name);
    if (!is_meant(text.function, name)) continue;
    ProbeText& probe = found.emplace_back(text);
    probe.object = path;
    probe.provider = its_provider;
    probe.function = name;
    if (probe.arguments.empty()) probe.arguments = "$arg*";
    if (is_pattern(text.function) && is_left_out(path, probe, rows)) {
      found.pop_back();
      ++search.left_out;
    }
  }
}

std::string nothing_text(const ProbeText& text, const std::string& provider, const Search& search) {
  const std::string where =
      search.objects.size() == 1 ? search.objects[0] : fmt::format("{} and its libraries", search.objects[0]);
  if (search.left_out != 0) return "all of them are left out";
  if (search.providers.empty()) return fmt::format("there are no USDT places in {}", where);
  if (search.names.empty()) {
    return fmt::format("no USDT place in {} is of '{}'{}", where, provider, did_you_mean(provider, search.providers));
  }
  return fmt::format("there is no USDT place '{}' of '{}' in {}{}", text.function, provider, where,
                     did_you_mean(text.function, search.names));
}

// Where a provider is looked for.
std::vector<std::string> objects_of(const std::vector<std::string>& command, const std::vector<std::uint32_t>& pids) {
  std::vector<std::string> objects = command.empty() ? std::vector<std::string>() : objects_of_command(command.front());
  for (const std::uint32_t pid : pids) {
    for (std::string& path : objects_of_process(pid).value_or(std::vector<std::string>())) {
      if (std::find(objects.begin(), objects.end(), path) == objects.end()) objects.push_back(std::move(path));
    }
  }
  return objects;
}

}  // namespace

Result<std::vector<ProbeText>> usdt_probes(const ProbeText& text, const std::vector<std::string>& command,
                                           const std::vector<std::uint32_t>& pids) {
  std::vector<ProbeText> found;
  Search search;
  std::string provider = text.provider;
  if (text.object.empty()) {
    for (const std::string& path : objects_of(command, pids)) look_into(path, text, provider, search, found);
  }
  const bool is_provider = !search.names.empty();
  if (found.empty() && !is_provider) {
    ProbeText named = text;
    if (named.object.empty()) named.object = std::exchange(provider, "*");
    const auto path = find_probed_object(named, command);
    if (path) {
      search = {};
      look_into(*path, text, provider, search, found);
    } else if (search.objects.empty() || !text.object.empty()) {
      return tl::unexpected<Error>(path.error());
    }
  }
  if (found.empty()) {
    return fail(ENOENT,
                fmt::format("{}: {}: {}; `landtrace list --usdt OBJECT` shows what there is", text.option, text.place,
                            nothing_text(text, provider == "*" ? text.provider : provider, search)));
  }
  if (found.size() > kMostProbes) {
    return fail(E2BIG, fmt::format("{}: {}: {} names are meant, and {} are the limit", text.option, text.place,
                                   found.size(), kMostProbes));
  }
  return found;
}

}  // namespace landtrace::cli
