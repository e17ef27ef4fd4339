// Prints a recording to standard output.
#pragma once

#include <vector>

#include "cli/lines/line_writer.hpp"
#include "reader/loss_count.hpp"
#include "cli/selection.hpp"
#include "cli/text_output.hpp"
#include "output/trace_dat/reader.hpp"

namespace landtrace::cli {

class ReportPrinter {
 public:
  struct Options {
    LineStyle style;
    Selection selection;
    std::uint64_t limit = ~0ull;  // events
    bool count_only = false;
    bool follow = false;  // an unfinished recording: to its end
  };

  // `options` must outlive it; `file` is for messages.
  ReportPrinter(const Options& options, std::string file, output::TraceDatReader reader);

  // Prints it all. Returns the exit status, and has said what was wrong.
  int print();

 private:
  void print_header();
  void know_what_was_added();
  // EINVAL: the recording does not have what the style needs.
  [[nodiscard]] Result<void> can_style() const;
  void print_counts();
  void say_why_it_ends();
  // Prints what there is; false: nobody reads on, or the limit is reached.
  bool print_available();
  bool wait_for_more();
  bool print_block();
  void print_item(const output::TraceDatReader::Item& item);
  void print_record(const output::Record& record, const output::Task* who);
  void print_lost(std::uint32_t cpu, std::uint64_t count);
  void print_rest_lost();

  const Options& options_;
  Selection selection_;
  Result<void> fits_;  // --filter, some event that there is
  std::string file_;
  output::TraceDatReader reader_;
  TextOutput out_{false};  // control characters are dealt with line by line
  LineWriter lines_;
  output::TraceDatReader::Block block_;
  event::TextBuffer text_;  // of the block
  reader::LossCount loss_;
  std::size_t objects_known_ = 0;
  std::uint64_t printed_ = 0;
  std::map<std::uint16_t, std::uint64_t> counts_;  // events, by id
  std::uint64_t lost_ = 0;
  bool at_end_ = false;
  bool damaged_ = false;
  bool is_complete_ = false;  // it has been finished since it was opened
};

}  // namespace landtrace::cli
