// What `landtrace hist` and `landtrace latency` have in common: a session without records, whose histogram is shown
// now and then, and at the end.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cli/histogram/view.hpp"
#include "cli/histogram/watch_options.hpp"
#include "cli/signals.hpp"
#include "cli/workplace.hpp"
#include "consumer/session.hpp"

namespace landtrace::cli {

class Watch {
 public:
  Watch(const WatchOptions& options, HistShape shape, std::string event)
      : options_(options), shape_(std::move(shape)), event_(std::move(event)) {}

  // Sets the session up with `select`, starts CMD, and shows the histogram until the end. Calls `look` again and again
  // meanwhile, for what must wait until an event has registered. Returns the exit status.
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
