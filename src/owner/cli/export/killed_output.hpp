// What `landtrace record --format` has left where it was killed, or the disk was full: PATH.partial without its end.
#pragma once

#include <string>
#include <utility>

#include "base/fd.hpp"

namespace landtrace::cli {

// The PATH of such a file or folder, whether that is named or PATH.partial; "": there is none.
std::string path_of_killed(const std::string& named);

// One of these, which is nobody else's until it has its name, however long that takes: another recorder would move it
// away and begin the next.
class KilledOutput {
 public:
  // EBUSY: it is being recorded, or completed by another process.
  static Result<KilledOutput> open(const std::string& path);
  // Cuts it where the last whole event ends, and writes what belongs behind that. ENODATA: nothing of it had been
  // written. EINVAL: it is of no format that can be read without its end. EBADMSG, with the offset: it is damaged, and
  // more would go than the event that was being written; nothing is changed.
  Result<void> complete();
  // EEXIST: something has it by now.
  Result<void> give_name();

 private:
  KilledOutput(Fd fd, std::string path, std::string partial)
      : fd_(std::move(fd)), path_(std::move(path)), partial_(std::move(partial)) {}

  Fd fd_;
  std::string path_;
  std::string partial_;
};

// All of that.
Result<void> complete_killed(const std::string& path);

}  // namespace landtrace::cli
