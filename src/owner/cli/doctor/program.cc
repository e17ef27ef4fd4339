#include "cli/doctor/program.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "arch/clock.hpp"
#include "base/fd.hpp"
#include "cli/environment.hpp"
#include "cli/failure.hpp"

namespace landtrace::cli::doctor {
namespace {

constexpr std::uint64_t kPatience_ns = 10'000'000'000;

struct Pipe {
  Fd reader, writer;
  static Result<Pipe> make() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return fail_errno("pipe");
    return Pipe{Fd(ends[0]), Fd(ends[1])};
  }
};

// What comes until the other end is closed. ETIMEDOUT.
Result<std::string> read_until_closed(const Fd& reader) {
  std::string text;
  const std::uint64_t deadline = arch::monotonic_ns() + kPatience_ns;
  for (;;) {
    const std::uint64_t now = arch::monotonic_ns();
    if (now >= deadline) return fail(ETIMEDOUT, "it did not end");
    pollfd poll_fd{reader.get(), POLLIN, 0};
    if (::poll(&poll_fd, 1, static_cast<int>((deadline - now) / 1'000'000) + 1) <= 0) continue;
    char buffer[4096];
    const ssize_t n = ::read(reader.get(), buffer, sizeof buffer);
    if (n == 0) return text;
    if (n > 0) text.append(buffer, static_cast<std::size_t>(n));
  }
}

std::string last_line(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  text = text.substr(text.rfind('\n') + 1);
  constexpr std::string_view kOwnName = "landtrace: ";
  return text.starts_with(kOwnName) ? text.substr(kOwnName.size()) : text;
}

Result<void> outcome(pid_t child, const Fd& reader) {
  auto said = read_until_closed(reader);
  if (!said) ::kill(child, SIGKILL);
  int status = 0;
  ::waitpid(child, &status, 0);
  LT_TRY(const std::string text, std::move(said));
  if (WIFSIGNALED(status)) return fail(EPROTO, fmt::format("signal {} ended it", WTERMSIG(status)));
  if (WEXITSTATUS(status) == 0) return {};
  const std::string line = last_line(text);
  return fail(EPROTO, line.empty() ? fmt::format("exit status {}", WEXITSTATUS(status)) : line);
}

}  // namespace

Result<void> run_program(const std::vector<std::string>& words, const std::vector<std::string>& environment) {
  LT_TRY(Pipe pipe, Pipe::make());
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, pipe.writer.get(), 1);
  ::posix_spawn_file_actions_adddup2(&actions, pipe.writer.get(), 2);
  pid_t child = 0;
  const int error = ::posix_spawn(&child, words[0].c_str(), &actions, nullptr, exec_array(words).data(),
                                  exec_array(environment).data());
  ::posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return fail_errno(words[0], error);
  pipe.writer.reset();
  return outcome(child, pipe.reader);
}

Result<void> run_in_child(const std::function<Result<void>()>& work) {
  LT_TRY(Pipe pipe, Pipe::make());
  const pid_t child = ::fork();
  if (child < 0) return fail_errno("fork");
  if (child == 0) {
    const auto done = work();
    const std::string why = done ? "" : sentence(done.error());
    std::ignore = write_all(pipe.writer.get(), why.data(), why.size());
    ::_exit(done ? 0 : 1);
  }
  pipe.writer.reset();
  return outcome(child, pipe.reader);
}

}  // namespace landtrace::cli::doctor
