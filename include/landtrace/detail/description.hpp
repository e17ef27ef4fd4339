// Structs whose members are to be seen: LANDTRACE_DESCRIBE, and the text that it becomes (the form stands at
// LANDTRACE_DESCRIBED in <landtrace/landtrace.h>). No API but that macro: <landtrace/landtrace.hpp> says what it is
// for.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>
#include <type_traits>

#include <landtrace/detail/field_types.hpp>
#include <landtrace/detail/text.hpp>

namespace landtrace {

// Of a struct that was described: each(visit) calls visit.operator()<TYPE>(NAME, OFFSET) for its members.
template <typename T>
struct Description {
  static constexpr bool kIsKnown = false;
};

namespace detail {

struct Text {};

// What a member is one of, or an array of; of arrays in arrays all elements are counted. 0: no array.
template <typename T>
struct Element {
  using Type = std::remove_cv_t<T>;
  static constexpr std::size_t kCount = 0;
};
template <typename T, std::size_t N>
struct Element<T[N]> {
  using Type = typename Element<T>::Type;
  static constexpr std::size_t kCount = N * (Element<T>::kCount == 0 ? 1 : Element<T>::kCount);
};
template <std::size_t N>
struct Element<char[N]> : Element<Text> {};
template <typename T, std::size_t N>
struct Element<std::array<T, N>> : Element<T[N]> {};
template <typename T>
struct Element<const T> : Element<T> {};
template <typename T, std::size_t N>
struct Element<const T[N]> : Element<T[N]> {};

// Writes a struct, and behind it those of its members.
class DescriptionWriter {
 public:
  BasicWriter<4096> text;

  template <typename T>
  constexpr void add_struct() {
    if constexpr (Description<T>::kIsKnown) {
      static_assert(is_identifier(type_name<T>), "specialise landtrace::type_name for this type: one word");
      if (is_known(type_name<T>)) return;
      if (known_count_ < known_.size()) known_[known_count_] = type_name<T>;
      ++known_count_;
      text.add(type_name<T>);
      text.add(' ');
      text.add_number(sizeof(T));
      text.add('{');
      is_first_ = true;
      Description<T>::each(MemberWriter{*this});
      text.add('}');
      Description<T>::each(StructWriter{*this});
    }
  }

  [[nodiscard]] constexpr bool is_too_long() const {
    return text.length >= text.kCapacity || known_count_ > known_.size();
  }

  // `declaration`, and what was written, each with its NUL.
  template <std::size_t Length, std::size_t Size>
  constexpr auto behind(const std::array<char, Size>& declaration) const {
    std::array<char, Size + (Length == 0 ? 0 : Length + 1)> both{};
    for (std::size_t i = 0; i < Size; ++i) both[i] = declaration[i];
    for (std::size_t i = 0; i < Length; ++i) both[Size + i] = text.text[i];
    return both;
  }

 private:
  struct MemberWriter {
    DescriptionWriter& writer;
    template <typename T>
    constexpr void operator()(std::string_view name, std::size_t offset) const {
      writer.add_member<T>(name, offset);
    }
  };
  struct StructWriter {
    DescriptionWriter& writer;
    template <typename T>
    constexpr void operator()(std::string_view /*name*/, std::size_t /*offset*/) const {
      writer.add_struct<typename Element<T>::Type>();
    }
  };

  template <typename T>
  constexpr void add_member(std::string_view name, std::size_t offset) {
    if (!is_first_) text.add(';');
    is_first_ = false;
    add_type<typename Element<T>::Type>();
    text.add(' ');
    text.add(name);
    if constexpr (Element<T>::kCount > 0) {
      text.add('*');
      text.add_number(Element<T>::kCount);
    }
    text.add(' ');
    text.add_number(offset);
    text.add(' ');
    text.add_number(sizeof(T));
  }

  template <typename T>
  constexpr void add_type() {
    if constexpr (std::is_same_v<T, Text>) {
      text.add("char[]");
    } else if constexpr (std::is_same_v<T, bool>) {
      text.add("bool");
    } else if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>) {
      text.add(std::is_same_v<T, float> ? "float" : "double");
    } else if constexpr (std::is_pointer_v<T>) {
      text.add("ptr");
    } else if constexpr (std::is_enum_v<T>) {
      add_type<std::underlying_type_t<T>>();
    } else if constexpr (std::is_integral_v<T> && sizeof(T) <= 8) {
      text.add(std::is_signed_v<T> ? 's' : 'u');
      text.add_number(sizeof(T) * 8);
    } else {
      text.add("struct ");
      text.add(is_identifier(type_name<T>) ? type_name<T> : "unnamed");
    }
  }

  [[nodiscard]] constexpr bool is_known(std::string_view name) const {
    for (std::size_t i = 0; i < known_count_ && i < known_.size(); ++i) {
      if (known_[i] == name) return true;
    }
    return false;
  }

  std::array<std::string_view, 64> known_{};
  std::size_t known_count_ = 0;
  bool is_first_ = true;
};

}  // namespace detail
}  // namespace landtrace

#define LANDTRACE_DESCRIBE(TYPE, ...)                                \
  template <>                                                        \
  struct landtrace::Description<TYPE> {                              \
    static constexpr bool kIsKnown = true;                           \
    using Described = TYPE;                                          \
    template <typename Visit>                                        \
    static constexpr void each(const Visit& visit) {                 \
      LANDTRACE_DETAIL_EXPAND(LANDTRACE_DETAIL_MEMBERS(__VA_ARGS__)) \
    }                                                                \
  }

#define LANDTRACE_DETAIL_MEMBER(NAME) \
  visit.template operator()<decltype(Described::NAME)>(#NAME, offsetof(Described, NAME));

// The preprocessor's loop: each scan of EXPAND takes one more name off. There are 341, and as many members fill 4 KiB.
#define LANDTRACE_DETAIL_MEMBERS(NAME, ...) \
  LANDTRACE_DETAIL_MEMBER(NAME) __VA_OPT__(LANDTRACE_DETAIL_AGAIN LANDTRACE_DETAIL_PARENS(__VA_ARGS__))
#define LANDTRACE_DETAIL_AGAIN() LANDTRACE_DETAIL_MEMBERS
#define LANDTRACE_DETAIL_PARENS ()
#define LANDTRACE_DETAIL_EXPAND(...) \
  LANDTRACE_DETAIL_EXPAND4(LANDTRACE_DETAIL_EXPAND4(LANDTRACE_DETAIL_EXPAND4(LANDTRACE_DETAIL_EXPAND4(__VA_ARGS__))))
#define LANDTRACE_DETAIL_EXPAND4(...) \
  LANDTRACE_DETAIL_EXPAND3(LANDTRACE_DETAIL_EXPAND3(LANDTRACE_DETAIL_EXPAND3(LANDTRACE_DETAIL_EXPAND3(__VA_ARGS__))))
#define LANDTRACE_DETAIL_EXPAND3(...) \
  LANDTRACE_DETAIL_EXPAND2(LANDTRACE_DETAIL_EXPAND2(LANDTRACE_DETAIL_EXPAND2(LANDTRACE_DETAIL_EXPAND2(__VA_ARGS__))))
#define LANDTRACE_DETAIL_EXPAND2(...) \
  LANDTRACE_DETAIL_EXPAND1(LANDTRACE_DETAIL_EXPAND1(LANDTRACE_DETAIL_EXPAND1(LANDTRACE_DETAIL_EXPAND1(__VA_ARGS__))))
#define LANDTRACE_DETAIL_EXPAND1(...) __VA_ARGS__
