// JSON that others have sent.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string_view>

namespace landtrace::fleet {

// Whether arrays and objects stand in each other deeper than anything here has them. To copy or to write such a value
// takes some of the stack for each level, which a message of a megabyte uses up.
bool is_nested_too_deep(std::string_view json);

// Discarded for what makes no sense, and for what is nested too deep.
nlohmann::json parse_json(std::string_view text);

}  // namespace landtrace::fleet
