// By which sessions this process's perf events listen to the domain. Events share one, unless they want the same
// tracepoint with another filter.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "perf/counter.hpp"
#include "perf/source.hpp"

namespace landtrace::perf {

class Listening {
 public:
  // `is_meant` must outlive it.
  explicit Listening(const ThreadGate::IsMeant& is_meant) : is_meant_(is_meant) {}

  // The event is on from here on, or waits for exec; it may have listened before.
  Result<void> begin(Event& event, const std::string& socket);
  // It is off, and stays where it listens.
  static void hush(Event& event);
  // It gets nothing any more.
  void end(Event& event);

  // Makes samples of what has happened. True if there was anything.
  bool pull();
  // In a forked child: the sessions are its parent's.
  void leave_to_parent();

 private:
  Result<void> begin_counting(Event& event, const std::string& socket);
  bool pull_before_exec();

  const ThreadGate::IsMeant& is_meant_;
  std::vector<std::unique_ptr<Source>> sources_;
  // For what counters count before an exec. Nobody need read what comes of these, so they are never kept waiting.
  std::vector<std::unique_ptr<Source>> before_exec_;
  std::vector<std::unique_ptr<Counter>> counters_;
};

}  // namespace landtrace::perf
