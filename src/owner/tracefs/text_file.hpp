// A file with a text to read and commands to write. Most files of the tree derive from this.
#pragma once

#include <optional>

#include "base/input.hpp"
#include "tracefs/node.hpp"
#include "tracefs/rest.hpp"

namespace landtrace::tracefs {

// A text that is being made elsewhere. Whoever lets go of it gives it up.
class TextToCome {
 public:
  virtual ~TextToCome() = default;
  [[nodiscard]] virtual bool is_there() const = 0;
  // Once it is there, and only once.
  virtual Result<std::string> take() = 0;
};

class TextFile : public File, public std::enable_shared_from_this<TextFile> {
 public:
  explicit TextFile(unsigned mode) : mode_(mode) {}
  [[nodiscard]] unsigned mode() const override { return mode_; }
  Result<std::unique_ptr<OpenFile>> open(const Caller& caller, int flags) override;

 protected:
  friend class OpenTextFile;
  // The whole text. It is made when a reader reads from the beginning, and kept for the rest of that reading.
  virtual Result<std::string> text();
  // The same of a file whose text may take long: then `to_come` is set, and what is returned means nothing. Each open
  // file has its own.
  virtual Result<std::string> begin_text(std::unique_ptr<TextToCome>& to_come);
  // The bytes of one write(), with a newline if there was one. Returns how many were taken, usually all.
  virtual Result<std::size_t> store(const Caller& caller, std::string_view bytes);
  // The same of a file whose writes may take several turns: what is left to do stands in `rest`, and not all bytes are
  // taken, or none.
  virtual Result<std::size_t> store_in_turns(const Caller& caller, std::string_view bytes, Rest& rest);
  // As of OpenFile.
  [[nodiscard]] virtual bool takes_turns() const { return false; }
  // Opened for writing with O_TRUNC. kNotYet: not all of it is gone yet, the file is to be opened again.
  virtual Result<void> truncate(const Caller& caller);
  // May refuse any open.
  virtual Result<void> check_open(const Caller& caller, int flags);

 private:
  unsigned mode_;
};

}  // namespace landtrace::tracefs
