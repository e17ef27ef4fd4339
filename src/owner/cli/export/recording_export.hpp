// Hands a recording to an exporter: what is wanted of it, in the order of time, with its stacks and its losses.
#pragma once

#include <bitset>
#include <string>

#include "reader/loss_count.hpp"
#include "cli/selection.hpp"
#include "output/export/exporter.hpp"
#include "output/export/stacks.hpp"
#include "output/trace_dat/reader.hpp"

namespace landtrace::cli {

bool has_stacks(const output::TraceDatReader& reader);

class RecordingExport {
 public:
  struct Options {
    Selection selection;          // which knows the recording's types
    std::uint64_t limit = ~0ull;  // events
  };

  // All of them must outlive it; `file` is for messages.
  RecordingExport(Options& options, const std::string& file, output::TraceDatReader& reader,
                  output::Exporter& exporter);

  // Hands over those events alone that have a stack.
  void want_stacks() { wants_stacks_ = true; }
  // False: the recording is damaged, as was said; what could be read was handed over. `goes_on` is asked after each
  // event.
  bool run(const std::function<bool()>& goes_on);
  [[nodiscard]] std::uint64_t events() const { return events_; }

 private:
  void hand_over(const output::Record& record, const output::UserStack* stack);
  void take(const output::TraceDatReader::Item& item);
  void hand_over_rest_lost();

  Options& options_;
  const std::string& file_;
  output::TraceDatReader& reader_;
  output::Exporter& exporter_;
  output::StackJoiner joiner_;
  bool joins_;
  bool wants_stacks_ = false;
  std::bitset<65536> stacks_;  // by event id
  reader::LossCount loss_;
  std::uint64_t events_ = 0;
  std::uint64_t unknown_ = 0;
  std::uint64_t last_ns_ = 0;
};

}  // namespace landtrace::cli
