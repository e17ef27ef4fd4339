// What `landtrace hist` and `landtrace latency` have in common: a session that counts, which is shown now and then, and
// at the end.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "buffer/event_table.hpp"
#include "cli/histogram/view.hpp"
#include "cli/histogram/watch_options.hpp"
#include "cli/signals.hpp"
#include "cli/workplace.hpp"
#include "consumer/session.hpp"
#include "event/pattern.hpp"

namespace landtrace::cli {

// What is counted, and how.
class Watched {
 public:
  Watched() = default;
  Watched(const Watched&) = delete;
  Watched& operator=(const Watched&) = delete;
  virtual ~Watched() = default;

  // Sets the session up, before CMD starts.
  virtual Result<void> begin(Workplace& place, consumer::Session& session) = 0;
  // Called again and again; returns when to call it next at the latest.
  virtual Result<std::uint64_t> look_ns() { return ~0ull; }
  // Nothing more is counted.
  virtual Result<void> end() { return {}; }
  virtual Result<HistView> view(const HistShape& shape) = 0;
  // What is shown of it, as wide as the columns allow.
  virtual Result<std::string> text(const HistShape& shape, const WatchOptions& options, std::size_t columns) {
    LT_TRY(const HistView seen, view(shape));
    return options.json ? json_text(shape, seen) : chart_text(shape, seen, columns);
  }

  // The session has stopped. What was made for it in the domain goes.
  virtual void leave() {}

  // The events that the user named, as SYSTEM:EVENT.
  [[nodiscard]] virtual std::vector<std::string> named() const = 0;
  // Those of them, or others, that are probes of its own.
  [[nodiscard]] virtual std::vector<std::string> probes() const { return {}; }
  // What one of these does not have of what the user asked for.
  [[nodiscard]] virtual Result<void> fits(const output::EventType& type) const = 0;
};

class Watch {
 public:
  // `ring_bytes`: of the session, by CPU.
  Watch(const WatchOptions& options, HistShape shape, Watched& watched, std::uint64_t ring_bytes)
      : options_(options), shape_(std::move(shape)), watched_(watched), ring_bytes_(ring_bytes) {}

  // Starts CMD, and shows what was counted until the end. Returns the exit status.
  int run();

 private:
  int set_up_and_watch();
  Result<void> set_up();
  int watch(Signals& signals);
  Result<std::uint64_t> look();
  Result<void> check();
  Result<void> check_new_events();
  [[nodiscard]] std::vector<event::Pattern> named() const;
  [[nodiscard]] std::string waiting_text() const;
  [[nodiscard]] bool were_there() const;
  Result<void> show(bool is_last);

  const WatchOptions& options_;
  HistShape shape_;
  Watched& watched_;
  std::uint64_t ring_bytes_;
  std::optional<Workplace> place_;
  std::optional<consumer::Session> session_;
  std::optional<buffer::EventTable> seen_;  // all events that have been there
  std::size_t checked_ = 0;                 // … of which so many have been looked at
  std::optional<Child> child_;
};

}  // namespace landtrace::cli
