// Asks landtrace-fleet, which speaks to the transport, for what happens in a fleet. It runs as long as this object.
#pragma once

#include <string>
#include <sys/types.h>
#include <vector>

#include "base/fd.hpp"
#include "fleet/feed_record.hpp"

namespace landtrace::fleet {

class Feed {
 public:
  // `program` is landtrace-fleet, which finds the address in this process's environment (kOptionsVariable).
  static Result<Feed> start(const std::string& program);
  Feed(Feed&& other) noexcept;
  Feed& operator=(Feed&& other) noexcept;
  Feed(const Feed&) = delete;
  Feed& operator=(const Feed&) = delete;
  ~Feed();

  // Frames of an order's histograms from now on, those that there are first; kEveryOrder: of all. Or no more.
  void follow(const std::string& order) { say('+', order); }
  void leave(const std::string& order) { say('-', order); }
  static constexpr const char* kEveryOrder = ">";

  // What has come, without waiting for more: some of it, where that is much. EPIPE with a sentence: it has ended.
  Result<std::vector<FeedRecord>> take();
  // Becomes readable when something has come, or it has ended.
  [[nodiscard]] int fd() const { return output_.get(); }

 private:
  Feed(pid_t pid, Fd input, Fd output) : pid_(pid), input_(std::move(input)), output_(std::move(output)) {}
  void say(char what, const std::string& order);
  void end();

  pid_t pid_ = -1;
  Fd input_;   // its standard input
  Fd output_;  // its standard output
  FeedReader reader_;
};

}  // namespace landtrace::fleet
