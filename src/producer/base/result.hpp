// Result<T>: a value or an Error, where an Error is an errno and a sentence for a person.
#pragma once

#include <cerrno>
#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace landtrace {

// An errno value with the place and cause. `code` is positive, as in <errno.h>.
struct Error {
  int code = 0;
  std::string message;

  Error() = default;
  explicit Error(int code_in, std::string message_in = {}) : code(code_in), message(std::move(message_in)) {}
};

template <typename T>
class [[nodiscard]] Result : public tl::expected<T, Error> {
 public:
  using tl::expected<T, Error>::expected;
};

inline tl::unexpected<Error> fail(int code, std::string message = {}) {
  return tl::unexpected<Error>(Error(code, std::move(message)));
}

// "WHAT: strerror(code)"; the usual error after a failed system call is fail_errno("open", path).
[[nodiscard]] std::string errno_text(int code);
[[nodiscard]] tl::unexpected<Error> fail_errno(std::string what, int code = errno);

}  // namespace landtrace

#define LT_CONCAT_(a, b) a##b
#define LT_CONCAT(a, b) LT_CONCAT_(a, b)

// LT_TRY(auto x, f());  binds the value or returns the error of f() from the enclosing function.
#define LT_TRY(declaration, expression) LT_TRY_(declaration, expression, LT_CONCAT(lt_try_, __LINE__))
#define LT_TRY_(declaration, expression, temporary)                                      \
  auto temporary = (expression);                                                         \
  if (!temporary) return tl::unexpected<landtrace::Error>(std::move(temporary).error()); \
  declaration = *std::move(temporary)

// LT_CHECK(f());  returns the error of a Result<void> from the enclosing function.
#define LT_CHECK(expression) LT_CHECK_(expression, LT_CONCAT(lt_check_, __LINE__))
#define LT_CHECK_(expression, temporary) \
  if (auto temporary = (expression); !temporary) return tl::unexpected<landtrace::Error>(std::move(temporary).error())
