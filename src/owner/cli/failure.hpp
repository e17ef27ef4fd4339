// How the program says that it cannot go on.
#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <string>

#include "base/result.hpp"

namespace landtrace::cli {

inline constexpr int kSuccess = 0;
inline constexpr int kFailure = 1;
inline constexpr int kBadUse = 2;
inline constexpr int kCannotExecute = 126;  // of CMD, as env(1) has it
inline constexpr int kNotFound = 127;

// What stands before each message.
inline const char* program_name = "landtrace";

inline void complain(const std::string& what) { fmt::print(stderr, "{}: {}\n", program_name, what); }

// CLI11's own messages may have several lines; ours has one.
inline std::string one_line(const std::string& text) { return text.substr(0, text.find('\n')); }

// An error may come from a bare errno.
inline std::string sentence(const Error& error) {
  return error.message.empty() ? errno_text(error.code) : error.message;
}

// The same for what went wrong with a file; not every message names it.
inline std::string sentence(const Error& error, const std::string& file) {
  const std::string text = sentence(error);
  return text.find(file) == std::string::npos ? file + ": " + text : text;
}

inline int fail_with(int status, const std::string& what) {
  complain(what);
  return status;
}

}  // namespace landtrace::cli
