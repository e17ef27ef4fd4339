// What is written to files of the tree when a connection ends, however it ends: a command that is killed leaves none of
// its probes behind.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tracefs/node.hpp"

namespace landtrace::host {

// It was opened by the connection, which so may write to it.
struct LastWord {
  std::unique_ptr<tracefs::OpenFile> file;
  tracefs::Caller caller;
  std::string text;
};

class LastWords {
 public:
  using Time = std::chrono::steady_clock::time_point;

  // Those of a connection that has ended.
  void take(std::vector<LastWord> words, Time now);
  // Writes them, or some of what takes several turns. What is still in use (EBUSY), as its listeners go with the same
  // process, is tried again for a moment.
  void speak(Time now);
  // When to speak next; none: there is nothing to say.
  [[nodiscard]] std::optional<Time> due() const;

 private:
  struct Waiting {
    LastWord word;
    Time until;
  };
  std::vector<Waiting> waiting_;
  Time next_{};
};

}  // namespace landtrace::host
