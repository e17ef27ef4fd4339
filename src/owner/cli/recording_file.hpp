// Opening a recording as the user named it.
#pragma once

#include <fmt/format.h>

#include "cli/failure.hpp"
#include "cli/standard_streams.hpp"
#include "daemon/hosted_domain.hpp"
#include "output/trace_dat/reader.hpp"
#include "output/trace_dat/writer.hpp"

namespace landtrace::cli {

// "-" is standard input. One that is not finished is a file a CPU, and twice as many are open for a moment while it is
// followed: whoever reads one has a daemon::DescriptorLimit.
inline Result<output::TraceDatReader> open_recording(const std::string& name) {
  if (name != "-") return output::TraceDatReader::open(name);
  LT_TRY(const StandardInput input, StandardInput::read());
  return output::TraceDatReader::open(input.file());
}

// What is to be said behind that it is complete.
inline std::string damage_text(const output::Completed& completed) {
  if (!completed.damaged_at) return "";
  return fmt::format(
      "; {0}.damaged, which described it, is damaged at offset {1}, and what it said there of events, "
      "threads or objects is missing",
      completed.path, *completed.damaged_at);
}

// What a killed recorder left at the path is completed first, so that it becomes the older recording as any other.
inline Result<output::TraceDatWriter> create_recording(const std::string& path,
                                                       const output::TraceDatWriter::Options& options) {
  auto writer = output::TraceDatWriter::create(path, options);
  if (writer || writer.error().code != EEXIST) return writer;
  const auto completed = [&path] {
    const daemon::DescriptorLimit descriptors;
    return output::complete_recording(path);
  }();
  // Its recorder may have ended meanwhile.
  if (!completed && completed.error().code != EALREADY) return writer;
  if (completed) complain(path + " had been left unfinished; it is complete now" + damage_text(*completed));
  return output::TraceDatWriter::create(path, options);
}

// Of one that was not finished when it was opened.
inline std::string unfinished_text(const output::TraceDatReader& reader, const std::string& file) {
  const std::string name = file == "-" ? "standard input" : file;
  std::string damage;
  if (const auto at = reader.damaged_at()) {
    damage = fmt::format(
        "; it is damaged at offset {}, and what it said there of events, threads or objects is missing", *at);
  }
  if (reader.is_being_written()) return name + " is still being recorded" + damage;
  if (!reader.was_left()) return name + " was still being recorded, and may have more by now" + damage;
  return fmt::format("{} was not finished by its recorder; `landtrace recover {}` completes it{}", name,
                     file == "-" ? "FILE" : file, damage);
}

}  // namespace landtrace::cli
