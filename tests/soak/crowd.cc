#include "crowd.hpp"

#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace landtrace::soak {
namespace {

// What each thread of it waits for, and of its children.
void tell_threads(pid_t pid) {
  std::error_code error;  // it may end meanwhile
  std::filesystem::directory_iterator thread("/proc/" + std::to_string(pid) + "/task", error);
  for (; thread != std::filesystem::directory_iterator(); thread.increment(error)) {
    const std::filesystem::path& path = thread->path();
    for (const char* const name : {"stat", "schedstat", "wchan", "syscall", "stack"}) {
      std::ifstream lines(path / name);
      for (std::string text; std::getline(lines, text);) {
        std::fprintf(stderr, "soak: %s/%s: %s\n", path.c_str(), name, text.c_str());
      }
    }
    std::ifstream children(path / "children");
    std::for_each(std::istream_iterator<pid_t>(children), {}, tell_threads);
  }
}

}  // namespace

Command Crowd::command(Kind kind) {
  const std::string seed = std::to_string(random_());
  const std::string shown = "/sys/kernel/tracing/user_events_data";
  switch (kind) {
    case Kind::kNative:
      return {{LANDTRACE_NATIVE_PRODUCER, places_.progress, seed}, {{"LANDTRACE_SOCKET", places_.socket}}};
    case Kind::kPortable:
      return {{LANDTRACE_NATIVE_PRODUCER, places_.progress, seed},
              {{"LANDTRACE_SOCKET", places_.socket}, {"LANDTRACE_WRITER", "portable"}}};
    case Kind::kShim:
      return {{LANDTRACE_ABI_PRODUCER, places_.progress, seed, shown},
              {{"LANDTRACE_SOCKET", places_.socket}, {"LD_PRELOAD", LANDTRACE_SHIM}}};
    case Kind::kMount:
      return {{LANDTRACE_ABI_PRODUCER, places_.progress, seed, places_.mount + "/user_events_data"}, {}};
  }
  return {};
}

// Few through a mount: an event of theirs costs as much as a hundred others.
void Crowd::add() {
  const bool any = random_() % 4 == 0;
  const pid_t pid = start(command(static_cast<Kind>(random_() % (any ? kinds_ : kKinds - 1))));
  if (pid > 0) members_.push_back(pid);
}

void Crowd::kill_one() {
  if (members_.empty()) return;
  const pid_t pid = members_[random_() % members_.size()];
  if (stopped_ == pid) stopped_.reset();
  ::kill(pid, SIGKILL);
  ++kills_;
  int status = 0;
  if (::waitpid(pid, &status, 0) == pid && !WIFSIGNALED(status)) note_end(status);  // before it was killed
  std::erase(members_, pid);
  add();
}

void Crowd::note_end(int status) {
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return;
  std::fprintf(stderr, "soak: a producer ended with wait status %#x\n", static_cast<unsigned>(status));
  ++failed_;
}

void Crowd::stop_one() {
  let_all_go_on();
  if (members_.empty()) return;
  stopped_ = members_[random_() % members_.size()];
  ::kill(*stopped_, SIGSTOP);
}

void Crowd::let_all_go_on() {
  if (stopped_) ::kill(*stopped_, SIGCONT);
  stopped_.reset();
}

// Also those whose parents were killed: they are ours then.
void Crowd::reap(int options) {
  int status = 0;
  for (pid_t pid; (pid = ::waitpid(-1, &status, options)) > 0;) {
    if (std::erase(members_, pid) > 0) note_end(status);
  }
}

std::size_t Crowd::wait(int limit_s) {
  let_all_go_on();
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(limit_s);
  while (!members_.empty() && std::chrono::steady_clock::now() < end) {
    reap(WNOHANG);
    ::usleep(1000);
  }
  const std::size_t late = members_.size();
  std::for_each(members_.begin(), members_.end(), tell_threads);
  this->end();
  return late;
}

void Crowd::end() {
  for (const pid_t pid : members_) {
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
  }
  members_.clear();
}

}  // namespace landtrace::soak
