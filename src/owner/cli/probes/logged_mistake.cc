#include "cli/probes/logged_mistake.hpp"

#include <fcntl.h>

#include <algorithm>

namespace landtrace::cli {
namespace {

Result<std::string> error_log(ipc::TreeClient& tree) {
  LT_CHECK(tree.open("error_log", O_RDONLY));
  std::string text;
  for (;;) {
    LT_TRY(const std::string part, tree.read());
    if (part.empty()) break;
    text += part;
  }
  tree.close();
  return text;
}

}  // namespace

// An entry has three lines:
//     [    1.000002] trace_uprobe: error: WHAT
//       Command: LINE
//                  ^
std::optional<LoggedMistake> find_mistake(const std::string& log, const std::string& line) {
  constexpr std::string_view kError = ": error: ";
  const std::string command = "\n  Command: " + line + "\n";
  const std::size_t at = log.rfind(command);
  if (at == std::string::npos) return std::nullopt;
  const std::size_t head = at == 0 ? 0 : log.rfind('\n', at - 1) + 1;
  const std::size_t what = log.find(kError, head);
  const std::size_t pointer = at + command.size();
  const std::size_t caret = log.find('^', pointer);
  if (what == std::string::npos || what > at || caret == std::string::npos) return std::nullopt;
  const std::size_t before = command.size() - line.size() - 2;  // "  Command: "
  LoggedMistake mistake{log.substr(what + kError.size(), at - what - kError.size()), caret - pointer};
  mistake.column -= std::min(mistake.column, before);
  return mistake;
}

std::optional<LoggedMistake> find_mistake(ipc::TreeClient& tree, const std::string& line) {
  const auto log = error_log(tree);
  return log ? find_mistake(*log, line) : std::nullopt;
}

}  // namespace landtrace::cli
