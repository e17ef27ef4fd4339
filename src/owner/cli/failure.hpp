// How the program says that it cannot go on.
#pragma once

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <string>

#include "base/result.hpp"
#include "cli/visible.hpp"

namespace landtrace::cli {

inline constexpr int kSuccess = 0;
inline constexpr int kFailure = 1;
inline constexpr int kBadUse = 2;
inline constexpr int kCannotExecute = 126;  // of CMD, as env(1) has it
inline constexpr int kNotFound = 127;

// Printed before each message.
inline const char* program_name = "landtrace";

inline void complain(const std::string& what) {
  std::fputs(fmt::format("{}: {}\n", program_name, visible(what, Lines::kKept)).c_str(), stderr);
}

// The first line: messages of CLI11 may have several.
inline std::string one_line(const std::string& text) { return text.substr(0, text.find('\n')); }

// The sentence of an error, or the system's words for its errno.
inline std::string sentence(const Error& error) {
  return error.message.empty() ? errno_text(error.code) : error.message;
}

// The same, with the name of the file where the sentence does not have it.
inline std::string sentence(const Error& error, const std::string& file) {
  const std::string text = sentence(error);
  return text.find(file) == std::string::npos ? file + ": " + text : text;
}

inline int fail_with(int status, const std::string& what) {
  complain(what);
  return status;
}

// EINVAL: what was asked for is wrong in itself. Anything else is how things are: a program that has ended, say.
inline int fail_with(const Error& error) {
  return fail_with(error.code == EINVAL ? kBadUse : kFailure, sentence(error));
}

}  // namespace landtrace::cli
