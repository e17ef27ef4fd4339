#include "cli/export/output_folder.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <vector>

#include "cli/export/being_written.hpp"
#include "cli/export/rename.hpp"

namespace landtrace::cli {
namespace {

namespace fs = std::filesystem;

// The files in a folder that is not there, or has none but ours. EINVAL for another one.
Result<std::vector<fs::path>> our_files(const std::string& path, OutputFolder::IsOurs is_ours) {
  std::vector<fs::path> files;
  std::error_code error;
  if (!fs::exists(fs::symlink_status(path, error))) return files;
  if (!fs::is_directory(fs::symlink_status(path, error))) return fail(EINVAL, path + " is there, and is no folder");
  for (fs::directory_iterator each(path, error), end; !error && each != end; each.increment(error)) {
    if (!each->is_regular_file() || !is_ours(each->path().filename())) {
      return fail(EINVAL,
                  path + " is there, and is not of this format: it has a file " + each->path().filename().string());
    }
    files.push_back(each->path());
  }
  if (error) return fail(error.value(), path + ": " + error.message());
  return files;
}

Result<void> remove_ours(const std::string& path, OutputFolder::IsOurs is_ours) {
  LT_TRY(const std::vector<fs::path> files, our_files(path, is_ours));
  std::error_code error;
  for (const fs::path& file : files) fs::remove(file, error);
  fs::remove(path, error);
  if (error) return fail(error.value(), path + ": " + error.message());
  return {};
}

tl::unexpected<Error> is_being_recorded(const std::string& partial) {
  return fail(EBUSY, partial + ": it is being recorded");
}

// What one that was killed has left is not lost to the next one: its new name, or "". It is looked at with its lock:
// another one may have begun just now.
Result<std::string> keep_left(const std::string& path, const std::string& partial, OutputFolder::IsOurs is_ours) {
  LT_TRY(const std::vector<fs::path> files, our_files(partial, is_ours));
  const Fd left(::open(partial.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!left) return "";
  if (!mark_as_being_written(left.get(), partial)) return is_being_recorded(partial);
  if (!files.empty()) return keep_killed(path);
  if (::rmdir(partial.c_str()) != 0) return fail_errno(partial);
  return "";
}

}  // namespace

Result<OutputFolder> OutputFolder::create(const std::string& path, IsOurs is_ours) {
  return create(path, is_ours, false);
}

Result<OutputFolder> OutputFolder::create_lasting(const std::string& path, IsOurs is_ours) {
  return create(path, is_ours, true);
}

Result<OutputFolder> OutputFolder::create(const std::string& named, IsOurs is_ours, bool lasts) {
  std::string path = named;
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  LT_CHECK(our_files(path, is_ours));
  LT_CHECK(our_files(path + ".old", is_ours));
  // What is recorded into PATH, or was left by who was killed at that, is no export's.
  const std::string partial = path + (lasts ? ".partial" : ".export");
  std::string killed;
  if (lasts) {
    LT_TRY(killed, keep_left(path, partial, is_ours));
  } else {
    LT_CHECK(remove_ours(partial, is_ours));
  }
  if (::mkdir(partial.c_str(), 0777) != 0) return fail_errno(partial);
  Fd fd(::open(partial.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd) return fail_errno(partial);
  if (lasts && !mark_as_being_written(fd.get(), partial)) return is_being_recorded(partial);
  OutputFolder folder(std::move(fd), std::move(path), partial, is_ours);
  folder.killed_ = std::move(killed);
  return folder;
}

OutputFolder::~OutputFolder() {
  if (fd_) std::ignore = remove_ours(partial_, is_ours_);
}

bool OutputFolder::leave() {
  const auto files = our_files(partial_, is_ours_);
  const bool has_something = !files || std::any_of(files->begin(), files->end(), [](const fs::path& file) {
    std::error_code error;
    return fs::file_size(file, error) > 0;
  });
  if (has_something) fd_.reset();
  return has_something;
}

// Its lock goes when it has its place: until then another recorder would take it for what was left.
Result<void> OutputFolder::keep() {
  const Fd locked = std::move(fd_);
  auto placed = take_place();
  if (!placed) placed.error().message += "; what was written is " + partial_;
  return placed;
}

Result<void> OutputFolder::take_place() {
  const std::string old = path_ + ".old";
  if (std::error_code error; fs::exists(path_, error)) {
    LT_CHECK(remove_ours(old, is_ours_));
    if (std::rename(path_.c_str(), old.c_str()) != 0) return fail_errno(old);
    has_replaced_ = true;
  }
  if (std::rename(partial_.c_str(), path_.c_str()) != 0) return fail_errno(path_);
  return {};
}

}  // namespace landtrace::cli
