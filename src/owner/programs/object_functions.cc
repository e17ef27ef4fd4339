#include "programs/object_functions.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "code/choices.hpp"
#include "code/glob.hpp"
#include "code/refusal.hpp"

namespace landtrace::programs {
namespace {

// With one choice in the file the other one is elsewhere: gettimeofday is the kernel's own code in most programs.
constexpr std::size_t kFewestChoices = 2;
constexpr std::string_view kChosenElsewhere =
    "which code it is, is chosen when a program starts, and not among the file's own functions: it may be the kernel's "
    "(vDSO), which cannot be probed";

constexpr std::string_view kMeansAnother =
    "another function has the name, too; by PATH:OFFSET, its place in the file, it can be probed";

FunctionSpot spot_of(const code::Image& image, const code::Function& function) {
  return {image.offset_of(function.begin), function.end - function.begin, {}};
}

// Why none of the places can be probed that way, or any of them cannot.
agent::Refusal refusal_at(code::Analysis& analysis, std::uint64_t offset, bool is_return) {
  const agent::Recipe recipe = analysis.recipe(offset);
  if (recipe.way == agent::Way::kRefused) return recipe.refusal;
  return is_return ? analysis.return_refusal(offset) : agent::Refusal::kNone;
}

}  // namespace

Result<FunctionSpot> find_function(const code::Object& object, std::string_view name) {
  LT_TRY(const code::Function* const function, object.functions->find(name));
  FunctionSpot spot = spot_of(*object.image, *function);
  if (!function->is_chooser) return spot;
  code::Reader reader(*object.file, *object.image);
  for (const std::uint64_t address : code::choices_of(reader, *object.functions, *function))
    spot.choices.push_back(object.image->offset_of(address));
  if (spot.choices.size() < kFewestChoices)
    return fail(EOPNOTSUPP, fmt::format("{} cannot be probed: {}", name, kChosenElsewhere));
  return spot;
}

FunctionSpots find_functions(code::Analysis& analysis, const std::string& pattern, bool are_returns, Named named) {
  FunctionSpots found;
  for (const code::Matched& one : code::matching(analysis.named(), pattern)) {
    FunctionSpot spot{analysis.offset_of(*one.function), one.function->end - one.function->begin, {}};
    std::vector<std::uint64_t> places{spot.offset};
    if (one.function->is_chooser) places = spot.choices = analysis.choices(*one.function);
    std::string_view reason = places.size() < kFewestChoices && one.function->is_chooser ? kChosenElsewhere : "";
    const auto meant = named == Named::kAny ? one.function : analysis.named().find(one.name).value_or(nullptr);
    if (meant != one.function) reason = kMeansAnother;
    for (const std::uint64_t place : places) {
      if (reason.empty()) reason = code::refusal_text(refusal_at(analysis, place, are_returns));
    }
    if (reason.empty()) {
      found.functions.push_back({std::string(one.name), std::move(spot)});
    } else {
      found.refused.push_back({std::string(one.name), reason});
    }
  }
  std::sort(found.functions.begin(), found.functions.end(),
            [](const auto& a, const auto& b) { return a.name < b.name; });
  return found;
}

}  // namespace landtrace::programs
