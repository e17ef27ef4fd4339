#include "daemon/fleet_program.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <utility>
#include <vector>

#include "base/child_end.hpp"
#include "base/end_with_parent.hpp"
#include "base/spawn_settings.hpp"

namespace landtrace::daemon {

namespace {

std::string ending_text(int status) {
  if (!WIFSIGNALED(status)) return "with status " + std::to_string(WEXITSTATUS(status));
  const char* const name = ::sigabbrev_np(WTERMSIG(status));
  return name == nullptr ? "by signal " + std::to_string(WTERMSIG(status)) : std::string("by SIG") + name;
}

}  // namespace

Result<FleetProgram> FleetProgram::start(const std::string& program, const fleet::AgentOptions& options) {
  FleetProgram made;
  const SpawnSettings settings;
  std::string name = "landtrace-fleet", what = "agent";
  char* const words[] = {name.data(), what.data(), nullptr};
  std::vector<std::string> variables{parent_variable(),
                                     std::string(fleet::kOptionsVariable) + "=" + fleet::json_of(options)};
  const int code = ::posix_spawn(&made.pid_, program.c_str(), &settings.files, &settings.attributes, words,
                                 environment_with(variables).data());
  if (code == 0) return made;
  made.pid_ = -1;
  if (code != ENOENT) return fail(code, program + " does not start: " + errno_text(code));
  return fail(ENOENT, program + " is not installed: Landtrace was built without libnats (libnats-dev)");
}

FleetProgram::FleetProgram(FleetProgram&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)), how_it_ended_(std::move(other.how_it_ended_)) {}

FleetProgram::~FleetProgram() {
  if (pid_ < 0) return;
  ::kill(pid_, SIGTERM);
  wait_for_end(pid_);
}

bool FleetProgram::has_ended() {
  if (pid_ < 0) return false;
  const auto status = status_at_end(pid_);
  if (!status) return false;
  pid_ = -1;
  how_it_ended_ = ending_text(*status);
  return true;
}

}  // namespace landtrace::daemon
