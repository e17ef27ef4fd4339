// Standard output for much text: collected, and written in large pieces.
#pragma once

#include <string>

namespace landtrace::cli {

class TextOutput {
 public:
  // Text is appended here; then flush_if_full().
  std::string& text() { return text_; }

  // False when nobody reads any more, or writing failed.
  bool flush_if_full() { return text_.size() < kFull || flush(); }
  bool flush();

  // The exit status, after a message if writing failed. 0 also if the reader has gone away, as with `| head`.
  int status() const;

 private:
  static constexpr std::size_t kFull = 64 * 1024;

  std::string text_;
  int error_ = 0;
};

}  // namespace landtrace::cli
