// A domain in a process of its own.
#pragma once

#include <cstdint>

#include "child.hpp"

namespace landtrace::bench {

class Owner {
 public:
  explicit Owner(std::string socket);

  [[nodiscard]] const std::string& socket() const { return socket_; }
  [[nodiscard]] pid_t pid() const { return child_.pid(); }
  // Starts or stops to listen to what matches. How long the call took, in ns: it returns when every enable
  // word is set.
  std::uint64_t listen(const std::string& pattern, bool on = true);
  // Writes to a file of the domain's tree.
  void write(const std::string& path, const std::string& text);
  // A command of Histograms (histograms.hpp), and its answer.
  std::uint64_t hist(const std::string& command) { return ask("hist " + command); }
  // A command of Programs (programs.hpp), and its answer.
  std::uint64_t bpf(const std::string& command) { return ask("bpf " + command); }
  // Events that the rings took so far: all, and those of portable writers alone.
  std::uint64_t written();
  std::uint64_t written_portably();

 private:
  std::uint64_t ask(const std::string& line);

  std::string socket_;
  Child child_;
};

}  // namespace landtrace::bench
