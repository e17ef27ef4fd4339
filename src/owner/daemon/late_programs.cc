#include "daemon/late_programs.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "attach/agent_status.hpp"
#include "attach/attach.hpp"
#include "base/fd.hpp"
#include "ipc/path.hpp"

namespace landtrace::daemon {
namespace {

using namespace std::chrono_literals;

// A program that is stopped, say, may go on.
constexpr std::chrono::milliseconds kAgain[] = {200ms, 1s, 5s, 30s};

// The value of a variable that the program was started with; nullptr: it has none.
const char* variable_in(const std::string& environment, std::string_view name) {
  for (std::size_t at = 0; at < environment.size(); at += std::strlen(environment.c_str() + at) + 1) {
    const std::string_view word(environment.c_str() + at);
    if (word.size() > name.size() && word.starts_with(name) && word[name.size()] == '=') {
      return environment.c_str() + at + name.size() + 1;
    }
  }
  return nullptr;
}

// This program's own kind: recorders, a fleet's agent and the like have mapped the domain, too.
bool is_ours(std::uint32_t pid) {
  std::error_code error;
  const auto program = std::filesystem::read_symlink(fmt::format("/proc/{}/exe", pid), error);
  const auto own = std::filesystem::read_symlink("/proc/self/exe", error);
  const std::string name = program.filename();
  return error || program == own || name == "landtrace" || name == "landtraced" || name.starts_with("landtrace-");
}

}  // namespace

LatePrograms::~LatePrograms() {
  {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
  }
  ended_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void LatePrograms::attach_all() {
  const std::lock_guard lock(mutex_);
  if (!agent_.empty() && !thread_.joinable() && !is_over_) thread_ = std::thread([this] { run(); });
}

bool LatePrograms::pause(std::chrono::milliseconds time) {
  std::unique_lock lock(mutex_);
  return !ended_.wait_for(lock, time, [this] { return is_over_.load(); });
}

// It has mapped the control segment; or it is under the shim, and was started for this domain.
bool LatePrograms::is_in_domain(std::uint32_t pid) const {
  const auto maps = read_file(fmt::format("/proc/{}/maps", pid), 64u << 20);
  if (!maps) return false;
  // One that has not begun is there where an owner ended while it brought it.
  if (maps->find("/liblandtrace-agent.so\n") != std::string::npos && attach::has_agent(pid)) return false;
  const std::string mapped = fmt::format(" {} ", control_);
  for (std::size_t at = maps->find("memfd:landtrace-control"); at != std::string::npos;
       at = maps->find("memfd:landtrace-control", at + 1)) {
    const std::size_t line = maps->rfind('\n', at) + 1;
    if (maps->substr(line, at - line).find(mapped) != std::string::npos) return true;
  }
  if (maps->find("/liblandtrace-preload.so\n") == std::string::npos) return false;
  const auto environment = read_file(fmt::format("/proc/{}/environ", pid), 4u << 20);
  if (!environment) return false;
  const char* const socket = variable_in(*environment, ipc::kSocketVariable);
  return socket != nullptr ? socket == socket_ : socket_ == ipc::default_socket();
}

std::vector<std::uint32_t> LatePrograms::programs() const {
  std::vector<std::uint32_t> pids;
  std::error_code error;
  std::filesystem::directory_iterator folder("/proc", error);
  for (; !error && folder != std::filesystem::directory_iterator(); folder.increment(error)) {
    const std::string name = folder->path().filename().string();
    const auto pid = static_cast<std::uint32_t>(std::strtoul(name.c_str(), nullptr, 10));
    if (pid != 0 && !is_ours(pid) && is_in_domain(pid)) pids.push_back(pid);
  }
  return pids;
}

LatePrograms::Left LatePrograms::attach(const std::vector<std::uint32_t>& pids) {
  Left left;
  for (const std::uint32_t pid : pids) {
    if (!pause(0ms)) return {};
    const auto attached = attach::attach({pid, agent_, socket_, &is_over_});
    const int error = attached ? 0 : attached.error().code;
    if (error == 0 || error == ESRCH || error == ECANCELED) continue;
    // One may yet name this process to Yama, as programs do that join the next owner (client/owner_trace.hpp).
    if (error == EBUSY || error == EPERM) {
      left.emplace(pid, attached.error().message);
    } else {
      tell(attached.error().message);
    }
  }
  return left;
}

void LatePrograms::tell(const std::string& why) const {
  if (tell_) tell_("probes do not come to a program that runs already: " + why);
}

// What is not only for a moment is told after the second time, when somebody may still be there who waits for hits.
void LatePrograms::run() {
  auto left = attach(programs());
  bool is_told = false;
  for (const auto time : kAgain) {
    if (left.empty() || !pause(time)) return;
    std::vector<std::uint32_t> pids;
    for (const auto& [pid, why] : left) pids.push_back(pid);
    left = attach(pids);
    for (const auto& [pid, why] : left) {
      if (!is_told) tell(why);
    }
    is_told = true;
  }
}

}  // namespace landtrace::daemon
