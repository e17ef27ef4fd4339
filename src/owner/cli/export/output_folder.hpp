// The folder that an export of several files makes. It is PATH.export until it is whole, or PATH.partial, where it is
// recorded; then it takes its place, and what was there before becomes PATH.old, as OutputFile has it.
#pragma once

#include <string>

#include "base/fd.hpp"

namespace landtrace::cli {

class OutputFolder {
 public:
  // EINVAL: a file has the name, or a folder that is no trace of ours; and what mkdir(2) says. `is_ours` tells names of
  // files that may be replaced.
  using IsOurs = bool (*)(const std::string& name);
  static Result<OutputFolder> create(const std::string& path, IsOurs is_ours);
  // The same for what is written as it comes. EBUSY: another one is writing it. What one that was killed has left there
  // is kept: see killed().
  static Result<OutputFolder> create_lasting(const std::string& path, IsOurs is_ours);

  OutputFolder(OutputFolder&&) noexcept = default;
  // Without keep(): it goes, with what is in it.
  ~OutputFolder();

  [[nodiscard]] int fd() const { return fd_.get(); }
  // It is whole. On an error both it and what is at the path stay.
  Result<void> keep();
  // It cannot be written any more, and what there is of it stays. False where nothing came to be in its files.
  bool leave();
  [[nodiscard]] bool has_replaced() const { return has_replaced_; }
  // What was left at PATH.partial when this began, by its new name; "": nothing.
  [[nodiscard]] const std::string& killed() const { return killed_; }

 private:
  static Result<OutputFolder> create(const std::string& path, IsOurs is_ours, bool lasts);
  OutputFolder(Fd fd, std::string path, std::string partial, IsOurs is_ours)
      : fd_(std::move(fd)), path_(std::move(path)), partial_(std::move(partial)), is_ours_(is_ours) {}
  Result<void> take_place();

  Fd fd_;
  std::string path_;
  std::string partial_;  // its name until it is kept
  std::string killed_;
  IsOurs is_ours_;
  bool has_replaced_ = false;
};

}  // namespace landtrace::cli
