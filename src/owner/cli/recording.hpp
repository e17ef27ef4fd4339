// The loop of `landtrace record` and its like: from the rings to a sink until something ends it.
#pragma once

#include <functional>
#include <optional>

#include "cli/child.hpp"
#include "cli/probes/running_programs.hpp"
#include "cli/progress.hpp"
#include "consumer/recorder_sink.hpp"
#include "cli/signals.hpp"
#include "consumer/collector.hpp"

namespace landtrace::cli {

class Recording {
 public:
  // `child` may be nullptr; `duration_ns` 0 is without end.
  Recording(consumer::Collector& collector, consumer::RecorderSink& sink, Signals& signals, Child* child,
            std::uint64_t duration_ns, bool overwrite);

  // Records until CMD has ended, a signal says so, the time is over, the domain is gone, or the disk is full.
  // False if something went wrong, after a message on stderr.
  bool run();

  // It also ends when all of these have ended, if there are any. They outlive this.
  void end_with(const RunningPrograms& programs) { programs_ = &programs; }
  // No progress is shown, and standard output is where the sink writes: it also ends when nobody reads that any more.
  void be_for_standard_output() { is_for_standard_output_ = true; }
  // Called when it is over, while the session still listens.
  void at_end(std::function<void()> function) { at_end_ = std::move(function); }

  // Whether it has ended because nobody reads any more.
  [[nodiscard]] bool lost_its_reader() const { return lost_its_reader_; }

  // Waits for CMD where the recording ended before it.
  void wait_for_child();

 private:
  // True: stop recording.
  bool is_over();
  bool take_signal(const Signals::Arrived& arrived);
  bool drain();
  void say_what_failed();
  void show_progress();

  consumer::Collector& collector_;
  consumer::RecorderSink& sink_;
  Signals& signals_;
  Child* child_;
  const RunningPrograms* programs_ = nullptr;
  std::function<void()> at_end_;
  std::uint64_t deadline_ns_;
  bool overwrite_;
  Progress progress_;
  int pause_ms_ = 0;
  int interrupts_ = 0;
  bool is_for_standard_output_ = false;
  bool lost_its_reader_ = false;
  bool failed_ = false;
};

}  // namespace landtrace::cli
