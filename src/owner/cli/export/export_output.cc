#include "cli/export/export_output.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include "cli/failure.hpp"
#include "cli/quantity.hpp"
#include "cli/visible.hpp"

namespace landtrace::cli {
namespace {

constexpr std::chrono::milliseconds kCheckpointEvery(200);

// Whole rows, the ends of which are layout.
std::string on_terminal(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t end = text.find("\r\n");
    out += visible(text.substr(0, end), Lines::kKept);
    if (end == std::string_view::npos) break;
    out += "\r\n";
    text.remove_prefix(end + 2);
  }
  return out;
}

void say_killed(const std::string& path, const std::string& killed) {
  if (killed.empty()) return;
  complain(fmt::format("{}.partial, which a recorder that was killed had left, is {} now", path, killed));
}

}  // namespace

Result<ExportOutput> ExportOutput::open(const ExportFormat& format, const std::string& path,
                                        const std::string& not_this, const ExportOptions& options) {
  ExportOutput output(path.empty() ? format.file : path);
  output.grows_ = format.grows;
  if (format.make_folder == nullptr) {
    LT_TRY(OutputFile file, options.lasts ? OutputFile::create_lasting(output.path_, format.is_binary)
                                          : OutputFile::create(output.path_, not_this, format.is_binary));
    say_killed(output.path_, file.killed());
    output.file_.emplace(std::move(file));
    output.target_ = std::make_unique<output::Target>(output.file_->fd());
    if (options.lasts) output.target_->begin_again_in(output.file_->end_fd());
    if (output.is_standard_output() && ::isatty(output.file_->fd()) == 1) output.target_->show_as(on_terminal);
    output.exporter_ = format.make(*output.target_, options);
    return output;
  }
  if (output.is_standard_output()) {
    return fail(EINVAL, fmt::format("--format {} is a folder of files: -o FOLDER", format.name));
  }
  LT_TRY(OutputFolder folder, options.lasts ? OutputFolder::create_lasting(output.path_, format.is_file)
                                            : OutputFolder::create(output.path_, format.is_file));
  say_killed(output.path_, folder.killed());
  output.folder_.emplace(std::move(folder));
  output.exporter_ = format.make_folder(output.folder_->fd(), options);
  return output;
}

Result<void> ExportOutput::written() const { return target_ ? target_->result() : exporter_->result(); }

Result<void> ExportOutput::named(Result<void> written) const {
  if (written) return written;
  return fail(written.error().code, sentence(written.error(), is_standard_output() ? "standard output" : path_));
}

void ExportOutput::flush_now_and_then() {
  const auto now = std::chrono::steady_clock::now();
  if (!is_standard_output() && now < next_checkpoint_) return;
  next_checkpoint_ = now + kCheckpointEvery;
  exporter_->checkpoint();
  flush();
}

void ExportOutput::flush() {
  if (target_) target_->flush();
}

Result<void> ExportOutput::keep() {
  flush();
  LT_CHECK(written());
  return file_ ? file_->keep() : folder_->keep();
}

void ExportOutput::leave() {
  if (!grows_ || !(file_ ? file_->leave() : folder_->leave())) return;
  complain(fmt::format("what was written until then is {0}.partial; `landtrace recover {0}` completes it", path_));
}

std::string ExportOutput::text(std::uint64_t events) const {
  const bool has_replaced = file_ ? file_->has_replaced() : folder_->has_replaced();
  return fmt::format("{} event{} in {}{}", count_text(events), events == 1 ? "" : "s", path_,
                     has_replaced ? fmt::format("; what was there is {}.old", path_) : "");
}

int ExportOutput::status_of(const Error& error) const {
  if (error.code == EPIPE) return kSuccess;
  return fail_with(kFailure, sentence(error, is_standard_output() ? "standard output" : path_));
}

}  // namespace landtrace::cli
