// Where an export goes, a file or a folder, and what is written there.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "cli/export/formats.hpp"
#include "cli/export/output_file.hpp"
#include "cli/export/output_folder.hpp"

namespace landtrace::cli {

class ExportOutput {
 public:
  // `path`: "" is the format's own, "-" standard output. `not_this` is being read. EINVAL: it cannot be there.
  static Result<ExportOutput> open(const ExportFormat& format, const std::string& path, const std::string& not_this,
                                   const ExportOptions& options);

  [[nodiscard]] output::Exporter& exporter() { return *exporter_; }
  // Whether everything could be written so far.
  [[nodiscard]] Result<void> written() const;
  // The same with the name in the error, for who tells it later.
  [[nodiscard]] Result<void> named(Result<void> written) const;
  // Writes what has been made until now, and does not wait for more.
  void flush();
  // The same for what is recorded just now, as far as its format can be read without its end: of standard output at
  // once, else a few times a second.
  void flush_now_and_then();
  // It is whole: it takes its place.
  Result<void> keep();
  // It cannot be written any more: what there is of it stays, where that can be read, and is named. For what lasts.
  void leave();

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] bool is_standard_output() const { return path_ == "-"; }
  // "3 events in FILE; what was there is FILE.old"
  [[nodiscard]] std::string text(std::uint64_t events) const;
  // What to exit with where it cannot be written, after a message. EPIPE: nobody reads any more, as with `| head`.
  [[nodiscard]] int status_of(const Error& error) const;

 private:
  explicit ExportOutput(std::string path) : path_(std::move(path)) {}

  std::string path_;
  bool grows_ = false;
  std::optional<OutputFile> file_;
  std::optional<OutputFolder> folder_;
  std::unique_ptr<output::Target> target_;
  std::unique_ptr<output::Exporter> exporter_;
  std::chrono::steady_clock::time_point next_checkpoint_{};
};

}  // namespace landtrace::cli
