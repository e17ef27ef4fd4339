// What an error_log says of a definition that was refused.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "ipc/tree_client.hpp"

namespace landtrace::cli {

struct LoggedMistake {
  std::string what;
  std::size_t column = 0;  // in the command
};

// The last entry of an error_log that is about the line; nullopt: it has none.
std::optional<LoggedMistake> find_mistake(const std::string& log, const std::string& line);
// The same of a domain's.
std::optional<LoggedMistake> find_mistake(ipc::TreeClient& tree, const std::string& line);

}  // namespace landtrace::cli
