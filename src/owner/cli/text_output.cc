#include "cli/text_output.hpp"

#include <unistd.h>

#include "base/fd.hpp"
#include "cli/failure.hpp"
#include "cli/visible.hpp"

namespace landtrace::cli {

bool TextOutput::flush() {
  if (error_ != 0) return false;
  if (for_terminal_) text_ = visible(text_, Lines::kKept);
  if (auto written = write_all(STDOUT_FILENO, text_.data(), text_.size()); !written) error_ = written.error().code;
  text_.clear();
  return error_ == 0;
}

bool TextOutput::write(std::string_view text) {
  if (error_ == 0 && text_.size() + text.size() < kFull) {
    text_ += text;
    return true;
  }
  if (!flush()) return false;
  if (auto written = write_all(STDOUT_FILENO, text.data(), text.size()); !written) error_ = written.error().code;
  return error_ == 0;
}

int TextOutput::status() const {
  if (error_ == 0 || error_ == EPIPE) return kSuccess;
  return fail_with(kFailure, "standard output: " + errno_text(error_));
}

}  // namespace landtrace::cli
