#include "cli/export/output_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <utility>

namespace landtrace::cli {
namespace {

bool is_same_file(const struct stat& a, const std::string& path) {
  struct stat b {};
  return ::stat(path.c_str(), &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

Result<Fd> open_to_write(const std::string& path, int flags) {
  Fd fd(::open(path.c_str(), flags | O_WRONLY | O_CLOEXEC, 0666));
  if (!fd) return fail_errno(path);
  return fd;
}

}  // namespace

Result<OutputFile> OutputFile::create(const std::string& path, const std::string& not_this, bool is_binary) {
  if (path == "-") {
    if (is_binary && ::isatty(STDOUT_FILENO) == 1) return fail(EINVAL, "this format is not for a terminal: -o FILE");
    Fd fd(::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3));
    if (!fd) return fail_errno("standard output");
    return OutputFile(std::move(fd), path, "");
  }
  struct stat st {};
  if (::stat(path.c_str(), &st) == 0) {
    if (S_ISDIR(st.st_mode)) return fail(EINVAL, path + ": it is a folder");
    if (is_same_file(st, not_this)) return fail(EINVAL, path + ": it is the recording itself");
    if (!S_ISREG(st.st_mode)) {
      LT_TRY(Fd fd, open_to_write(path, 0));
      return OutputFile(std::move(fd), path, "");
    }
  }
  const std::string partial = path + ".partial";
  LT_TRY(Fd fd, open_to_write(partial, O_CREAT | O_TRUNC | O_NOFOLLOW));
  return OutputFile(std::move(fd), path, partial);
}

OutputFile::~OutputFile() {
  if (fd_ && !partial_.empty()) ::unlink(partial_.c_str());
}

Result<void> OutputFile::keep() {
  const Fd fd = std::move(fd_);
  if (partial_.empty()) return {};
  has_replaced_ = ::rename(path_.c_str(), (path_ + ".old").c_str()) == 0;
  if (::rename(partial_.c_str(), path_.c_str()) != 0) return fail_errno(path_);
  return {};
}

}  // namespace landtrace::cli
