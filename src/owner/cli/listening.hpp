// All that must be in place before CMD starts, so that its first event is caught: the domain, the probes of -p, and a
// session that listens to everything that was asked for.
#pragma once

#include <deque>
#include <optional>

#include "reader/event_filter.hpp"
#include "cli/listen_options.hpp"
#include "cli/probes/probe_set.hpp"
#include "cli/workplace.hpp"
#include "consumer/session.hpp"

namespace landtrace::cli {

class Listening {
 public:
  // `command` is CMD. Both must outlive it, and `options` have been checked.
  Listening(ListenOptions& options, const std::vector<std::string>& command) : options_(options), command_(command) {}
  Listening(const Listening&) = delete;
  Listening& operator=(const Listening&) = delete;
  // What somebody listens to cannot be removed.
  ~Listening();

  Result<void> begin(const consumer::Session::Options& rings);

  Workplace& place() { return *place_; }
  consumer::Session& session() { return *session_; }
  // What was named, probes by the names that they got.
  [[nodiscard]] const reader::EventFilter& filter() const { return filter_; }

  using Types = std::deque<output::EventType>;
  // In a domain that others are in: a mistyped name is better known before than at the end.
  void say_what_is_waited_for(const Types& types) const;
  // While the probes are there.
  void say_what_was_not_probed() const;
  // Tells where there is not what the options asked for.
  void say_what_became_of_rules();
  // False: an event that was named was never there, as it says.
  [[nodiscard]] bool were_there(const Types& types, bool tracefs) const;

 private:
  Result<void> define_probes();

  ListenOptions& options_;
  const std::vector<std::string>& command_;
  std::optional<Workplace> place_;
  std::optional<ProbeSet> probes_;
  std::optional<consumer::Session> session_;
  reader::EventFilter filter_;
};

}  // namespace landtrace::cli
