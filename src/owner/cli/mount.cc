// `landtrace mount`, `landtrace umount`
#include "cli/commands.hpp"
#include "cli/domain_choice.hpp"
#include "cli/environment.hpp"
#include "cli/failure.hpp"
#include "cli/full_path.hpp"
#include "cli/signals.hpp"
#include "daemon/handover.hpp"
#include "daemon/hosted_domain.hpp"
#include "ipc/path.hpp"

namespace landtrace::cli {
namespace {

struct MountOptions {
  std::string folder;
  std::string socket;
  std::string abi;
  bool allow_other = false;
};

int end_of(Signals& signals, const Fd& watch) {
  for (;;) {
    const auto arrived = signals.wait(Signals::kForEver, watch.get());
    if (!arrived || arrived->number != SIGCHLD) return kSuccess;
  }
}

// Nobody serves the domain, so this process does, until the folder is unmounted.
int serve_here(const MountOptions& options, unsigned abi) {
  auto signals = Signals::take();
  if (!signals) return fail_with(kFailure, sentence(signals.error()));
  std::string socket = named_socket(options.socket);
  if (socket.empty()) {
    if (auto folder = ipc::runtime_folder(); !folder) return fail_with(kFailure, sentence(folder.error()));
    socket = ipc::user_socket();
  }
  Fd watch;
  const auto mount = [&](daemon::HostedDomain& domain, const ipc::TreeClient&) -> Result<void> {
    LT_TRY(watch, domain.mounts().mount(options.folder, options.allow_other));
    return {};
  };
  const auto hosted = daemon::HostedDomain::start(
      {.socket = socket, .abi = abi, .may_come_back = true, .agent = find_agent().value_or(""), .tell = complain},
      mount);
  if (!hosted) return fail_with(kFailure, sentence(hosted.error()));
  complain("serving the domain at " + options.folder + " until it is unmounted or this is interrupted");
  return end_of(*signals, watch);
}

int mount(const MountOptions& options) {
  unsigned abi = 0;
  if (!options.abi.empty()) {
    const auto parsed = daemon::parse_abi(options.abi);
    if (!parsed) return fail_with(kBadUse, sentence(parsed.error()));
    abi = *parsed;
  }
  if (const auto running = mountable_domain(options.socket)) {
    auto handover = daemon::Handover::offer(*running, abi);
    if (handover) {
      const auto mounted = handover->mount_and_serve(options.folder, options.allow_other);
      return mounted ? kSuccess : fail_with(kFailure, sentence(mounted.error()));
    }
    if (!is_nobody(handover.error())) return fail_with(kFailure, sentence(handover.error()));
  }
  return serve_here(options, abi == 0 ? daemon::HostedDomain::kAbi6_12 : abi);
}

int umount(const std::string& folder) {
  const auto done = daemon::unmount_folder(full_path(folder));
  return done ? kSuccess : fail_with(kFailure, sentence(done.error()));
}

}  // namespace

void add_mount(Program& program) {
  auto options = std::make_shared<MountOptions>();
  Command& command = program.add("mount", "Show a domain as a file tree, as the kernel's tracefs");
  command.option("DIR", options->folder, "Folder to mount at", {.required = true});
  command.option("--socket", options->socket, "Socket of the domain; without it, the user's", {.type = "PATH"});
  command.option("--abi", options->abi, "Which kernel's user_events_status the files have: 6.1 or 6.12");
  command.flag("--allow-other", options->allow_other, "Let other users reach the files (root always does)");
  command.examples(
      "Examples:\n"
      "  landtrace mount ~/tracing                       shows the user's domain there\n"
      "  cat ~/tracing/available_events\n"
      "  landtrace umount ~/tracing");
  command.runs([options] {
    options->folder = full_path(options->folder);
    return mount(*options);
  });
}

void add_umount(Program& program) {
  auto folder = std::make_shared<std::string>();
  Command& command = program.add("umount", "Take a mounted file tree away");
  command.option("DIR", *folder, "Folder where it is mounted", {.required = true});
  command.examples("Examples:\n  landtrace umount ~/tracing");
  command.runs([folder] { return umount(*folder); });
}

}  // namespace landtrace::cli
