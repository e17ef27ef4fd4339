// Opening a recording as the user named it.
#pragma once

#include "cli/standard_streams.hpp"
#include "output/trace_dat/reader.hpp"

namespace landtrace::cli {

// "-" is standard input.
inline Result<output::TraceDatReader> open_recording(const std::string& name) {
  if (name != "-") return output::TraceDatReader::open(name);
  LT_TRY(const StandardInput input, StandardInput::read());
  return output::TraceDatReader::open(input.file());
}

}  // namespace landtrace::cli
