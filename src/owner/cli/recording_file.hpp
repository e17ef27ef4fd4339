// Opening a recording as the user named it.
#pragma once

#include <fmt/format.h>

#include "cli/standard_streams.hpp"
#include "output/trace_dat/reader.hpp"

namespace landtrace::cli {

// "-" is standard input.
inline Result<output::TraceDatReader> open_recording(const std::string& name) {
  if (name != "-") return output::TraceDatReader::open(name);
  LT_TRY(const StandardInput input, StandardInput::read());
  return output::TraceDatReader::open(input.file());
}

// Of one that was not finished when it was opened.
inline std::string unfinished_text(const output::TraceDatReader& reader, const std::string& name) {
  if (reader.is_being_written()) return name + " is still being recorded";
  return fmt::format("{} was not finished by its recorder; `landtrace recover {}` completes it", name, name);
}

}  // namespace landtrace::cli
