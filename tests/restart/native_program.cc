// A program on the native API that does what the lines on its standard input say, for native_restart_test.cc.
#include <dirent.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <deque>
#include <string>
#include <thread>
#include <vector>

#include <landtrace/landtrace.hpp>

namespace {

std::deque<landtrace_event> events;
std::deque<std::string> declarations;
pid_t child = -1;

void answer(long value) {
  std::printf("%ld\n", value);
  std::fflush(stdout);
}

long now_us() {
  timespec t;
  ::clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1'000'000 + t.tv_nsec / 1000;
}

int emit(int i, std::uint32_t value) {
  const iovec vector{&value, sizeof value};
  return landtrace_emit(&events[static_cast<std::size_t>(i)], &vector, 1);
}

bool emit_soon(int i, std::uint32_t value) {
  constexpr long kPatience_us = 30'000'000;
  for (const long end = now_us() + kPatience_us; now_us() < end; ::usleep(100)) {
    if (emit(i, value) == 0) return true;
  }
  return false;
}

int count_in(const char* path) {
  int count = 0;
  DIR* const folder = ::opendir(path);
  while (const dirent* const entry = ::readdir(folder)) count += entry->d_name[0] != '.';
  ::closedir(folder);
  return count;
}

void emit_for_ever(std::atomic<bool>& stop, std::atomic<long>& taken) {
  long mine = 0;
  while (!stop.load(std::memory_order_relaxed)) {
    const int result = emit(0, 1);
    if (result == 0) ++mine;
    if (result != 0 && result != -EBADF) std::_Exit(3);
  }
  taken += mine;
}

// Emits from eight threads until the next line.
void storm() {
  std::atomic<bool> stop = false;
  std::atomic<long> taken = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) threads.emplace_back([&] { emit_for_ever(stop, taken); });
  answer(0);
  char line[64];
  if (std::fgets(line, sizeof line, stdin) == nullptr) std::_Exit(2);
  stop = true;
  for (std::thread& thread : threads) thread.join();
  answer(taken);
}

bool obey(const std::string& line) {
  int i = 0;
  unsigned value = 0;
  if (line.starts_with("reg ")) {
    landtrace_event& event = events.emplace_back(landtrace_event LANDTRACE_EVENT_INIT);
    answer(landtrace_register(&event, declarations.emplace_back(line.substr(4)).c_str(), 0));
  } else if (std::sscanf(line.c_str(), "unreg %d", &i) == 1) {
    answer(landtrace_unregister(&events[static_cast<std::size_t>(i)]));
  } else if (std::sscanf(line.c_str(), "on %d", &i) == 1) {
    answer(landtrace_enabled(&events[static_cast<std::size_t>(i)]));
  } else if (std::sscanf(line.c_str(), "emit %d %u", &i, &value) == 2) {
    answer(emit(i, value));
  } else if (std::sscanf(line.c_str(), "time %d %u", &i, &value) == 2) {
    const bool done = emit_soon(i, value);
    answer(done ? now_us() : -1);
  } else if (std::sscanf(line.c_str(), "child %d %u", &i, &value) == 2) {
    child = ::fork();
    if (child == 0) std::_Exit(emit_soon(i, value) ? 0 : 1);
    answer(0);
  } else if (line == "join") {
    int status = -1;
    ::waitpid(child, &status, 0);
    answer(WIFEXITED(status) ? WEXITSTATUS(status) : -1);
  } else if (line == "fork") {  // the child goes on
    if (::fork() != 0) std::_Exit(0);
    answer(0);
  } else if (line == "attach") {
    answer(landtrace_attach());
  } else if (line == "threads") {
    answer(count_in("/proc/self/task"));
  } else if (line == "descriptors") {
    answer(count_in("/proc/self/fd"));
  } else if (std::sscanf(line.c_str(), "helper %d", &i) == 1) {
    answer(landtrace_helper(i));
  } else if (line == "new user namespace") {
    answer(::unshare(CLONE_NEWUSER) == 0 ? 0 : -errno);
  } else if (line == "close all") {
    ::closefrom(3);
    answer(0);
  } else if (line == "storm") {
    storm();
  } else {
    return false;
  }
  return true;
}

}  // namespace

int main() {
  std::puts("ready");
  std::fflush(stdout);
  std::string line;
  for (char byte; ::read(0, &byte, 1) == 1;) {
    if (byte != '\n') {
      line += byte;
    } else {
      if (!obey(line)) return 2;
      line.clear();
    }
  }
}
