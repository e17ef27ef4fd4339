#include "output/trace_dat/place.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "output/trace_dat/contents.hpp"
#include "output/trace_dat/cpu_stream.hpp"
#include "output/trace_dat/journal.hpp"
#include "output/trace_dat/names.hpp"

namespace landtrace::output::trace_dat {

tl::unexpected<Error> is_being_written(const std::string& path) {
  return fail(EBUSY, path + " is being written by another process");
}

tl::unexpected<Error> is_busy(const std::string& path) {
  return fail(EBUSY, path + " is being replaced by another process");
}

tl::unexpected<Error> is_in_the_way(const std::string& path) {
  return fail(EEXIST, path + " is in the way; move it elsewhere");
}

Result<void> lock(const NamedFile& file) {
  struct flock whole {};
  whole.l_type = F_WRLCK;
  if (::fcntl(file.fd.get(), F_OFD_SETLK, &whole) != 0) {
    if (errno == EAGAIN || errno == EACCES) return is_being_written(file.path);
    return fail_errno("lock " + file.path);
  }
  // It is PATH.partial for a moment when the recording is finished.
  hold(file);
  return {};
}

namespace {

bool try_to_hold(int fd) { return ::flock(fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK; }

}  // namespace

void hold(const NamedFile& file) { std::ignore = try_to_hold(file.fd.get()); }

bool is_unused(const std::string& path) {
  std::error_code error;
  const auto status = std::filesystem::symlink_status(path, error);
  if (!std::filesystem::exists(status)) return true;
  if (!std::filesystem::is_regular_file(status)) return false;
  const auto file = InputFile::open(path);
  return file && (file->size() == 0 || has_no_beginning(*file));
}

namespace {

// `journal`: where it is. The recording is to be at `path`.
tl::unexpected<Error> was_left(const std::string& journal, const std::string& path) {
  return fail(EEXIST, fmt::format("{} is a recording that was not finished; `landtrace recover {}` completes it",
                                  journal, path));
}

// Creates it where it is not there. It has the name still: whoever had the lock until then may have given that to
// another file.
Result<NamedFile> open_locked(const std::string& path) {
  for (int i = 0; i < kMostTries; ++i) {
    LT_TRY(NamedFile file, open_own(path, O_CREAT));
    if (const auto locked = lock(file); !locked && locked.error().code == EBUSY) return is_being_written(path);
    if (is_at(file.fd.get(), path)) return file;
  }
  return is_busy(path);
}

// Whether a file can be renamed, or another be renamed to it. rmdir(2) asks for the right to remove it, and only then
// finds that it is no folder.
Result<void> check_can_go(const std::string& path) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0) return {};
  if (S_ISDIR(status.st_mode)) return fail(EISDIR, path + " is a folder");
  if (::rmdir(path.c_str()) == 0 || (errno != EPERM && errno != EACCES)) return {};
  return fail_errno(path + " cannot be moved away");
}

// `name`: of what is at `place` now.
Result<void> refuse_recording(const std::string& place, const std::string& name) {
  const auto file = InputFile::open(place);
  if (!file) return {};
  // Asked first: one that has just begun is no journal yet.
  if (has_writer(*file)) return is_being_written(name);
  LT_CHECK(refuse_other_version(*file, name));
  return is_journal(*file) ? was_left(name, name) : Result<void>();
}

Result<std::string> beside_older(const std::string& path) {
  auto can = check_can_go(path);
  if (can) can = check_can_go(old_path(path));
  if (can) can = refuse_recording(old_path(path), old_path(path));
  if (can) return new_path(path);
  return fail(can.error().code, fmt::format("{0}; the older recording {1} is to become {1}.old: move one of them "
                                            "elsewhere, or record to another file",
                                            can.error().message, path));
}

// Of one that has not been followed.
Result<std::string> beside_link(const std::string& path, const struct stat& link) {
  const bool is_others = link.st_uid != ::geteuid() && link.st_uid != 0;
  if (is_others) return beside_older(path);
  return fail(EINVAL, path + " leads to another user's link, or to a file that has no name: name the file itself");
}

bool can_be_made(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path();
  return ::access(folder.empty() ? "." : folder.c_str(), W_OK | X_OK) == 0;
}

// Where the journal is to be: at the path itself, or beside what is there.
Result<std::string> journal_place(const std::string& path) {
  struct stat status {};
  struct stat named {};
  const bool is_there = ::stat(path.c_str(), &status) == 0;
  if (is_there && S_ISDIR(status.st_mode)) return fail_errno("open " + path, EISDIR);
  if (is_there && !S_ISREG(status.st_mode)) return fail(EINVAL, path + " is not a regular file");
  if (::lstat(path.c_str(), &named) == 0 && S_ISLNK(named.st_mode)) return beside_link(path, named);
  if (!is_there) return can_be_made(path) ? Result<std::string>(path) : fail_errno("open " + path);
  if (::access(path.c_str(), W_OK) != 0) return fail_errno("open " + path);
  if (status.st_size == 0) return path;
  LT_TRY(const InputFile there, InputFile::open(path));
  LT_CHECK(refuse_other_version(there, path));
  if (!is_journal(there)) return beside_older(path);
  return has_writer(there) ? is_being_written(path) : was_left(path, path);
}

// What a recorder that was killed at its very end has left: its journal has changed names with the finished file.
bool was_completed(const std::string& path) {
  const std::string partial = partial_path(path);
  const auto finished = InputFile::open(path);
  return finished && is_trace_file(*finished) && is_journal_at(partial) &&
         !std::filesystem::exists(partial_path(partial));
}

// Whether it has pages that have not been moved away, which leaves a hole.
bool has_pages(const std::string& stream) {
  const auto file = InputFile::open(stream);
  if (!file || file->size() <= kStreamStart) return false;
  return ::lseek(file->fd(), kStreamStart, SEEK_DATA) >= 0 || errno != ENXIO;
}

tl::unexpected<Error> has_events(const std::string& stream, const std::string& path) {
  return fail(EEXIST, fmt::format("{0} has events of a recording whose {1} was moved or removed: move that back, or "
                                  "{1}.partial and each {1}.cpuN elsewhere",
                                  stream, path));
}

// What was left with a journal has been looked for before.
Result<void> check_others_files(const std::string& path, std::uint32_t streams) {
  const bool is_rest = was_completed(path);
  if (const std::string partial = partial_path(path); !is_rest && !is_unused(partial)) return is_in_the_way(partial);
  for (std::uint32_t cpu = 0; cpu < streams; ++cpu) {
    const std::string stream = stream_path(path, cpu);
    if (!is_unused(stream)) return is_in_the_way(stream);
    if (!is_rest && has_pages(stream)) return has_events(stream, path);
  }
  return {};
}

// A recorder that found an older recording is at PATH.new, with the same names for its streams, also when the older one
// has been removed since.
Result<void> check_beside(const std::string& path) {
  const std::string beside = new_path(path);
  std::error_code error;
  if (!std::filesystem::is_regular_file(beside, error)) return {};
  LT_TRY(const InputFile file, InputFile::open(beside));
  // Asked first: one that has just begun is no journal yet.
  if (has_writer(file)) return is_being_written(beside);
  LT_CHECK(refuse_other_version(file, beside));
  if (!is_journal(file)) return {};
  if (has_left_pages(path)) return was_left(beside, path);
  ::unlink(beside.c_str());
  return {};
}

// Whether the new recording's journal, locked, may begin in this file. What a recorder left beside an older recording
// that was killed before its first event is taken over.
Result<void> check_place(const std::string& path, const NamedFile& file, std::uint32_t streams) {
  struct stat status {};
  if (::fstat(file.fd.get(), &status) != 0) return fail_errno("stat " + file.path);
  if (!S_ISREG(status.st_mode)) return fail(EINVAL, file.path + " is not a regular file");
  if (file.path == path) {
    // Nobody had it a moment ago.
    if (status.st_size != 0) return is_busy(path);
    LT_CHECK(check_beside(path));
  } else {
    // Who had the lock may have taken the place since it was looked at.
    LT_TRY(const std::string place, journal_place(path));
    if (place != file.path) return is_busy(path);
    LT_TRY(const InputFile there, InputFile::open(file.path));
    LT_CHECK(refuse_other_version(there, file.path));
    const bool was_journal = is_journal(there);
    if (was_journal && has_left_pages(path)) return was_left(file.path, path);
    if (status.st_size != 0 && !was_journal) return is_in_the_way(file.path);
  }
  LT_CHECK(check_others_files(path, streams));
  return is_at(file.fd.get(), file.path) ? Result<void>() : is_busy(path);
}

bool is_locked(const std::string& path) {
  const Fd fd(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  return fd && ::flock(fd.get(), LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

}  // namespace

Result<void> refuse_recordings(const std::string& path) {
  LT_CHECK(refuse_recording(path, path));
  const auto beside = InputFile::open(new_path(path));
  if (!beside) return {};
  if (has_writer(*beside)) return is_being_written(path);
  return is_journal(*beside) && has_left_pages(path) ? was_left(new_path(path), path) : Result<void>();
}

// What had the name is removed only when it has been looked at under another one, where nobody begins to record. What
// gets it is looked at then, too: a recording may have come to `from` just before.
Result<void> make_older(const std::string& from, const std::string& old) {
  struct stat status {};
  if (::lstat(from.c_str(), &status) != 0) return fail_errno("rename " + from + " to " + old);
  LT_CHECK(check_can_go(old));
  for (int i = 0; i < kMostTries; ++i) {
    LT_CHECK(refuse_recording(old, old));
    if (swap_names(from, old)) {
      auto refused = refuse_recording(from, old);
      if (refused) refused = refuse_recording(old, from);
      if (!refused) {
        std::ignore = swap_names(from, old);
        return refused;
      }
      remove_aside(from);
      return {};
    }
    if (errno != ENOENT) break;
    if (auto renamed = rename_to_free(from, old); !renamed) {
      if (renamed.error().code == EEXIST) continue;
      return renamed;
    }
    auto refused = refuse_recording(old, from);
    if (!refused) std::ignore = rename_to_free(old, from);
    return refused;
  }
  // Names cannot be exchanged here, or what is wrong is said by this.
  return rename_file(from, old);
}

Result<Claim> claim(const std::string& path) {
  const std::string partial = partial_path(path);
  for (int i = 0; i < kMostTries; ++i) {
    auto file = open_own(partial);
    const bool is_new = !file && file.error().code == ENOENT;
    if (is_new) file = open_own(partial, O_CREAT | O_EXCL);
    if (!file && file.error().code == EEXIST) continue;  // another one made it just now
    // Of a recording in a format that has several files it is a folder.
    if (!file && is_locked(partial)) return is_being_written(path);
    if (!file && file.error().code == EISDIR) return is_in_the_way(partial);
    if (!file) return tl::unexpected<Error>(std::move(file).error());
    if (!try_to_hold(file->fd.get())) return is_being_written(path);
    if (is_at(file->fd.get(), partial)) return Claim{*std::move(file), is_new};
  }
  return is_busy(path);
}

Result<void> renew(NamedFile& partial) {
  LT_TRY(NamedFile made, open_anew(partial.path));
  if (!try_to_hold(made.fd.get()) || !is_at(made.fd.get(), made.path)) return is_being_written(made.path);
  partial = std::move(made);
  return {};
}

Result<NewFiles> make_files(const std::string& path, std::uint32_t streams) {
  LT_TRY(const std::string place, journal_place(path));
  LT_TRY(Claim claimed, claim(path));
  const bool was_there = std::filesystem::exists(place);
  auto journal = open_locked(place);
  const auto made = [&]() -> Result<void> {
    if (!journal) return tl::unexpected<Error>(journal.error());
    LT_CHECK(check_place(path, *journal, streams));
    // Not what was left, made empty: it may be another user's, and see open_anew().
    if (!claimed.is_new) LT_CHECK(renew(claimed.partial));
    return set_size(*journal, 0);
  }();
  if (made) return NewFiles{*std::move(journal), std::move(claimed.partial)};
  struct stat status {};
  const bool is_empty = journal && ::fstat(journal->fd.get(), &status) == 0 && status.st_size == 0;
  if (is_empty && (place != path || !was_there)) remove_own(*journal);
  if (claimed.is_new) remove_own(claimed.partial);  // last: with it goes the lock
  return tl::unexpected<Error>(made.error());
}

}  // namespace landtrace::output::trace_dat
