#include "cli/probes/refusals.hpp"

#include <fmt/format.h>

#include <map>
#include <tuple>

#include "attach/agent_status.hpp"
#include "code/analysis.hpp"

namespace landtrace::cli {

std::string place_text(const std::string& object, std::uint64_t offset) {
  const std::string file = object.substr(object.rfind('/') + 1);
  const auto analysis = code::Analysis::open(object);
  const code::Function* const function = analysis ? analysis->function_at(offset) : nullptr;
  if (function == nullptr || analysis->names(*function).empty() || analysis->offset_of(*function) != offset) {
    return fmt::format("{}:{:#x}", file, offset);
  }
  return fmt::format("{}:{}", file, analysis->names(*function).front());
}

std::vector<std::string> refusal_texts(const std::vector<std::uint32_t>& pids) {
  std::map<std::pair<std::string, std::uint64_t>, std::size_t> programs;
  std::map<std::tuple<std::string, std::uint64_t, std::string>, std::vector<std::uint32_t>> refused;
  for (const std::uint32_t pid : pids) {
    for (const attach::ProbedPlace& place : attach::places_in(pid)) {
      ++programs[{place.object, place.offset}];
      if (!place.refusal.empty()) refused[{place.object, place.offset, place.refusal}].push_back(pid);
    }
  }
  std::vector<std::string> texts;
  for (const auto& [what, whom] : refused) {
    const auto& [object, offset, why] = what;
    const std::size_t all = programs[{object, offset}];
    const std::string who =
        all == 1 ? fmt::format("process {}", whom.front()) : fmt::format("{} of {} programs", whom.size(), all);
    texts.push_back(fmt::format("{} could not be probed at {}: {}", who, place_text(object, offset), why));
  }
  return texts;
}

}  // namespace landtrace::cli
