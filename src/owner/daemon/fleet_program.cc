#include "daemon/fleet_program.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <utility>
#include <vector>

#include "base/spawn_settings.hpp"

namespace landtrace::daemon {

Result<FleetProgram> FleetProgram::start(const std::string& program, const fleet::AgentOptions& options) {
  FleetProgram made;
  const SpawnSettings settings;
  std::string name = "landtrace-fleet", what = "agent";
  char* const words[] = {name.data(), what.data(), nullptr};
  std::string variable = std::string(fleet::kOptionsVariable) + "=" + fleet::json_of(options);
  std::vector<char*> environment;
  for (char** word = environ; *word != nullptr; ++word) environment.push_back(*word);
  environment.push_back(variable.data());
  environment.push_back(nullptr);
  const int code = ::posix_spawn(&made.pid_, program.c_str(), &settings.files, &settings.attributes, words,
                                 environment.data());
  if (code == 0) return made;
  made.pid_ = -1;
  if (code != ENOENT) return fail(code, program + " does not start: " + errno_text(code));
  return fail(ENOENT, program + " is not installed: Landtrace was built without libnats (libnats-dev)");
}

FleetProgram::FleetProgram(FleetProgram&& other) noexcept : pid_(std::exchange(other.pid_, -1)) {}

FleetProgram::~FleetProgram() {
  if (pid_ < 0) return;
  ::kill(pid_, SIGTERM);
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

bool FleetProgram::has_ended() {
  if (pid_ < 0 || ::waitpid(pid_, nullptr, WNOHANG) != pid_) return false;
  pid_ = -1;
  return true;
}

}  // namespace landtrace::daemon
