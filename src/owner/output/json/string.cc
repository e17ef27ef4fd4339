#include "output/json/string.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace landtrace::output::json {
namespace {

constexpr std::string_view kReplacement = "\xef\xbf\xbd";

unsigned char byte_at(std::string_view text, std::size_t i) {
  return i < text.size() ? static_cast<unsigned char>(text[i]) : 0;
}

bool is_continuation(unsigned char c) { return (c & 0xc0) == 0x80; }

// Length of the well-formed UTF-8 sequence at the start of `text`, which is not ASCII; 0 when there is none.
// Table 3-7 of the Unicode standard: the second byte shows overlong forms and surrogates.
std::size_t sequence_length(std::string_view text) {
  const unsigned char first = byte_at(text, 0);
  const unsigned char second = byte_at(text, 1);
  if (first < 0xc2 || first > 0xf4 || !is_continuation(second)) return 0;
  if (first < 0xe0) return 2;
  if ((first == 0xe0 && second < 0xa0) || (first == 0xed && second > 0x9f)) return 0;
  if (!is_continuation(byte_at(text, 2))) return 0;
  if (first < 0xf0) return 3;
  if ((first == 0xf0 && second < 0x90) || (first == 0xf4 && second > 0x8f)) return 0;
  return is_continuation(byte_at(text, 3)) ? 4 : 0;
}

bool is_plain(char c) { return c >= ' ' && c < 0x7f && c != '"' && c != '\\'; }

void append_ascii(std::string& out, char c) {
  if (c == '"' || c == '\\') {
    out += '\\';
    out += c;
  } else if (c == '\n') {
    out += "\\n";
  } else if (c == '\t') {
    out += "\\t";
  } else {
    fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<unsigned>(c));
  }
}

}  // namespace

void append_string(std::string& out, std::string_view text) {
  out += '"';
  while (!text.empty()) {
    const auto plain = static_cast<std::size_t>(std::find_if_not(text.begin(), text.end(), is_plain) - text.begin());
    out += text.substr(0, plain);
    text.remove_prefix(plain);
    if (text.empty()) break;
    std::size_t length = 1;
    if (byte_at(text, 0) < 0x80) {
      append_ascii(out, text[0]);
    } else if (const std::size_t sequence = sequence_length(text); sequence > 0) {
      out += text.substr(0, sequence);
      length = sequence;
    } else {
      out += kReplacement;
    }
    text.remove_prefix(length);
  }
  out += '"';
}

}  // namespace landtrace::output::json
