#include "language/histogram/attributes.hpp"

#include <bit>

#include "base/input.hpp"
#include "language/words.hpp"

namespace landtrace::language {
namespace {

// The rest of `text` behind one of the prefixes.
std::optional<std::string> behind(std::string_view text, std::initializer_list<std::string_view> prefixes) {
  for (const std::string_view prefix : prefixes) {
    if (text.starts_with(prefix)) return std::string(text.substr(prefix.size()));
  }
  return std::nullopt;
}

Result<unsigned> bits_in(std::string_view text) {
  LT_TRY(const std::uint64_t size, number_in(text));
  const unsigned bits = size <= 1 ? 0 : static_cast<unsigned>(std::bit_width(size - 1));
  const bool is_the_kernels = bits >= kMinHistBits && bits <= kKernelMaxHistBits;
  // Beyond the kernel's limit nothing is rounded, so that a size that it refuses is taken only where it is meant.
  const bool is_larger = bits <= kMaxHistBits && size == std::uint64_t{1} << bits;
  if (!is_the_kernels && !(bits > kKernelMaxHistBits && is_larger)) return fail(EINVAL, "no histogram has that size");
  return bits;
}

Result<void> take_assignment(std::string_view text, HistAttributes& attributes, HistComplaints& complaints) {
  if (auto keys = behind(text, {"key=", "keys="})) {
    attributes.keys = *std::move(keys);
  } else if (auto values = behind(text, {"val=", "vals=", "values="})) {
    attributes.values = std::move(values);
  } else if (auto sort = behind(text, {"sort="})) {
    attributes.sort = std::move(sort);
  } else if (auto name = behind(text, {"name="})) {
    attributes.name = *std::move(name);
  } else if (const auto clock = behind(text, {"clock="})) {
    attributes.clock = std::string(trimmed(*clock));
  } else if (const auto size = behind(text, {"size="})) {
    LT_TRY(attributes.bits, bits_in(*size));
  } else {
    if (attributes.assignments.size() == kMostHistVariables)
      return complaints.refuse(HistMistake::kTooManyVariables, text);
    attributes.assignments.emplace_back(text);
  }
  return {};
}

Result<void> take_word(std::string_view text, HistAttributes& attributes) {
  if (text == "nohitcount" || text == "NOHC") {
    attributes.no_hitcount = true;
  } else if (text == "pause") {
    attributes.pause = true;
  } else if (text == "cont" || text == "continue") {
    attributes.resume = true;
  } else if (text == "clear") {
    attributes.clear = true;
  } else if (attributes.actions.size() < kMostHistActions && behind(text, {"onmatch(", "onmax(", "onchange("})) {
    attributes.actions.emplace_back(text);
  } else {
    return fail(EINVAL, "'" + std::string(text) + "' is nothing that a histogram has");
  }
  return {};
}

bool is_blank(char c) { return c == ' ' || c == '\t'; }

}  // namespace

Result<HistCommandParts> split_condition(std::string_view command) {
  for (std::size_t at = command.find("if"); at != std::string_view::npos; at = command.find("if", at + 1)) {
    if (at == 0) return fail(EINVAL, "a histogram has keys");
    if (!is_blank(command[at - 1])) continue;
    if (at + 3 >= command.size()) return fail(EINVAL, "want a filter behind 'if'");
    if (!is_blank(command[at + 2])) continue;
    return HistCommandParts{std::string(trimmed(command.substr(0, at - 1))), std::string(trimmed(command.substr(at)))};
  }
  return HistCommandParts{std::string(command), {}};
}

Result<HistAttributes> parse_hist_attributes(std::string_view definition, HistComplaints& complaints) {
  HistAttributes attributes;
  for (const std::string_view part : parts_of(definition, ':')) {
    const std::size_t equals = part.find('=');
    if (equals == std::string_view::npos) {
      LT_CHECK(take_word(part, attributes));
    } else if (equals + 1 == part.size()) {
      return complaints.refuse(HistMistake::kEmptyAssignment, part);
    } else {
      LT_CHECK(take_assignment(part, attributes, complaints));
    }
  }
  if (attributes.keys.empty()) return fail(EINVAL, "a histogram has keys");
  return attributes;
}

Result<std::vector<VariableDefinition>> definitions_in(const HistAttributes& attributes, HistComplaints& complaints) {
  std::vector<VariableDefinition> definitions;
  for (const std::string& assignment : attributes.assignments) {
    std::size_t count = 0;
    for (const std::string_view part : parts_of(assignment, ',')) {
      if (count++ == kMostHistVariables) break;  // the kernel looks at no more of them
      const std::size_t equals = part.find('=');
      if (equals == std::string_view::npos) return complaints.refuse(HistMistake::kMalformedAssignment, part);
      const std::string_view name = part.substr(0, equals);
      if (definitions.size() == kMostHistVariables) return complaints.refuse(HistMistake::kTooManyVariables, name);
      definitions.push_back({std::string(name), std::string(part.substr(equals + 1))});
    }
  }
  return definitions;
}

}  // namespace landtrace::language
