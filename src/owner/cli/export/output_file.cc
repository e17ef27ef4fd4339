#include "cli/export/output_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <utility>

#include "cli/export/being_written.hpp"
#include "cli/export/rename.hpp"
#include "output/trace_dat/place.hpp"

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

std::string place_of(int fd) { return fmt::format("/proc/self/fd/{}", fd); }

// Where it can be given one later.
Fd open_without_name(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  Fd fd(::open(folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666));
  return fd && ::access(place_of(fd.get()).c_str(), F_OK) == 0 ? std::move(fd) : Fd();
}

// What one that was killed has left is not lost to the next one: `killed` is its name then. It is looked at with its
// lock: another one may have begun just now. Whoever records into the same place without --format has the same
// PATH.partial with the same lock, and files of events beside it.
Result<Fd> open_lasting(const std::string& path, const std::string& partial, std::string& killed) {
  constexpr int kMostTries = 10;
  for (int tries = 0; tries < kMostTries; ++tries) {
    LT_TRY(Fd fd, open_to_write(partial, O_CREAT | O_NOFOLLOW));
    if (!mark_as_being_written(fd.get(), partial)) break;
    struct stat st {};
    if (::fstat(fd.get(), &st) != 0) return fail_errno(partial);
    if (auto refused = output::trace_dat::refuse_recordings(path); !refused) {
      if (st.st_size == 0) ::unlink(partial.c_str());
      return tl::unexpected<Error>(std::move(refused).error());
    }
    if (st.st_size == 0) return fd;
    LT_TRY(killed, keep_killed(path));
  }
  return fail(EBUSY, partial + ": it is being recorded");
}

}  // namespace

Result<OutputFile> OutputFile::create(const std::string& path, const std::string& not_this, bool is_binary) {
  return create(path, not_this, is_binary, false);
}

Result<OutputFile> OutputFile::create_lasting(const std::string& path, bool is_binary) {
  return create(path, "", is_binary, true);
}

Result<OutputFile> OutputFile::create(const std::string& path, const std::string& not_this, bool is_binary,
                                      bool lasts) {
  if (path == "-") {
    if (is_binary && ::isatty(STDOUT_FILENO) == 1) return fail(EINVAL, "this format is not for a terminal: -o FILE");
    Fd fd(::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3));
    if (!fd) return fail_errno("standard output");
    return OutputFile(std::move(fd), path, "", false);
  }
  struct stat st {};
  if (::stat(path.c_str(), &st) == 0) {
    if (S_ISDIR(st.st_mode)) return fail(EINVAL, path + ": it is a folder");
    if (is_same_file(st, not_this)) return fail(EINVAL, path + ": it is the recording itself");
    if (!S_ISREG(st.st_mode)) {
      LT_TRY(Fd fd, open_to_write(path, 0));
      return OutputFile(std::move(fd), path, "", false);
    }
    struct stat old {};
    if (::lstat((path + ".old").c_str(), &old) == 0 && S_ISDIR(old.st_mode)) {
      return fail(EISDIR, fmt::format("{0}.old is a folder; {0} is to become it: move one of them elsewhere", path));
    }
  }
  LT_CHECK(output::trace_dat::refuse_recordings(path));
  // What is recorded into PATH, or was left by who was killed at that, is no export's.
  const std::string partial = path + (lasts ? ".partial" : ".export");
  if (Fd fd = lasts ? Fd() : open_without_name(path)) return OutputFile(std::move(fd), path, partial, false);
  std::string killed;
  LT_TRY(Fd fd, lasts ? open_lasting(path, partial, killed) : open_to_write(partial, O_CREAT | O_TRUNC | O_NOFOLLOW));
  OutputFile file(std::move(fd), path, partial, true);
  file.killed_ = std::move(killed);
  return file;
}

OutputFile::~OutputFile() {
  if (fd_ && has_name_) ::unlink(partial_.c_str());
}

bool OutputFile::leave() {
  struct stat st {};
  const bool has_something = ::fstat(fd_.get(), &st) == 0 && st.st_size > 0;
  return has_something && std::exchange(has_name_, false);
}

int OutputFile::end_fd() {
  if (!partial_.empty() && !end_) end_ = open_without_name(path_);
  return end_.get();
}

bool OutputFile::has_end() const {
  struct stat st {};
  return end_ && ::fstat(end_.get(), &st) == 0 && st.st_size > 0;
}

Result<void> OutputFile::keep() {
  const Fd fd = std::move(fd_);
  if (partial_.empty()) return {};
  if (!has_name_) return give_name(fd.get());
  Result<void> placed;
  if (has_end()) {
    placed = give_name(end_.get());
    if (placed) ::unlink(partial_.c_str());
  } else {
    placed = move_away();
    if (placed && ::rename(partial_.c_str(), path_.c_str()) != 0) placed = fail_errno(path_);
  }
  if (!placed) placed.error().message += "; what was written is " + partial_;
  return placed;
}

Result<void> OutputFile::move_away() {
  // One that began since this did.
  LT_CHECK(output::trace_dat::refuse_recordings(path_));
  auto moved = output::trace_dat::make_older(path_, path_ + ".old");
  if (!moved && moved.error().code != ENOENT) return moved;
  has_replaced_ = moved.has_value();
  return {};
}

// Its own at once: a name that it had before that would stay if the program were killed between the two.
Result<void> OutputFile::give_name(int fd) {
  constexpr int kMostTries = 10;  // others may come between
  for (int tries = 0; tries < kMostTries; ++tries) {
    if (::linkat(AT_FDCWD, place_of(fd).c_str(), AT_FDCWD, path_.c_str(), AT_SYMLINK_FOLLOW) == 0) return {};
    if (errno != EEXIST) break;
    LT_CHECK(move_away());
  }
  return fail_errno(path_);
}

}  // namespace landtrace::cli
