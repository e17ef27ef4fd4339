// Standard output for much text: collected, and written in large pieces. For a terminal its control characters are
// made visible, newlines and tabs aside.
#pragma once

#include <unistd.h>

#include <string>
#include <string_view>

namespace landtrace::cli {

class TextOutput {
 public:
  // Also a pager is a terminal in the end.
  explicit TextOutput(bool for_terminal = ::isatty(STDOUT_FILENO) == 1) : for_terminal_(for_terminal) {}

  // Text is appended here; then flush_if_full().
  std::string& text() { return text_; }

  // False when nobody reads any more, or writing failed.
  bool flush_if_full() { return text_.size() < kFull || flush(); }
  [[nodiscard]] bool is_for_terminal() const { return for_terminal_; }
  bool flush();
  // The same for much at once, which is not copied, and not for a terminal.
  bool write(std::string_view text);

  // Why writing failed; 0: it has not.
  [[nodiscard]] int error() const { return error_; }
  // The exit status, after a message if writing failed. 0 also if the reader has gone away, as with `| head`.
  int status() const;

 private:
  static constexpr std::size_t kFull = 64 * 1024;

  bool for_terminal_;
  std::string text_;
  int error_ = 0;
};

}  // namespace landtrace::cli
