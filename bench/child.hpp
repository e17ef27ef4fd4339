// Child processes of the benchmark. None outlives it: they get SIGTERM when the process that started them
// ends, however.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "base/fd.hpp"

namespace landtrace::bench {

// The benchmark cannot measure what it says it measures.
struct Broken : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Command {
  std::vector<std::string> arguments;                            // the program, found in $PATH, first
  std::vector<std::pair<std::string, std::string>> environment;  // to be set; an empty value unsets
  bool quiet = false;                                            // standard error goes to /dev/null
  bool shares_output = false;                                    // standard output is ours
  bool joins_errors = false;                                     // standard error goes to standard output
};

// Its standard input and output are pipes to us.
class Child {
 public:
  explicit Child(const Command& command);
  // Asks it to end if it has not yet, and waits; kills it after 5 seconds.
  ~Child();
  Child(Child&& other) noexcept;
  Child(const Child&) = delete;

  [[nodiscard]] pid_t pid() const { return pid_; }
  void send(const std::string& line);
  // The next line of its output; Broken when there is none any more.
  std::string line();
  // All that is left of its output.
  std::string rest();
  // Somebody else has waited for it.
  void forget() { pid_ = -1; }
  // Closes its input and waits for its end: the exit status, or 128 and the signal.
  int wait();

 private:
  std::string name_;
  pid_t pid_ = -1;
  Fd in_;
  Fd out_;
};

// Runs a command to its end. Standard output, or Broken with it if the status is not 0.
std::string run(const Command& command);

// The number, perhaps with commas, that the first group of the expression finds in what a program said; or Broken.
std::uint64_t number_in(const std::string& said, const char* expression);

// A hidden part of this program, in a process of its own: without the shim, and attached to no domain.
// Entries that are appended to its environment win.
Command role(const std::string& name, std::vector<std::string> arguments = {});

}  // namespace landtrace::bench
