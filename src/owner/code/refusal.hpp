// Why a place cannot be probed, for a person.
#pragma once

#include <string_view>

#include "agent/recipe.hpp"

namespace landtrace::code {

// A sentence without its full stop, to go on behind "NAME cannot be probed: "; "" for kNone.
std::string_view refusal_text(agent::Refusal refusal);

// The same in a word, for programs: "jump-target".
std::string_view refusal_word(agent::Refusal refusal);

// "one store", "quiet", "alone", "refused".
std::string_view way_word(agent::Way way);

}  // namespace landtrace::code
