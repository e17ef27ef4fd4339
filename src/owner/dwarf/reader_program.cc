#include "dwarf/reader_program.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "base/child_end.hpp"
#include "base/spawn_settings.hpp"
#include "dwarf/talk.hpp"

namespace landtrace::dwarf {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kLongestAnswer = 256u << 20;
constexpr const char* kProgram = "landtrace-dwarf";

void set_files(posix_spawn_file_actions_t& files, int object, int out) {
  ::posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  // `object` may be what `out` becomes: both are above 3.
  ::posix_spawn_file_actions_adddup2(&files, out, STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&files, object, kObjectFd);
  ::posix_spawn_file_actions_addclosefrom_np(&files, kObjectFd + 1);
}

// One that no dup2() of the set_files() writes over.
Result<Fd> above_standard(int fd) {
  Fd above(::fcntl(fd, F_DUPFD_CLOEXEC, kObjectFd + 1));
  if (!above) return fail_errno("a descriptor");
  return above;
}

struct Started {
  pid_t pid = -1;
  Fd out;
};

Result<Started> start(const std::string& program, int object, const std::vector<std::string>& words) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return fail_errno("a pipe");
  Fd read_end(ends[0]);
  const Fd write_end(ends[1]);
  LT_TRY(const Fd own_object, above_standard(object));
  LT_TRY(const Fd own_out, above_standard(write_end.get()));
  std::vector<char*> arguments{const_cast<char*>(kProgram)};
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  std::array<char*, 1> environment{nullptr};
  SpawnSettings settings;
  set_files(settings.files, own_object.get(), own_out.get());
  Started started;
  const int code = ::posix_spawn(&started.pid, program.c_str(), &settings.files, &settings.attributes, arguments.data(),
                                 environment.data());
  if (code != 0) return fail(code, fmt::format("{}, which reads debugging information, does not start", program));
  started.out = std::move(read_end);
  return started;
}

// False: it takes too long, or says too much.
bool read_all(int fd, std::string& text, Clock::time_point deadline) {
  std::array<char, 65536> bytes;
  while (text.size() < kLongestAnswer) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0) return false;
    pollfd wanted{fd, POLLIN, 0};
    const int ready = ::poll(&wanted, 1, static_cast<int>(std::min<long long>(left, 60'000)));
    if (ready < 0 && errno != EINTR) return false;
    if (ready <= 0) continue;
    const ssize_t n = ::read(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return n == 0;
    text.append(bytes.data(), static_cast<std::size_t>(n));
  }
  return false;
}

}  // namespace

std::string reader_path() {
  namespace fs = std::filesystem;
  if (const char* const named = std::getenv("LANDTRACE_DWARF"); named != nullptr && *named != '\0') return named;
  std::error_code error;
  const fs::path own = fs::read_symlink("/proc/self/exe", error);
  const fs::path beside = own.parent_path().parent_path() / LANDTRACE_LIBDIR / "landtrace" / kProgram;
  return !error && fs::exists(beside, error) ? beside.string() : LANDTRACE_DWARF_INSTALLED;
}

Result<std::string> run_reader(int object, const std::vector<std::string>& words, std::chrono::milliseconds patience) {
  const Clock::time_point deadline = Clock::now() + patience;
  LT_TRY(const Started started, start(reader_path(), object, words));
  std::string text;
  const bool is_done = read_all(started.out.get(), text, deadline);
  if (!is_done) ::kill(started.pid, SIGKILL);
  const int status = wait_for_end(started.pid).value_or(0);  // 0: somebody else has waited for it
  const bool is_late =
      !is_done || (WIFSIGNALED(status) && (WTERMSIG(status) == SIGXCPU || WTERMSIG(status) == SIGKILL));
  if (is_late) return fail(ETIMEDOUT, "reading its debugging information takes too long");
  if (WIFSIGNALED(status)) {
    return fail(
        EIO, fmt::format("its debugging information is damaged: reading it ends in {}",
                         ::sigabbrev_np(WTERMSIG(status)) == nullptr ? "a signal" : ::sigabbrev_np(WTERMSIG(status))));
  }
  return text;
}

}  // namespace landtrace::dwarf
