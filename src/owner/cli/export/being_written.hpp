// What is being recorded in a format just now is not taken for what one that was killed has left: its writer holds a
// lock, which goes with it however it ends.
#pragma once

#include <sys/file.h>
#include <sys/stat.h>

#include <cerrno>
#include <string>

#include "base/fd.hpp"

namespace landtrace::cli {

// A file or a folder, as long as the descriptor is open. False: it is another one's, or has lost its name since it was
// opened. Where a file system has no locks nobody is kept off.
inline bool mark_as_being_written(int fd, const std::string& path) {
  if (::flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) return false;
  struct stat opened {};
  struct stat named {};
  return ::fstat(fd, &opened) == 0 && ::lstat(path.c_str(), &named) == 0 && opened.st_ino == named.st_ino &&
         opened.st_dev == named.st_dev;
}

}  // namespace landtrace::cli
