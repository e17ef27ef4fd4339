// What a mistyped name may have meant.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace landtrace::cli {

// Those of `names` that differ from `word` by few letters, the nearest first, three at most. Upper and lower case are
// the same here; neighbours that changed places are one mistake; what follows a whole word and a dot is none.
std::vector<std::string> near_names(std::string_view word, const std::vector<std::string>& names);

// "a", "a or b", "a, b or c".
std::string alternatives(const std::vector<std::string>& names);

// "; did you mean 'a'?", or "" where nothing is near.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& names);

}  // namespace landtrace::cli
