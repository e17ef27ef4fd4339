// The file that an export makes. It has no name until it is whole, so that nothing is left of one that was killed; then
// it takes its place, and what was there before becomes PATH.old. Where a file system has no files without names it is
// PATH.export, which is overwritten. A pipe or a device is written as it is.
#pragma once

#include <string>
#include <utility>

#include "base/fd.hpp"

namespace landtrace::cli {

class OutputFile {
 public:
  // "-" is standard output. EINVAL: it is `not_this`, which is being read, or a folder, or a terminal which
  // `is_binary` is not for; and what open(2) says.
  static Result<OutputFile> create(const std::string& path, const std::string& not_this, bool is_binary);
  // The same for what is written as it comes: it is PATH.partial from its beginning, and stays where this is killed.
  // EBUSY: another one is writing it. What one that was killed has left there is kept: see killed().
  static Result<OutputFile> create_lasting(const std::string& path, bool is_binary);

  OutputFile(OutputFile&&) noexcept = default;
  ~OutputFile();

  [[nodiscard]] int fd() const { return fd_.get(); }
  // Of a lasting one: another file for what is written anew at its end. Where something is in it by then, keep() puts
  // that in its place, and until then what is in the first one stays. -1: there is none, on this file system.
  [[nodiscard]] int end_fd();
  // It is whole. On an error what is at the path stays, and one with a name keeps that.
  Result<void> keep();
  // Of a lasting one: it cannot be written any more, and what there is of it stays. False: of this nothing can stay, or
  // nothing has been written.
  bool leave();
  [[nodiscard]] bool has_replaced() const { return has_replaced_; }
  // What was left at PATH.partial when this began, by its new name; "": nothing.
  [[nodiscard]] const std::string& killed() const { return killed_; }

 private:
  static Result<OutputFile> create(const std::string& path, const std::string& not_this, bool is_binary, bool lasts);
  // What is there becomes PATH.old.
  Result<void> move_away();
  Result<void> give_name(int fd);
  [[nodiscard]] bool has_end() const;
  OutputFile(Fd fd, std::string path, std::string partial, bool has_name)
      : fd_(std::move(fd)), path_(std::move(path)), partial_(std::move(partial)), has_name_(has_name) {}

  Fd fd_;
  Fd end_;  // without a name
  std::string path_;
  std::string partial_;  // empty: it is written in its place
  std::string killed_;
  bool has_name_ = false;
  bool has_replaced_ = false;
};

}  // namespace landtrace::cli
