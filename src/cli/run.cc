// `landtrace run`
#include <unistd.h>

#include "cli/command_line.hpp"
#include "cli/environment.hpp"
#include "cli/failure.hpp"
#include "ipc/path.hpp"
#include "ipc/socket.hpp"

namespace landtrace::cli {
namespace {

constexpr const char* kExamples =
    "Examples:\n"
    "  landtrace record -o all.dat &                   serves the user's domain and records it\n"
    "  landtrace run -- ./server --port 80             joins it";

// Becomes the command; comes back only with an exit status that says why not.
int run(const std::string& socket, const std::vector<std::string>& command) {
  const std::string path = socket.empty() ? ipc::default_socket() : socket;
  if (const auto owner = ipc::connect_to(path); !owner) {
    const int code = owner.error().code;
    if (code != ENOENT && code != ECONNREFUSED) return fail_with(kFailure, sentence(owner.error()));
    return fail_with(kFailure, "no domain runs at " + path + "; start one with `landtrace record`");
  }
  const auto preload = find_preload();
  if (!preload) return fail_with(kFailure, sentence(preload.error()));
  const auto environment = traced_environment(path, *preload);
  ::execvpe(command[0].c_str(), exec_array(command).data(), exec_array(environment).data());
  const int error = errno;
  return fail_with(error == ENOENT ? kNotFound : kCannotExecute,
                   "cannot run '" + command[0] + "': " + errno_text(error));
}

}  // namespace

void add_run(CLI::App& app, Invocation& invocation) {
  auto socket = std::make_shared<std::string>();
  CLI::App* const sub = app.add_subcommand("run", "Run a command in a domain that is running already");
  sub->add_option("--socket", *socket, "Socket of the domain; without it, the user's")->type_name("PATH");
  sub->prefix_command();
  set_usage(*sub, "landtrace run [OPTIONS] [--] CMD [ARG...]");
  sub->footer(kExamples);
  sub->callback([sub, socket, &invocation] {
    const auto command = take_command(*sub, invocation.line);
    if (command.empty()) throw CLI::ParseError("no command to run", CLI::ExitCodes::RequiredError);
    invocation.run = [socket, command] { return run(*socket, command); };
  });
}

}  // namespace landtrace::cli
