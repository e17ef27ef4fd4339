// What `landtrace hist` and `landtrace latency` have in common: a session without records, whose histogram is shown now and
// then, and at the end.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cli/command_line.hpp"
#include "cli/histogram/view.hpp"
#include "cli/signals.hpp"
#include "cli/workplace.hpp"
#include "consumer/session.hpp"

namespace landtrace::cli {

struct WatchOptions {
  std::string filter;
  std::string interval;
  std::string duration;
  std::uint64_t size = 0;  // of the histogram; 0: as the kernel has it
  bool json = false;
  std::vector<std::string> command;

  std::uint64_t interval_ns = 0;  // 0: shown at the end alone
  std::uint64_t duration_ns = 0;
};

void add_watch_options(Command& command, WatchOptions& options);
// Reads the numbers. EINVAL.
Result<void> check_watch_options(WatchOptions& options);

// "user_events:NAME" for a name without a system.
std::string full_event_name(const std::string& name);
// "latency_ns.log2" -> "latency_ns".
std::string without_modifier(const std::string& field);
// ":size=N", for a table that has room for so many rows; "" by default.
std::string size_text(const WatchOptions& options);
// ":size=N if FILTER", as far as wanted.
std::string trigger_end(const WatchOptions& options);

class Watch {
 public:
  Watch(const WatchOptions& options, HistShape shape, std::string event)
      : options_(options), shape_(std::move(shape)), event_(std::move(event)) {}

  // Sets up with `select` what the session is to do, starts CMD, and shows until it is over. `look` is called again and again
  // meanwhile: for what must wait until an event is there. Returns the exit status.
  using Step = std::function<Result<void>(Workplace&, consumer::Session&)>;
  int run(const Step& select, const Step& look = {});

 private:
  Result<void> set_up(const Step& select);
  int watch(Signals& signals, const Step& look);
  Result<void> check();
  Result<void> show(bool is_last);

  const WatchOptions& options_;
  HistShape shape_;
  std::string event_;  // whose histogram it is
  std::optional<Workplace> place_;
  std::optional<consumer::Session> session_;
  std::optional<Child> child_;
};

}  // namespace landtrace::cli
