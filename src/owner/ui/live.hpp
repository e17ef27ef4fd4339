// The domain behind the live page: an instance of its own in the tree, so that what the page switches on is nobody
// else's, and goes with it. All that the page does is reading and writing files of that instance, probes in a group of
// its own, and commands that look.
#pragma once

#include <chrono>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "event/pattern.hpp"
#include "ipc/tree_client.hpp"
#include "ui/lines.hpp"
#include "ui/tasks.hpp"

namespace landtrace::ui {

class Live {
 public:
  struct Options {
    std::string socket;   // the domain's
    std::string program;  // landtrace
    // Events that are switched on as they come.
    std::vector<event::Pattern> switched_on = {};
  };
  explicit Live(Options options) : options_(std::move(options)), tasks_(options_.program, options_.socket) {}
  Live(const Live&) = delete;
  Live& operator=(const Live&) = delete;
  // Removes the instance.
  ~Live();

  // Connects, and makes the instance. As TreeClient has it.
  Result<void> begin();
  [[nodiscard]] bool is_connected() const { return tree_.has_value(); }
  // "instances/ui"
  [[nodiscard]] const std::string& instance() const { return instance_; }
  // Of its probes: "ui", "ui_2".
  [[nodiscard]] std::string group() const;

  // Takes what has come; where the domain is gone, tries to find it again. True: there is news.
  bool look();
  // The same while no page is there to be told: as little as possible.
  void look_unwatched();
  // What pages are told: a JSON object. `all`: of a page that has been told nothing, or has to forget what it was told.
  std::string news(bool all);

  // Files below the instance, the list of all events, of probes, and why those were refused. EACCES: another file; else
  // as the tree has it, with the sentence that the kernel would put into error_log.
  Result<std::string> read(const std::string& path);
  // Files below the instance, and definitions of probes in the group, which go with this object.
  Result<void> write(const std::string& path, const std::string& text, bool append);

  [[nodiscard]] const Lines& lines() const { return lines_; }
  Tasks& tasks() { return tasks_; }

 private:
  using Time = std::chrono::steady_clock::time_point;

  [[nodiscard]] bool is_own(const std::string& path) const;
  [[nodiscard]] bool is_own_probe(std::string_view line) const;
  Result<void> write_whole(const std::string& path, const std::string& text, int flags);
  Result<void> make_instance();
  Result<void> set_up();
  void keep_probe(std::string_view line);
  void switch_on_new();
  void lose();

  Options options_;
  std::string instance_;
  std::optional<ipc::TreeClient> tree_;
  std::optional<ipc::TreeClient> pipe_;  // with trace_pipe open
  Lines lines_;
  Tasks tasks_;
  std::set<std::string> seen_;  // events that have been switched on, or need not be
  Time next_switch_{};
  Time unwatched_since_{};
  bool was_told_ = false;  // of the connection's state
};

}  // namespace landtrace::ui
