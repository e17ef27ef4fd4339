// `landtrace run`
#include <unistd.h>

#include <filesystem>

#include "cli/child.hpp"
#include "cli/commands.hpp"
#include "cli/domain_choice.hpp"
#include "cli/environment.hpp"
#include "cli/failure.hpp"
#include "cli/private_tracefs.hpp"
#include "cli/signals.hpp"
#include "daemon/hosted_domain.hpp"
#include "ipc/path.hpp"
#include "ipc/socket.hpp"

namespace landtrace::cli {
namespace {

struct RunOptions {
  std::string socket;
  bool tracefs = false;
  bool map_root = false;
  [[nodiscard]] Ids ids() const { return map_root ? Ids::kRoot : Ids::kSame; }
  std::vector<std::string> command;
};

// Replaces this process by the command. Returns only on failure, with the exit status.
int become(const RunOptions& options, const std::string& socket) {
  const auto preload = find_preload();
  if (!preload) return fail_with(kFailure, sentence(preload.error()));
  if (options.tracefs) {
    const auto entered = enter_private_tracefs(socket, options.ids());
    if (!entered) return fail_with(kFailure, sentence(entered.error()));
  }
  const auto environment = traced_environment(socket, *preload);
  ::execvpe(options.command[0].c_str(), exec_array(options.command).data(), exec_array(environment).data());
  const int error = errno;
  return fail_with(error == ENOENT ? kNotFound : kCannotExecute,
                   "cannot run '" + options.command[0] + "': " + errno_text(error));
}

// A signal from the terminal has reached the command, too; any other is passed on.
int wait_for(Child& child, Signals& signals) {
  while (!child.has_ended()) {
    const auto arrived = signals.wait(Signals::kForEver);
    if (arrived && arrived->number != SIGCHLD && !arrived->from_terminal) child.send(arrived->number);
  }
  return child.exit_status();
}

// A domain for the command alone. The command is started by this program again, which joins it there.
int host_and_run(const RunOptions& options) {
  const auto folder = ipc::runtime_folder();
  if (!folder) return fail_with(kFailure, sentence(folder.error()));
  auto signals = Signals::take();
  if (!signals) return fail_with(kFailure, sentence(signals.error()));
  const auto hosted = daemon::HostedDomain::start({.socket = fmt::format("{}/run-{}.sock", *folder, ::getpid()),
                                                   .agent = find_agent().value_or(""),
                                                   .tell = complain});
  if (!hosted) return fail_with(kFailure, sentence(hosted.error()));
  const auto words = tracefs_command((*hosted)->path(), options.ids(), options.command);
  (*hosted)->descriptors().restore();
  auto child = Child::start(words, own_environment(), signals->mask_before());
  (*hosted)->descriptors().raise();
  if (!child) return fail_with(kFailure, sentence(child.error()));
  return wait_for(*child, *signals);
}

Result<void> look_at_owner(const std::string& path) {
  const auto owner = ipc::connect_to(path);
  if (!owner) return unreached(owner.error());
  ipc::set_timeout(owner->get(), ipc::kAnswerPatience_ms);
  LT_CHECK(ipc::ask(owner->get(), {.operation = ipc::Operation::kAbout}));
  return {};
}

// Complains if nobody serves it. The command would not: programs do without a domain that does not answer.
bool is_there(const std::string& path) {
  const auto answers = look_at_owner(path);
  if (!answers) complain(sentence(answers.error()));
  return answers.has_value();
}

int run(const RunOptions& options) {
  if (options.tracefs) {
    const auto running = mountable_domain(options.socket);
    if (!running) return host_and_run(options);
    return is_there(*running) ? become(options, *running) : kFailure;
  }
  const std::string path = domain_to_speak_to(options.socket);
  return is_there(path) ? become(options, path) : kFailure;
}

}  // namespace

void add_run(Program& program) {
  auto options = std::make_shared<RunOptions>();
  Command& command = program.add("run", "Run a command in a domain, with its files where tools look for them");
  command.option("--socket", options->socket, "Socket of the domain; without it, the user's", {.type = "PATH"});
  command.flag("--tracefs", options->tracefs, "Show the command the domain's files at /sys/kernel/tracing");
  command.flag("-r,--map-root-user", options->map_root, "With --tracefs, as a user: the command believes to be root",
               {.needs = "--tracefs"});
  command.takes_command(options->command, "landtrace run [OPTIONS] [--] CMD [ARG...]", "no command to run");
  command.examples(
      "Examples:\n"
      "  landtrace record -o all.dat &                   serves the user's domain and records it\n"
      "  landtrace run -- ./server --port 80             joins it\n"
      "  landtrace run --tracefs -- trace-cmd list -e    gives a tool the files it looks for");
  command.runs([options] { return run(*options); });
}

}  // namespace landtrace::cli
