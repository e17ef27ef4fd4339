// How each C++ type of a field is declared and put into a payload. No API: <landtrace/landtrace.hpp> has the
// table.
//
// A FieldType<T> has
//   Argument                       what emit() takes
//   kSize                          bytes in the fixed part
//   kVectors                       pieces of dynamic data
//   declare(writer, name)          appends "type name [size]"
//   put<Offset>(payload, argument)
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include <landtrace/detail/payload.hpp>
#include <landtrace/detail/text.hpp>

namespace landtrace {

// The name of a struct in declarations. Specialise it where the compiler's own name will not do:
//   template <> inline constexpr std::string_view landtrace::type_name<Impl::P> = "position";
template <typename T>
inline constexpr std::string_view type_name = detail::bare_type_name<T>();

// What emit() takes for a char array: text, or an array that need not end with a NUL.
class Chars {
 public:
  template <std::convertible_to<std::string_view> T>
  requires(!std::is_array_v<std::remove_reference_t<T>>) Chars(const T& text) : text_(text) {}  // NOLINT
  template <std::size_t N>
  Chars(const char (&array)[N]) : text_(up_to_nul({array, N})) {}  // NOLINT
  template <std::size_t N>
  Chars(const std::array<char, N>& array) : text_(up_to_nul({array.data(), N})) {}  // NOLINT

  [[nodiscard]] std::string_view text() const { return text_; }

 private:
  static std::string_view up_to_nul(std::string_view all) { return all.substr(0, all.find('\0')); }
  std::string_view text_;
};

namespace detail {

template <typename T>
struct FieldType;

// A value that is copied as it is.
template <typename T>
struct Plain {
  using Argument = T;
  static constexpr std::size_t kSize = sizeof(T);
  static constexpr std::size_t kVectors = 0;

  template <std::size_t Offset>
  static void put(auto& payload, const T& value) {
    payload.template put<Offset>(value);
  }
};

template <typename T>
requires(std::is_integral_v<T>) struct FieldType<T> : Plain<T> {
  static_assert(sizeof(T) <= 8, "an integer field has at most 8 bytes");

  static constexpr void declare(Writer& writer, std::string_view name) {
    if constexpr (std::is_same_v<T, char>) {
      writer.add("char");
    } else {
      writer.add(std::is_signed_v<T> ? 's' : 'u');
      writer.add_number(sizeof(T) * 8);
    }
    writer.add(' ');
    writer.add(name);
  }
};

template <typename T>
requires(std::is_enum_v<T>) struct FieldType<T> : Plain<T> {
  static constexpr void declare(Writer& writer, std::string_view name) {
    FieldType<std::underlying_type_t<T>>::declare(writer, name);
  }
};

constexpr void declare_struct(Writer& writer, std::string_view type, std::string_view name, std::size_t size) {
  writer.add("struct ");
  writer.add(type);
  writer.add(' ');
  writer.add(name);
  writer.add(' ');
  writer.add_number(size);
}

// The kernel has no type for these. Landtrace's reports know the two names.
template <typename T>
requires(std::is_same_v<T, float> || std::is_same_v<T, double>) struct FieldType<T> : Plain<T> {
  static constexpr void declare(Writer& writer, std::string_view name) {
    declare_struct(writer, std::is_same_v<T, float> ? "float" : "double", name, sizeof(T));
  }
};

template <typename T>
requires(std::is_class_v<T> || std::is_union_v<T>) struct FieldType<T> : Plain<T> {
  using Argument = const T&;
  static_assert(std::is_trivially_copyable_v<T>, "a struct is copied byte by byte: it must be trivially copyable");
  static_assert(is_identifier(type_name<T>), "specialise landtrace::type_name for this type: one word");

  static constexpr void declare(Writer& writer, std::string_view name) {
    declare_struct(writer, type_name<T>, name, sizeof(T));
  }
};

template <std::size_t N>
struct FieldType<char[N]> {
  static_assert(N <= 1024, "a char array has at most 1024 bytes (the kernel's limit)");
  using Argument = Chars;
  static constexpr std::size_t kSize = N;
  static constexpr std::size_t kVectors = 0;

  static constexpr void declare(Writer& writer, std::string_view name) {
    writer.add("char[");
    writer.add_number(N);
    writer.add("] ");
    writer.add(name);
  }
  template <std::size_t Offset>
  static void put(auto& payload, Chars chars) {
    payload.template put_text<Offset, N>(chars.text().data(), chars.text().size());
  }
};
template <std::size_t N>
struct FieldType<std::array<char, N>> : FieldType<char[N]> {};

struct DynamicText {
  using Argument = std::string_view;
  static constexpr std::size_t kSize = sizeof(std::uint32_t);
  static constexpr std::size_t kVectors = 2;

  static constexpr void declare(Writer& writer, std::string_view name) {
    writer.add("__rel_loc char[] ");
    writer.add(name);
  }
  template <std::size_t Offset>
  static void put(auto& payload, std::string_view text) {
    payload.template put_dynamic<Offset>(text.data(), text.size(), true);
  }
};
template <>
struct FieldType<std::string_view> : DynamicText {};
template <>
struct FieldType<std::string> : DynamicText {};
template <>
struct FieldType<const char*> : DynamicText {
  using Argument = const char*;

  template <std::size_t Offset>
  static void put(auto& payload, const char* text) {
    DynamicText::put<Offset>(payload,
                             text == nullptr ? "(null)" : text);  // as the kernel's own events have it
  }
};

template <typename Byte>
requires(std::is_same_v<Byte, const std::byte> ||
         std::is_same_v<Byte, const std::uint8_t>) struct FieldType<std::span<Byte>> {
  using Argument = std::span<Byte>;
  static constexpr std::size_t kSize = sizeof(std::uint32_t);
  static constexpr std::size_t kVectors = 1;

  static constexpr void declare(Writer& writer, std::string_view name) {
    writer.add("__rel_loc u8[] ");
    writer.add(name);
  }
  template <std::size_t Offset>
  static void put(auto& payload, std::span<Byte> bytes) {
    payload.template put_dynamic<Offset>(bytes.data(), bytes.size(), false);
  }
};

}  // namespace detail
}  // namespace landtrace
