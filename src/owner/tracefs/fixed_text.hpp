// A file whose text never changes and that takes no writes.
#pragma once

#include "tracefs/text_file.hpp"

namespace landtrace::tracefs {

class FixedText : public TextFile {
 public:
  explicit FixedText(std::string text, unsigned mode = 0440) : TextFile(mode), text_(std::move(text)) {}

 protected:
  Result<std::string> text() override { return text_; }

 private:
  std::string text_;
};

}  // namespace landtrace::tracefs
