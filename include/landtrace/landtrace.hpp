// Landtrace, the C++20 API: an event is a type.
//
//     using RequestDone = landtrace::Event<"request_done", landtrace::Field<"id", std::uint32_t>,
//                                                          landtrace::Field<"route", std::string_view>>;
//     ...
//     RequestDone::emit(42, "/index");                      // a test and a branch while nobody listens
//     if (RequestDone::enabled()) { ... }                   // where arguments take work to make
//
// Using the type is all: its state is static, and it registers itself before main(), or when the shared
// library that uses it is loaded. Where it goes, and what that means for threads, signals and fork, stands in
// <landtrace/landtrace.h>. Two uses of the same name and fields, also in several source files, are one event.
//
// | C++                                        | declared as                               |
// |--------------------------------------------|-------------------------------------------|
// | integers of 1, 2, 4, 8 bytes               | u8 ... s64 by size and sign; char as char |
// | bool; enumerations                         | u8; the underlying type                   |
// | float, double                              | struct float NAME 4, struct double NAME 8 |
// | char[N], std::array<char, N>               | char[N]: padded with NULs, or cut         |
// | std::string_view, std::string, const char* | __rel_loc char[], with a NUL              |
// | std::span<const std::byte or std::uint8_t> | __rel_loc u8[]                            |
// | trivially copyable structs                 | struct TYPE NAME SIZE, TYPE being         |
// |                                            | landtrace::type_name<T>                   |
//
// A field of the type const char* may be a null pointer: "(null)". For other fields with text emit() makes a
// std::string_view of its argument, and that must not be a null pointer.
//
// The kernel knows a struct by its name and size alone. Landtrace's own commands show its members, too, if it was
// described before the event: at global scope, with the public members that are to be seen. Members can be all of the
// above with a fixed size, pointers, arrays of them, and structs, which want a description of their own.
//
//     struct Position { int x; int y; };
//     LANDTRACE_DESCRIBE(Position, x, y);          // moved: to={x=3 y=-4}     "to":{"x":3,"y":-4}
#pragma once

#if __cplusplus < 202002L
#error "<landtrace/landtrace.hpp> needs C++20 (-std=c++20). LANDTRACE_EVENT() of <landtrace/landtrace.h> does not."
#else

#include <landtrace/landtrace.h>

#include <cerrno>
#include <cstddef>
#include <type_traits>
#include <utility>

#include <landtrace/detail/description.hpp>
#include <landtrace/detail/field_types.hpp>

namespace landtrace {

inline constexpr unsigned kPersist = LANDTRACE_PERSIST;
inline constexpr unsigned kMultiFormat = LANDTRACE_MULTI_FORMAT;

// A field of an event; fields lie in the payload in their order, without padding.
template <detail::Literal Name, typename T>
struct Field : detail::FieldType<T> {
  static_assert(detail::is_identifier(Name.view()), "a field's name is an identifier");
  static constexpr std::string_view kName = Name.view();
  using Type = T;
};

// Among an event's fields: what it is registered with.
template <unsigned Bits>
struct Flags {
  static_assert((Bits & ~(kPersist | kMultiFormat)) == 0, "landtrace::kPersist, landtrace::kMultiFormat or both");
};

namespace detail {

template <unsigned Bits, typename... Fields>
struct Parts {
  static constexpr unsigned kFlags = Bits;
  static constexpr std::size_t kFixed = (Fields::kSize + ... + 0);
  static constexpr std::size_t kVectors = (Fields::kVectors + ... + 0);

  static consteval bool names_differ() {
    const std::array<std::string_view, sizeof...(Fields)> names{Fields::kName...};
    for (std::size_t i = 0; i < names.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        if (names[i] == names[j]) return false;
      }
    }
    return true;
  }
  static consteval Writer declare(std::string_view name) {
    Writer writer;
    writer.add(name);
    [[maybe_unused]] char separator = ' ';
    ((writer.add(std::exchange(separator, ';')), Fields::declare(writer, Fields::kName)), ...);
    return writer;
  }
  static consteval DescriptionWriter describe() {
    DescriptionWriter writer;
    (writer.add_struct<typename Fields::Type>(), ...);
    return writer;
  }
};

// Sorts Event's arguments into flags and fields.
template <typename Sorted, typename... Rest>
struct Sort {
  using type = Sorted;
};
template <unsigned Bits, typename... Fields, unsigned More, typename... Rest>
struct Sort<Parts<Bits, Fields...>, Flags<More>, Rest...> : Sort<Parts<Bits | More, Fields...>, Rest...> {};
template <unsigned Bits, typename... Fields, Literal Name, typename T, typename... Rest>
struct Sort<Parts<Bits, Fields...>, Field<Name, T>, Rest...> : Sort<Parts<Bits, Fields..., Field<Name, T>>, Rest...> {};

// Registers before main(). Code that may be in a shared library (-fPIC, not -fPIE) also ends it, for
// dlclose(); the code of a program leaves its events alone, so that destructors and other threads may emit
// until the very end.
class Registration {
 public:
  Registration(landtrace_event& event, const char* declaration, unsigned flags)
      : event_(event), result_(landtrace_register(&event, declaration, flags)) {}
  Registration(const Registration&) = delete;
  Registration& operator=(const Registration&) = delete;
#if defined(__PIC__) && !defined(__PIE__)
  ~Registration() { landtrace_unregister(&event_); }
#endif

  [[nodiscard]] int result() const { return result_; }

 private:
  [[maybe_unused]] landtrace_event& event_;
  int result_;
};

template <Literal Name, typename Parts>
class EventBase;

template <Literal Name, unsigned Bits, typename... Fields>
class EventBase<Name, Parts<Bits, Fields...>> {
  using All = Parts<Bits, Fields...>;
  static constexpr Writer kWriter = All::declare(Name.view());
  static constexpr std::size_t kMaxDeclaration = 512;  // with its NUL, in bytes (the kernel's limit)
  static constexpr std::size_t kLength = kWriter.length < kMaxDeclaration ? kWriter.length : 0;

  static_assert(is_identifier(Name.view()), "an event's name is an identifier");
  static_assert(All::names_differ(), "two fields have the same name");
  static_assert(kWriter.length < kMaxDeclaration, "the declaration is longer than the kernel's 511 bytes");
  static_assert(All::kFixed <= LANDTRACE_MAX_PAYLOAD, "the fields are larger than the largest payload");
  static_assert(1 + All::kVectors <= 64, "too many dynamic fields");

  static constexpr DescriptionWriter kDescription = All::describe();
  static constexpr unsigned kFlags = Bits | LANDTRACE_RETRY | (kDescription.text.length == 0 ? 0 : LANDTRACE_DESCRIBED);
  static_assert(!kDescription.is_too_long(), "the structs' descriptions are longer than 4 KiB, or there are over 64");

 public:
  // What the event is registered with: "request_done u32 id;__rel_loc char[] route".
  [[gnu::visibility("hidden")]] static constexpr std::array kDeclaration = cut<kLength>(kWriter);
  // The same, and behind it the description of its structs, if there is one.
  [[gnu::visibility("hidden")]] static constexpr std::array kTexts =
      kDescription.template behind<kDescription.text.length>(kDeclaration);

  // True while somebody listens. Before the registration (in another static's constructor) it is false.
  static bool enabled() {
    use_registration();
    return __builtin_expect(landtrace_enabled(&state_) != 0, 0);
  }

  // Emits the event; thread-safe and async-signal-safe. Returns 0 or a negative errno as landtrace_emit():
  //   -EBADF   nobody listens; nothing was done but this test
  //   -E2BIG   with its dynamic data the payload is larger than 64 KiB; it is not cut
  // Inlined, also without optimisation, as is what it calls: stacks begin with the caller.
  [[gnu::always_inline]] static int emit(typename Fields::Argument... arguments) {
    if (__builtin_expect(!enabled(), 1)) return -EBADF;
    return emit_enabled(std::make_index_sequence<sizeof...(Fields)>(), arguments...);
  }

  // What registering gave: 0, or a negative errno as landtrace_register(), which tries again: backend() says where the
  // event goes by now.
  static int registration() { return registration_.result(); }
  static landtrace_backend backend() { return landtrace_event_backend(&state_); }

 private:
  // Naming the static member is what makes the compiler generate it, and with it the registration.
  static void use_registration() { static_cast<void>(&registration_); }

  static constexpr std::array<std::size_t, sizeof...(Fields)> offsets() {
    std::array<std::size_t, sizeof...(Fields)> all{};
    [[maybe_unused]] std::size_t at = 0;
    [[maybe_unused]] std::size_t i = 0;
    ((all[i++] = std::exchange(at, at + Fields::kSize)), ...);
    return all;
  }
  template <std::size_t... I>
  [[gnu::always_inline]] static int emit_enabled(std::index_sequence<I...>,
                                                 const typename Fields::Argument&... arguments) {
    [[maybe_unused]] constexpr auto kOffsets = offsets();
    Payload<All::kFixed, All::kVectors> payload;
    (Fields::template put<kOffsets[I]>(payload, arguments), ...);
    if (payload.size() > LANDTRACE_MAX_PAYLOAD) return -E2BIG;
    const iovec* const vectors = payload.vectors();
    return landtrace_emit_enabled(&state_, vectors, payload.count(), payload.size());
  }

  // Hidden: every shared object has its own, found without a detour, and dlclose() can take it away. (In the
  // domain they are one event all the same.)
  [[gnu::visibility("hidden")]] static constinit inline landtrace_event state_ = LANDTRACE_EVENT_INIT;
  [[gnu::visibility("hidden")]] static inline const Registration registration_{state_, kTexts.data(), kFlags};
};

}  // namespace detail

// An event of this name with these fields (landtrace::Field), and possibly landtrace::Flags among them.
template <detail::Literal Name, typename... Parts>
struct Event : detail::EventBase<Name, typename detail::Sort<detail::Parts<0>, Parts...>::type> {};

// Looks for a domain again, for events that have found nobody so far: landtrace_attach().
inline int attach() { return landtrace_attach(); }

}  // namespace landtrace

#endif
