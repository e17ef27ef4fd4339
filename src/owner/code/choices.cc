#include "code/choices.hpp"

#include <algorithm>

#include "code/instruction.hpp"

namespace landtrace::code {
namespace {

// Real ones have some hundred bytes.
constexpr std::uint64_t kMostBytes = 16'384;

}  // namespace

std::vector<std::uint64_t> choices_of(Reader& reader, const Functions& functions, const Function& chooser) {
  std::vector<std::uint64_t> found;
  const std::uint64_t end = std::min(chooser.end, chooser.begin + kMostBytes);
  for (std::uint64_t at = chooser.begin; at < end;) {
    const auto instruction = decode(reader.at(at, kLongestInstruction));
    if (!instruction) break;
    at += instruction->length;
    const std::uint64_t taken = instruction->is_relative_lea ? at + static_cast<std::uint64_t>(instruction->distance)
                                : instruction->has_immediate ? instruction->immediate
                                                             : 0;
    const Function* const function = taken == 0 ? nullptr : functions.holding(taken);
    if (function != nullptr && function->begin == taken && !function->is_chooser) found.push_back(taken);
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

}  // namespace landtrace::code
