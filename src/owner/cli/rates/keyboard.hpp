// A terminal that a program draws on and reads single keys from. It is as it was again when this goes: the program may
// end by a signal, if that is one of cli/signals.hpp.
#pragma once

#include <termios.h>

#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace landtrace::cli {

class Keyboard {
 public:
  // Of standard input and output. ENOTTY: one of them is no terminal.
  static Result<Keyboard> take();
  Keyboard(Keyboard&& other) noexcept : before_(std::exchange(other.before_, std::nullopt)) {}
  Keyboard& operator=(Keyboard&&) = delete;
  ~Keyboard();

  // What was typed since; never waits. "" also where the terminal has gone away.
  std::string read();
  // Shows this in place of what is there.
  Result<void> draw(std::string_view text);

 private:
  explicit Keyboard(const termios& before) : before_(before) {}

  std::optional<termios> before_;
};

}  // namespace landtrace::cli
