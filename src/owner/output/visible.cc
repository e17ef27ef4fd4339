#include "output/visible.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace landtrace::output {
namespace {

unsigned char byte_at(std::string_view text, std::size_t i) {
  return i < text.size() ? static_cast<unsigned char>(text[i]) : 0;
}

// How many bytes at `i` are a character in UTF-8; 0: none is. Overlong and unassigned ones are let pass: they are no
// control characters to anybody.
std::size_t character_length(std::string_view text, std::size_t i) {
  const unsigned char first = byte_at(text, i);
  const std::size_t length = first < 0x80   ? 1
                             : first < 0xc2 ? 0
                             : first < 0xe0 ? 2
                             : first < 0xf0 ? 3
                             : first < 0xf5 ? 4
                                            : 0;
  for (std::size_t k = 1; k < length; ++k) {
    if ((byte_at(text, i + k) & 0xc0) != 0x80) return 0;
  }
  return length;
}

void append_control(std::string& out, unsigned char c) {
  switch (c) {
    case '\n':
      out += "\\n";
      break;
    case '\t':
      out += "\\t";
      break;
    case '\r':
      out += "\\r";
      break;
    default:
      fmt::format_to(std::back_inserter(out), "\\x{:02x}", c);
  }
}

bool is_control(unsigned char c) { return c < 0x20 || (c >= 0x7f && c < 0xa0); }

bool is_layout(char c) { return c == '\n' || c == '\t'; }

}  // namespace

std::string visible(std::string_view text, Lines lines) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size();) {
    const unsigned char c = byte_at(text, i);
    const std::size_t length = character_length(text, i);
    if (length == 2 && c == 0xc2 && is_control(byte_at(text, i + 1))) {
      fmt::format_to(std::back_inserter(out), "\\u{:04x}", byte_at(text, i + 1));
    } else if (length > 1) {
      out += text.substr(i, length);
    } else if (is_control(c) && (lines == Lines::kNone || !is_layout(text[i]))) {
      append_control(out, c);
    } else {
      out += text[i];
    }
    i += std::max<std::size_t>(length, 1);
  }
  return out;
}

std::string visible_record(std::string_view text, bool has_stack) {
  std::string out;
  std::string_view line;
  while (!text.empty()) {
    // A newline that is the layout's: the last one, and those around frames.
    std::size_t end = text.find('\n');
    while (end != std::string_view::npos && end + 1 < text.size()) {
      line = text.substr(0, end);
      if (has_stack && (line.ends_with("STACK:") || line.ends_with("<user stack trace>") || line.starts_with("=> ") ||
                        line.starts_with(" => "))) {
        break;
      }
      end = text.find('\n', end + 1);
    }
    out += visible(text.substr(0, end), Lines::kNone);
    if (end == std::string_view::npos) break;
    out += '\n';
    text.remove_prefix(end + 1);
  }
  return out;
}

}  // namespace landtrace::output
