// Standard output as the place of a recording (`-o -`): a trace file is written here and there, and a pipe from one
// end to the other, so it is made in a file without a name and copied at the end.
#pragma once

#include <string>

#include "base/fd.hpp"

namespace landtrace::cli {

class StandardOutput {
 public:
  // From here on what is written to standard output, by this process and its children, goes to standard error.
  // EINVAL: it is a terminal.
  static Result<StandardOutput> take();

  StandardOutput(StandardOutput&& other) noexcept = default;
  ~StandardOutput();

  // Where to make the file: in a folder of its own, which goes with this.
  [[nodiscard]] std::string file() const { return folder_ + "/trace.dat"; }
  // EPIPE where the reader has gone away.
  Result<void> copy();
  // The folder stays, with what is in it.
  void leave() { fd_.reset(); }

 private:
  StandardOutput(Fd fd, std::string folder) : fd_(std::move(fd)), folder_(std::move(folder)) {}

  Fd fd_;
  std::string folder_;
};

// A recording that comes through standard input, under a name that it can be opened by: a pipe is read to its end
// first.
class StandardInput {
 public:
  static Result<StandardInput> read();
  [[nodiscard]] std::string file() const;

 private:
  explicit StandardInput(Fd fd) : fd_(std::move(fd)) {}
  Fd fd_;
};

// A folder for large files of this process.
std::string temporary_folder();

}  // namespace landtrace::cli
