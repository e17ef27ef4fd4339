#include "daemon/late_programs.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "attach/agent_status.hpp"
#include "attach/attach.hpp"
#include "base/fd.hpp"
#include "ipc/path.hpp"
#include "programs/task.hpp"

namespace landtrace::daemon {
namespace {

using namespace std::chrono_literals;

using programs::PatientWorker;

// So many users' programs are looked after at once, and so many of one user's are left behind where they do not answer.
constexpr std::size_t kMostUsers = 64;
constexpr unsigned kMostLeftBehind = 4;
// Whoever attaches gets on in less than that; and in all it takes no longer.
constexpr std::chrono::microseconds kPatience = attach::kStopPatience + 2s;
constexpr std::chrono::microseconds kLongest = 90s;

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

std::map<std::uint32_t, std::vector<std::uint32_t>> programs_by_user() {
  std::map<std::uint32_t, std::vector<std::uint32_t>> found;
  std::error_code error;
  std::filesystem::directory_iterator folder("/proc", error);
  for (; !error && folder != std::filesystem::directory_iterator(); folder.increment(error)) {
    const std::string name = folder->path().filename().string();
    const auto pid = static_cast<std::uint32_t>(std::strtoul(name.c_str(), nullptr, 10));
    if (pid == 0 || is_ours(pid)) continue;
    if (const auto uid = programs::user_of(pid)) found[*uid].push_back(pid);
  }
  return found;
}

// The job counts up while it gets on. False where it does not come back.
bool run_patiently(PatientWorker& worker, const std::function<void(PatientWorker::Progress&)>& job) {
  const auto progress = std::make_shared<PatientWorker::Progress>(0);
  worker.post([progress, job] { job(*progress); });
  if (worker.wait(kPatience, kLongest, *progress) == PatientWorker::Outcome::kDone) return true;
  worker.leave_behind();
  return false;
}

}  // namespace

struct LatePrograms::Target {
  std::string agent;
  std::string socket;
  std::uint64_t control;
  // Without a partner: whoever sees it looks at nothing else.
  std::atomic<bool> is_over = false;

  [[nodiscard]] bool has(std::uint32_t pid) const;
};

LatePrograms::LatePrograms(std::string agent, std::string socket, std::uint64_t control, Tell tell)
    : target_(std::make_shared<Target>()), tell_(std::move(tell)) {
  target_->agent = std::move(agent);
  target_->socket = std::move(socket);
  target_->control = control;
}

LatePrograms::~LatePrograms() {
  {
    const std::lock_guard lock(mutex_);
    target_->is_over = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void LatePrograms::attach_all() {
  const std::lock_guard lock(mutex_);
  if (!target_->agent.empty() && !thread_.joinable() && !target_->is_over) thread_ = std::thread([this] { run(); });
}

bool LatePrograms::pause(std::chrono::milliseconds time) {
  std::unique_lock lock(mutex_);
  return !changed_.wait_for(lock, time, [this] { return target_->is_over.load(); });
}

// It has mapped the control segment; or it is under the shim, and was started for this domain.
bool LatePrograms::Target::has(std::uint32_t pid) const {
  const auto maps = read_file(fmt::format("/proc/{}/maps", pid), 64u << 20);
  if (!maps) return false;
  // One that has not begun is there where an owner ended while it brought it.
  if (maps->find("/liblandtrace-agent.so\n") != std::string::npos && attach::has_agent(pid)) return false;
  const std::string mapped = fmt::format(" {} ", control);
  for (std::size_t at = maps->find("memfd:landtrace-control"); at != std::string::npos;
       at = maps->find("memfd:landtrace-control", at + 1)) {
    const std::size_t line = maps->rfind('\n', at) + 1;
    if (maps->substr(line, at - line).find(mapped) != std::string::npos) return true;
  }
  if (maps->find("/liblandtrace-preload.so\n") == std::string::npos) return false;
  const auto environment = read_file(fmt::format("/proc/{}/environ", pid), 4u << 20);
  if (!environment) return false;
  const char* const value = variable_in(*environment, ipc::kSocketVariable);
  return value != nullptr ? value == socket : socket == ipc::default_socket();
}

LatePrograms::Pids LatePrograms::find_in_domain(PatientWorker& worker, const Pids& pids) const {
  Pids found;
  for (const std::uint32_t pid : pids) {
    if (target_->is_over || worker.left_behind() >= kMostLeftBehind) break;
    const auto is_there = std::make_shared<bool>(false);
    const auto look = [target = target_, pid, is_there](PatientWorker::Progress&) { *is_there = target->has(pid); };
    if (run_patiently(worker, look) && *is_there) found.push_back(pid);
  }
  return found;
}

LatePrograms::Left LatePrograms::attach(PatientWorker& worker, const Pids& pids) {
  Left left;
  for (const std::uint32_t pid : pids) {
    if (!pause(0ms) || worker.left_behind() >= kMostLeftBehind) return {};
    using Outcome = Result<attach::Attached>;
    const auto outcome = std::make_shared<Outcome>();
    const auto job = [target = target_, pid, outcome](PatientWorker::Progress& progress) {
      *outcome = attach::attach({.pid = pid,
                                 .agent = target->agent,
                                 .socket = target->socket,
                                 .cancelled = &target->is_over,
                                 .progress = &progress});
    };
    if (!run_patiently(worker, job)) {
      if (!target_->is_over) tell(fmt::format("process {} does not answer who looks into its memory", pid));
      continue;
    }
    const int error = *outcome ? 0 : outcome->error().code;
    if (error == 0 || error == ESRCH || error == ECONNRESET || error == ECANCELED) continue;
    // One may yet name this process to Yama, as programs do that join the next owner (client/owner_trace.hpp).
    if (error == EBUSY || error == EPERM) {
      left.emplace(pid, outcome->error().message);
    } else {
      tell(outcome->error().message);
    }
  }
  return left;
}

void LatePrograms::tell(const std::string& why) {
  const std::lock_guard lock(telling_);
  if (tell_) tell_("probes do not come to a program that runs already: " + why);
}

// What is not only for a moment is told after the second time, when somebody may still be there who waits for hits.
void LatePrograms::attach_those(const Pids& pids) {
  PatientWorker worker;
  auto left = attach(worker, find_in_domain(worker, pids));
  bool is_told = false;
  for (const auto time : kAgain) {
    if (left.empty() || !pause(time)) return;
    Pids again;
    for (const auto& [pid, why] : left) again.push_back(pid);
    left = attach(worker, again);
    for (const auto& [pid, why] : left) {
      if (!is_told) tell(why);
    }
    is_told = true;
  }
}

void LatePrograms::run() {
  std::vector<std::thread> users;
  for (const auto& [uid, pids] : programs_by_user()) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return users_at_work_ < kMostUsers || target_->is_over; });
    if (target_->is_over) break;
    ++users_at_work_;
    users.emplace_back([this, pids = pids] {
      attach_those(pids);
      const std::lock_guard done(mutex_);
      --users_at_work_;
      changed_.notify_all();
    });
  }
  for (std::thread& user : users) user.join();
}

}  // namespace landtrace::daemon
