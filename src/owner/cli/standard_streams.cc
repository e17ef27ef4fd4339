#include "cli/standard_streams.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

namespace landtrace::cli {
namespace {

constexpr std::size_t kPiece = 256 * 1024;

Result<void> copy_all(int from, int to, const char* what) {
  std::string piece(kPiece, '\0');
  while (true) {
    const ssize_t n = ::read(from, piece.data(), piece.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return fail_errno(fmt::format("read {}", what));
    if (n == 0) return {};
    LT_CHECK(write_all(to, piece.data(), static_cast<std::size_t>(n)));
  }
}

}  // namespace

// Not /tmp by itself, which may be memory.
std::string temporary_folder() {
  const char* const named = std::getenv("TMPDIR");
  return named != nullptr && named[0] != '\0' ? named : "/var/tmp";
}

Result<StandardOutput> StandardOutput::take() {
  if (::isatty(STDOUT_FILENO) != 0) {
    return fail(EINVAL, "-o -: a recording is nothing for a terminal; redirect standard output");
  }
  std::string folder = temporary_folder() + "/landtrace-XXXXXX";
  if (::mkdtemp(folder.data()) == nullptr) return fail_errno("make " + folder);
  Fd fd(::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
  if (!fd) return fail_errno("standard output");
  if (::dup2(STDERR_FILENO, STDOUT_FILENO) < 0) return fail_errno("standard error");
  return StandardOutput(std::move(fd), std::move(folder));
}

StandardOutput::~StandardOutput() {
  std::error_code error;
  if (fd_) std::filesystem::remove_all(folder_, error);
}

Result<void> StandardOutput::copy() {
  const Fd file(::open(this->file().c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return fail_errno("open " + this->file());
  auto copied = copy_all(file.get(), fd_.get(), "the recording");
  if (!copied && copied.error().code != EPIPE)
    copied.error().message = "standard output: " + errno_text(copied.error().code);
  return copied;
}

Result<StandardInput> StandardInput::read() {
  struct stat status {};
  if (::fstat(STDIN_FILENO, &status) != 0) return fail_errno("standard input");
  if (::isatty(STDIN_FILENO) != 0) return fail(EINVAL, "standard input is a terminal; name a recording");
  if (S_ISREG(status.st_mode)) return StandardInput(Fd(::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)));
  std::string name = temporary_folder() + "/landtrace-XXXXXX";
  Fd fd(::mkostemp(name.data(), O_CLOEXEC));
  if (!fd) return fail_errno("make " + name);
  ::unlink(name.c_str());
  LT_CHECK(copy_all(STDIN_FILENO, fd.get(), "standard input"));
  return StandardInput(std::move(fd));
}

// One that is not finished has its events in files beside it.
std::string StandardInput::file() const {
  std::string by_descriptor = fmt::format("/proc/self/fd/{}", fd_.get());
  std::error_code error;
  const std::string name = std::filesystem::read_symlink(by_descriptor, error);
  const bool has_name = std::filesystem::equivalent(name, by_descriptor, error) && ::access(name.c_str(), R_OK) == 0;
  return has_name ? name : by_descriptor;
}

}  // namespace landtrace::cli
