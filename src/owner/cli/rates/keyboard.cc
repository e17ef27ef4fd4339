#include "cli/rates/keyboard.hpp"

#include <poll.h>
#include <unistd.h>

#include "base/fd.hpp"

namespace landtrace::cli {
namespace {

// A screen of its own, without a cursor; and back.
constexpr std::string_view kBegin = "\033[?1049h\033[?25l";
constexpr std::string_view kEnd = "\033[?25h\033[?1049l";
// Each line is cleared behind its text, and the screen behind the last one, so that nothing flickers.
constexpr std::string_view kHome = "\033[H";
constexpr std::string_view kClearLine = "\033[K\r\n";
constexpr std::string_view kClearRest = "\033[J";

}  // namespace

Result<Keyboard> Keyboard::take() {
  termios before{};
  if (::isatty(STDOUT_FILENO) == 0 || ::tcgetattr(STDIN_FILENO, &before) != 0) return fail(ENOTTY);
  termios now = before;
  now.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
  now.c_cc[VMIN] = 0;
  now.c_cc[VTIME] = 0;
  now.c_cc[VSUSP] = _POSIX_VDISABLE;  // who stops it would find the terminal in this state
  if (::tcsetattr(STDIN_FILENO, TCSADRAIN, &now) != 0) return fail_errno("standard input");
  Keyboard keyboard(before);
  LT_CHECK(write_all(STDOUT_FILENO, kBegin.data(), kBegin.size()));
  return keyboard;
}

Keyboard::~Keyboard() {
  if (!before_) return;
  std::ignore = write_all(STDOUT_FILENO, kEnd.data(), kEnd.size());
  ::tcsetattr(STDIN_FILENO, TCSADRAIN, &*before_);
}

std::string Keyboard::read() {
  pollfd typed{STDIN_FILENO, POLLIN, 0};
  if (::poll(&typed, 1, 0) != 1) return "";
  char bytes[64];
  const auto count = ::read(STDIN_FILENO, bytes, sizeof bytes);
  return count > 0 ? std::string(bytes, static_cast<std::size_t>(count)) : "";
}

Result<void> Keyboard::draw(std::string_view text) {
  std::string out(kHome);
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    out += line;
    out += text.empty() ? std::string_view("\033[K") : kClearLine;  // behind the last line nothing may scroll
  }
  out += kClearRest;
  return write_all(STDOUT_FILENO, out.data(), out.size());
}

}  // namespace landtrace::cli
