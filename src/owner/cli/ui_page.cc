#include "cli/ui_page.hpp"

#include <unistd.h>

#include "cli/environment.hpp"

namespace landtrace::cli {
namespace {

Result<std::vector<std::string>> ui_command(const std::string& socket, const std::string& listen) {
  LT_TRY(const std::string program, find_helper("landtrace-ui"));
  return std::vector<std::string>{program, socket, listen, own_program()};
}

Error why_not(const std::string& program, int error) {
  if (error == ENOENT) {
    return Error(ENOENT, program + " is not there: it was built without libmicrohttpd-dev, or not installed");
  }
  return Error(error, program + ": " + errno_text(error));
}

}  // namespace

Error UiPage::become(const std::string& socket, const std::string& listen) {
  const auto command = ui_command(socket, listen);
  if (!command) return command.error();
  ::execv(command->front().c_str(), exec_array(*command).data());
  return why_not(command->front(), errno);
}

Error UiPage::become_fleets(const FleetHelper& fleet, const std::string& listen) {
  const auto program = find_helper("landtrace-ui");
  if (!program) return program.error();
  const std::vector<std::string> words{*program, "--fleet", listen, own_program(), fleet.command("follow").front()};
  const std::vector<std::string> environment = fleet.environment();
  ::execve(words[0].c_str(), exec_array(words).data(), exec_array(environment).data());
  return why_not(words[0], errno);
}

Result<UiPage> UiPage::start(const std::string& socket, const std::string& listen,
                             const std::vector<std::string>& patterns, const sigset_t& mask) {
  LT_TRY(std::vector<std::string> command, ui_command(socket, listen));
  command.insert(command.end(), patterns.begin(), patterns.end());
  auto child = Child::start(command, ending_with_this(own_environment()), mask, Child::Output::kErrors);
  if (!child) return tl::unexpected<Error>(why_not(command.front(), child.error().code));
  return UiPage(*child);
}

UiPage::~UiPage() {
  if (child_) child_->send(SIGTERM);
}

}  // namespace landtrace::cli
