// Text at compile time: literals as template arguments, and the writer that puts declarations together. No
// API.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace landtrace::detail {

// A string literal as a template argument.
template <std::size_t N>
struct Literal {
  char text[N];

  consteval Literal(const char (&literal)[N]) {  // NOLINT: Event<"name"> is the point
    for (std::size_t i = 0; i < N; ++i) text[i] = literal[i];
  }
  [[nodiscard]] constexpr std::string_view view() const { return {text, N - 1}; }
};

constexpr bool is_word_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// Event and field names are identifiers: the kernel takes more, but filters, perf and trace-cmd do not.
constexpr bool is_identifier(std::string_view name) {
  if (name.empty() || (name.front() >= '0' && name.front() <= '9')) return false;
  for (const char c : name) {
    if (!is_word_character(c)) return false;
  }
  return true;
}

// A text that grows. Too long a one is an error of the declaration, which its length still shows.
template <std::size_t Capacity>
struct BasicWriter {
  static constexpr std::size_t kCapacity = Capacity;

  char text[kCapacity] = {};
  std::size_t length = 0;

  constexpr void add(char c) {
    if (length < kCapacity) text[length] = c;
    ++length;
  }
  constexpr void add(std::string_view more) {
    for (const char c : more) add(c);
  }
  constexpr void add_number(std::size_t number) {
    if (number >= 10) add_number(number / 10);
    add(static_cast<char>('0' + number % 10));
  }
};

using Writer = BasicWriter<1024>;

// What a writer wrote, with a NUL and nothing behind it.
template <std::size_t Length>
constexpr std::array<char, Length + 1> cut(const Writer& writer) {
  std::array<char, Length + 1> text{};
  for (std::size_t i = 0; i < Length; ++i) text[i] = writer.text[i];
  return text;
}

// The name of T as the compiler knows it, without namespaces and template arguments.
template <typename T>
constexpr std::string_view bare_type_name() {
  std::string_view name = __PRETTY_FUNCTION__;
  name.remove_prefix(name.find("T = ") + 4);
  name = name.substr(0, name.find_first_of(";<]"));
  const std::size_t scope = name.rfind("::");
  return scope == std::string_view::npos ? name : name.substr(scope + 2);
}

}  // namespace landtrace::detail
