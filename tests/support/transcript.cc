#include "support/transcript.hpp"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>

namespace landtrace::support {
namespace {

const std::string kRoot = LANDTRACE_TRANSCRIPTS;

// A shell's word splitting, as far as the transcripts use it: single and double quotes.
std::vector<std::string> split_words(std::string_view line) {
  std::vector<std::string> words;
  char quote = 0;
  bool in_word = false;
  for (const char c : line) {
    if (quote == 0 && c == ' ') {
      in_word = false;
      continue;
    }
    if (!in_word) words.emplace_back();
    in_word = true;
    if (c == quote) {
      quote = 0;
    } else if (quote == 0 && (c == '\'' || c == '"')) {
      quote = c;
    } else {
      words.back() += c;
    }
  }
  return words;
}

void append_integer(std::string& out, std::uint64_t value, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) out += static_cast<char>(value >> (8 * i));
}

std::uint64_t number(const std::string& text) {
  return text.starts_with('-') ? static_cast<std::uint64_t>(std::strtoll(text.c_str(), nullptr, 0))
                               : std::strtoull(text.c_str(), nullptr, 0);
}

void append_location(std::string& out, const std::string& value) {
  const auto comma = value.find(',');
  append_integer(out, number(value.substr(comma + 1)) << 16 | number(value.substr(0, comma)), 4);
}

void append_hex(std::string& out, const std::string& value) {
  for (std::size_t i = 0; i + 1 < value.size(); i += 2) append_integer(out, number("0x" + value.substr(i, 2)), 1);
}

void append_token(std::string& out, const std::string& token) {
  const auto colon = token.find(':');
  const std::string kind = token.substr(0, colon);
  const std::string value = token.substr(colon + 1);
  if (kind == "str") {
    out += unescape(value) + '\0';
  } else if (kind == "text") {
    out += unescape(value);
  } else if (kind == "hex") {
    append_hex(out, value);
  } else if (kind == "zero") {
    out.append(number(value), '\0');
  } else if (kind == "loc") {
    append_location(out, value);
  } else {  // u8 … s64
    append_integer(out, number(value), number(kind.substr(1)) / 8);
  }
}

void append_output(Step& step, std::string_view line, bool first) {
  if (!first) step.output += '\n';
  if (line.size() > 2) step.output += line.substr(2);
}

}  // namespace

std::vector<Case> read_transcript(const std::string& file) {
  std::ifstream in(kRoot + "/" + file, std::ios::binary);
  std::vector<Case> cases;
  bool first_output = true;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("== ")) {
      cases.push_back({line.substr(3), {}});
    } else if (cases.empty()) {
      continue;
    } else if (line.starts_with("$ ")) {
      cases.back().steps.push_back({split_words(line.substr(2)), {}});
      first_output = true;
    } else if (line.starts_with("|") && !cases.back().steps.empty()) {
      append_output(cases.back().steps.back(), line, first_output);
      first_output = false;
    }
  }
  return cases;
}

std::set<std::string> read_expected_differences() {
  std::ifstream in(kRoot + "/expected-differences.txt");
  std::set<std::string> keys;
  for (std::string line; std::getline(in, line);) {
    const auto bar = line.find(" | ");
    if (!line.starts_with('#') && bar != std::string::npos) keys.insert(line.substr(0, bar));
  }
  return keys;
}

std::string unescape(std::string_view word) {
  std::string out;
  for (std::size_t i = 0; i < word.size(); ++i) {
    if (word[i] != '\\' || i + 1 == word.size()) {
      out += word[i];
      continue;
    }
    const char escape = word[++i];
    if (escape == 'x') {
      append_hex(out, std::string(word.substr(i + 1, 2)));
      i += 2;
    } else {
      out += escape == 'n' ? '\n' : escape == 't' ? '\t' : escape;
    }
  }
  return out;
}

std::string payload_of(const std::vector<std::string>& tokens) {
  std::string out;
  for (const auto& token : tokens) {
    if (token != "/") append_token(out, token);
  }
  return out;
}

std::string as_recorded(std::string_view text) {
  std::istringstream in{std::string(text)};
  std::string out;
  for (std::string line; std::getline(in, line);) {
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + '\n';
  }
  out.erase(out.find_last_not_of('\n') + 1);
  return out;
}

}  // namespace landtrace::support
