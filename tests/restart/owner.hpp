// A domain's owner in a process of its own: ../shim/domain_host.cc.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <ctime>

#include "base/test_wait.hpp"
#include "talking_process.hpp"

namespace landtrace {

inline long now_us() {
  timespec t;
  ::clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

class Owner {
 public:
  explicit Owner(const std::string& socket, bool keeps_journal = true)
      : process_(keeps_journal ? std::vector<std::string>{LANDTRACE_DOMAIN_HOST, socket, "journal"}
                               : std::vector<std::string>{LANDTRACE_DOMAIN_HOST, socket}) {
    EXPECT_EQ(process_.line(), "ready");
  }

  // All lines of the answer.
  std::string ask(const std::string& text) {
    std::string all;
    process_.say(text);
    for (std::string line = process_.line(); line != "."; line = process_.line()) all += line + "\n";
    return all;
  }
  void kill() { process_.kill(); }
  void end() {
    process_.hang_up();
    EXPECT_EQ(process_.wait(), 0);
  }

 private:
  TalkingProcess process_;
};

}  // namespace landtrace
