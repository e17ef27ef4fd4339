// `landtrace attach`
#include "attach/attach.hpp"

#include "cli/commands.hpp"
#include "cli/domain_choice.hpp"
#include "cli/failure.hpp"
#include "cli/probes/running_programs.hpp"
#include "cli/tree_command.hpp"
#include "ipc/socket.hpp"

namespace landtrace::cli {
namespace {

int attach_all(const std::string& option, const std::vector<std::string>& words) {
  const auto pids = parse_pids("PID", words);
  if (!pids) return fail_with(kBadUse, sentence(pids.error()));
  const std::string socket = domain_to_speak_to(option);
  if (const auto owner = ipc::connect_to(socket); !owner) {
    const auto unreachable = unreached(owner.error());
    return fail_with(kFailure, sentence(unreachable.value()));
  }
  int status = kSuccess;
  for (const std::uint32_t pid : *pids) {
    const auto attached = attach_program(pid, socket);
    if (!attached) status = fail_with(kFailure, sentence(attached.error()));
    if (attached) complain(attached_text(*attached, socket));
  }
  return status;
}

}  // namespace

void add_attach(Program& program) {
  Command& command = program.add("attach", "Make a program that runs already ready for probes");
  const auto socket = add_socket_option(command);
  auto pids = std::make_shared<std::vector<std::string>>();
  command.words("PID", *pids, "Process to attach to a running domain", {.required = true});
  command.examples(
      "Examples:\n"
      "  landtrace attach 1234                           to the user's domain\n"
      "  landtrace attach $(pgrep -x nginx)              several\n"
      "  landtrace record --pid 1234 -p 'libc.so.6:malloc size=$arg1'\n"
      "                                                  attaches by itself");
  command.runs([socket, pids] { return attach_all(*socket, *pids); });
}

}  // namespace landtrace::cli
