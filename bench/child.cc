#include "child.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <cerrno>
#include <cstdlib>
#include <regex>

namespace landtrace::bench {
namespace {

constexpr int kPatience_ms = 5000;

// Between fork and exec, of a process that may have threads: system calls only, but for setenv, which no
// other thread of ours uses.
[[noreturn]] void become(const Command& command, char** arguments, int in, int out, pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  ::signal(SIGPIPE, SIG_DFL);
  if (::getppid() != parent) ::_exit(125);
  ::dup2(in, STDIN_FILENO);
  if (!command.shares_output) ::dup2(out, STDOUT_FILENO);
  if (command.joins_errors) ::dup2(out, STDERR_FILENO);
  if (command.quiet) {
    const int null = ::open("/dev/null", O_WRONLY);
    ::dup2(null, STDERR_FILENO);
  }
  for (const auto& [name, value] : command.environment) {
    value.empty() ? ::unsetenv(name.c_str()) : ::setenv(name.c_str(), value.c_str(), 1);
  }
  ::execvp(arguments[0], arguments);
  ::_exit(127);
}

}  // namespace

Child::Child(const Command& command) : name_(command.arguments.front()) {
  int in[2], out[2];
  if (::pipe2(in, O_CLOEXEC) != 0) throw Broken("pipe2: " + errno_text(errno));
  in_ = Fd(in[1]);
  const Fd child_in(in[0]);
  if (::pipe2(out, O_CLOEXEC) != 0) throw Broken("pipe2: " + errno_text(errno));
  out_ = Fd(out[0]);
  const Fd child_out(out[1]);
  std::vector<char*> arguments;
  for (const std::string& argument : command.arguments) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  const pid_t parent = ::getpid();
  pid_ = ::fork();
  if (pid_ < 0) throw Broken("fork: " + errno_text(errno));
  if (pid_ == 0) become(command, arguments.data(), in[0], out[1], parent);
}

Child::Child(Child&& other) noexcept
    : name_(std::move(other.name_)),
      pid_(std::exchange(other.pid_, -1)),
      in_(std::move(other.in_)),
      out_(std::move(other.out_)) {}

Child::~Child() {
  if (pid_ <= 0) return;
  in_.reset();
  ::kill(pid_, SIGTERM);
  for (int waited = 0; waited < kPatience_ms; ++waited) {
    if (::waitpid(pid_, nullptr, WNOHANG) == pid_) return;
    ::usleep(1000);
  }
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

void Child::send(const std::string& line) {
  const std::string text = line + "\n";
  if (!write_all(in_.get(), text.data(), text.size())) throw Broken(name_ + " does not listen any more");
}

std::string Child::line() {
  std::string text;
  char byte = 0;
  while (::read(out_.get(), &byte, 1) == 1) {
    if (byte == '\n') return text;
    text += byte;
  }
  throw Broken(fmt::format("{} ended without an answer{}{}", name_, text.empty() ? "" : ": ", text));
}

std::string Child::rest() {
  std::string text;
  char buffer[4096];
  for (ssize_t n; (n = ::read(out_.get(), buffer, sizeof buffer)) > 0;)
    text.append(buffer, static_cast<std::size_t>(n));
  return text;
}

int Child::wait() {
  in_.reset();
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0) {
    if (errno != EINTR) throw Broken("waitpid: " + errno_text(errno));
  }
  pid_ = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

std::string run(const Command& command) {
  Child child(command);
  std::string text = child.rest();
  if (const int status = child.wait(); status != 0) {
    throw Broken(fmt::format("{} ended with {}: {}", fmt::join(command.arguments, " "), status, text));
  }
  return text;
}

std::uint64_t number_in(const std::string& said, const char* expression) {
  std::smatch match;
  if (!std::regex_search(said, match, std::regex(expression))) throw Broken("a program said: " + said);
  std::string digits = match[1];
  std::erase(digits, ',');
  return std::stoull(digits);
}

Command role(const std::string& name, std::vector<std::string> arguments) {
  Command command{{"/proc/self/exe", "--role", name},
                  {{"LD_PRELOAD", ""}, {"LANDTRACE_BACKEND", "domain"}, {"LANDTRACE_SOCKET", "/nonexistent"}}};
  for (std::string& argument : arguments) command.arguments.push_back(std::move(argument));
  return command;
}

}  // namespace landtrace::bench
