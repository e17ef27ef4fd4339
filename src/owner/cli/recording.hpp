// The loop of `landtrace record`: from the rings to the file until something ends it.
#pragma once

#include <functional>
#include <optional>

#include "cli/child.hpp"
#include "cli/probes/running_programs.hpp"
#include "cli/progress.hpp"
#include "cli/signals.hpp"
#include "cli/trace_file_sink.hpp"
#include "consumer/collector.hpp"

namespace landtrace::cli {

class Recording {
 public:
  // `child` may be nullptr; `duration_ns` 0 is without end.
  Recording(consumer::Collector& collector, TraceFileSink& sink, Signals& signals, Child* child,
            std::uint64_t duration_ns, bool overwrite);

  // Records until CMD has ended, a signal says so, the time is over, the domain is gone, or the disk is full.
  // False if something went wrong, after a message on stderr.
  bool run();

  // It also ends when all of these have ended, if there are any. They outlive this.
  void end_with(const RunningPrograms& programs) { programs_ = &programs; }
  // Called when it is over, while the session still listens.
  void at_end(std::function<void()> function) { at_end_ = std::move(function); }

  // Waits for CMD where the recording ended before it.
  void wait_for_child();

 private:
  // True: stop recording.
  bool is_over();
  bool take_signal(const Signals::Arrived& arrived);
  bool drain();
  void show_progress();

  consumer::Collector& collector_;
  TraceFileSink& sink_;
  Signals& signals_;
  Child* child_;
  const RunningPrograms* programs_ = nullptr;
  std::function<void()> at_end_;
  std::uint64_t deadline_ns_;
  bool overwrite_;
  Progress progress_;
  int pause_ms_ = 0;
  int interrupts_ = 0;
  bool failed_ = false;
};

}  // namespace landtrace::cli
