// Prints a recording to standard output.
#pragma once

#include <vector>

#include "cli/lines/line_writer.hpp"
#include "cli/report/tally.hpp"
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
    std::size_t threads = 0;  // at most; 0: as many as there are processors for them
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
  void print_rest_lost();

  const Options& options_;
  Selection selection_;
  Result<void> fits_;  // --filter, some event that there is
  std::string file_;
  output::TraceDatReader reader_;
  TextOutput out_{false};  // control characters are dealt with line by line
  LineWriter lines_;
  Tally tally_;
  std::size_t objects_known_ = 0;
  bool at_end_ = false;
  bool damaged_ = false;
  bool is_complete_ = false;  // it has been finished since it was opened
};

}  // namespace landtrace::cli
