#include "output/json/string.hpp"

#include <fmt/format.h>

#include <array>
#include <iterator>

#include "output/utf8.hpp"

namespace landtrace::output::json {
namespace {

unsigned char byte_at(std::string_view text, std::size_t i) {
  return i < text.size() ? static_cast<unsigned char>(text[i]) : 0;
}

// By byte: what stands for itself.
constexpr std::array<bool, 256> kIsPlain = [] {
  std::array<bool, 256> plain{};
  for (unsigned c = ' '; c < 0x7f; ++c) plain[c] = c != '"' && c != '\\';
  return plain;
}();

std::size_t plain_length(std::string_view text) {
  std::size_t length = 0;
  while (length < text.size() && kIsPlain[static_cast<unsigned char>(text[length])]) ++length;
  return length;
}

void append_escape(std::string& out, unsigned character) {
  fmt::format_to(std::back_inserter(out), "\\u{:04x}", character);
}

void append_ascii(std::string& out, char c) {
  if (c == '"' || c == '\\') {
    out += '\\';
    out += c;
  } else if (c == '\n') {
    out += "\\n";
  } else if (c == '\t') {
    out += "\\t";
  } else {
    append_escape(out, static_cast<unsigned>(c));
  }
}

}  // namespace

void append_string(std::string& out, std::string_view text) {
  out += '"';
  while (!text.empty()) {
    const std::size_t plain = plain_length(text);
    out.append(text.data(), plain);
    text.remove_prefix(plain);
    if (text.empty()) break;
    std::size_t length = 1;
    if (byte_at(text, 0) < 0x80) {
      append_ascii(out, text[0]);
    } else if (const std::size_t sequence = utf8_length(text); sequence > 0) {
      if (const unsigned char second = byte_at(text, 1); byte_at(text, 0) == 0xc2 && second < 0xa0) {
        append_escape(out, second);  // U+0080 to U+009F, which control terminals
      } else {
        out += text.substr(0, sequence);
      }
      length = sequence;
    } else {
      out += kReplacementCharacter;
    }
    text.remove_prefix(length);
  }
  out += '"';
}

}  // namespace landtrace::output::json
