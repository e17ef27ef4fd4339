// Where an exported file goes: a regular file, or a pipe. Collected, and written in large pieces.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace landtrace::output {

class Target {
 public:
  // `fd` stays the caller's. A regular file is written from its beginning.
  explicit Target(int fd);

  // Bytes are appended here; then flush_if_full().
  std::string& bytes() { return bytes_; }
  void flush_if_full() {
    if (bytes_.size() >= kFull) flush();
  }
  void flush();
  // Of all bytes until now.
  [[nodiscard]] std::uint64_t size() const { return written_ + bytes_.size(); }

  // From here on flush() writes this of the bytes, as for somebody who looks at them.
  void show_as(std::string (*shown)(std::string_view)) { shown_ = shown; }

  // Whether overwrite() may be called: it is no pipe.
  [[nodiscard]] bool can_go_back() const { return can_go_back_; }
  void overwrite(std::uint64_t offset, std::string_view bytes);
  // What was written goes; the next bytes are the first. Where there is another file for them, which is empty, what was
  // written stays as it is.
  void begin_again();
  void begin_again_in(int another) { another_ = another; }

  // The first error; EPIPE: nobody reads any more. From then on nothing is written.
  [[nodiscard]] const Result<void>& result() const { return result_; }

 private:
  static constexpr std::size_t kFull = 256 * 1024;

  int fd_;
  int another_ = -1;
  bool can_go_back_;
  std::string bytes_;
  std::uint64_t written_ = 0;
  std::string (*shown_)(std::string_view) = nullptr;
  Result<void> result_;
};

}  // namespace landtrace::output
