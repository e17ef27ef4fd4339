// Events as they happen: what `tail`, `flame` and `top` have in common. Each is a sink; this starts CMD, or listens to
// the user's domain, and fills the sink until it is over.
#pragma once

#include <functional>

#include "cli/listening.hpp"
#include "cli/recording.hpp"

namespace landtrace::cli {

struct LiveOptions {
  ListenOptions listen{"*:*"};
  std::string buffer_size = "4M";
  std::string duration;
  bool tracefs = false;
  std::vector<std::string> command;

  consumer::Session::Options rings;
  std::uint64_t duration_ns = 0;
  // Standard output is for what is made here: CMD's goes to standard error, and it ends when nobody reads any more.
  bool owns_standard_output = false;
  // The terminal is for what is made here: CMD's output is not shown.
  bool hides_command = false;

  void add_options(Command& command, const std::string& usage);
  // Complains of what is wrong, and returns the exit status for that; else 0.
  int check();
};

class Live {
 public:
  explicit Live(LiveOptions& options) : options_(options), listening_(options.listen, options.command) {}

  // Called when it is over, before anything is said of that.
  void before_messages(std::function<void()> function) { before_messages_ = std::move(function); }
  // Called before it begins, with what can be set there.
  using Tune = std::function<void(Recording&, const consumer::Collector&)>;
  // Returns the exit status, CMD's if that is none of success. It has said what was wrong.
  int run(
      consumer::RecorderSink& sink, const Tune& tune = [](Recording&, const consumer::Collector&) {});

 private:
  [[nodiscard]] Child::Output command_output() const;
  int refuse(int status, const Error& error);
  Result<void> start(Signals& signals);
  int end(Recording& recording, const consumer::Collector& collector, bool succeeded);

  LiveOptions& options_;
  Listening listening_;
  std::function<void()> before_messages_;
  std::optional<Child> child_;
  int spawn_status_ = 0;  // of a CMD that could not be started
};

}  // namespace landtrace::cli
