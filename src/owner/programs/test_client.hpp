// A process of test_client.c, from the tests' side.
#pragma once

#include <gtest/gtest.h>
#include <sys/personality.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "base/fd.hpp"

namespace landtrace::programs {

class TestClient {
 public:
  struct Options {
    std::uint32_t uid = ::geteuid();
    bool random_addresses = true;
  };
  TestClient() : TestClient(Options{}) {}
  explicit TestClient(const Options& options) {
    int to[2], from[2];
    if (::pipe2(to, O_CLOEXEC) != 0 || ::pipe2(from, O_CLOEXEC) != 0) return;
    first_ = ::fork();
    if (first_ == 0) {
      ::dup2(to[0], 0), ::dup2(from[1], 1);
      if (!options.random_addresses) ::personality(ADDR_NO_RANDOMIZE);
      const bool changes = options.uid != ::geteuid();
      if (changes && (::setgid(options.uid) != 0 || ::setuid(options.uid) != 0)) ::_exit(90);
      ::execl(LANDTRACE_TEST_CLIENT, "test_client", nullptr);
      ::_exit(91);
    }
    ::close(to[0]), ::close(from[1]);
    to_ = Fd(to[1]), from_ = Fd(from[0]);
    pid_ = answer();
  }
  ~TestClient() {
    to_.reset();
    ::waitpid(first_, nullptr, 0);
  }
  TestClient(const TestClient&) = delete;
  TestClient& operator=(const TestClient&) = delete;

  // The process that answers now.
  [[nodiscard]] std::uint32_t pid() const { return static_cast<std::uint32_t>(pid_); }
  std::uint64_t ask(const std::string& line) {
    tell(line);
    return answer();
  }
  // For what makes another process answer.
  void become(const std::string& line) { pid_ = ask(line); }
  void tell(const std::string& line) { EXPECT_TRUE(write_all(to_.get(), (line + "\n").data(), line.size() + 1)); }
  // The process that answers now ends, and its parent goes on.
  void quit_to(std::uint32_t parent) {
    tell("quit");
    pid_ = parent;
  }

 private:
  std::uint64_t answer() {
    std::string line;
    for (char byte; ::read(from_.get(), &byte, 1) == 1 && byte != '\n';) line += byte;
    EXPECT_FALSE(line.empty()) << "the client does not answer";
    return std::strtoull(line.c_str(), nullptr, 10);
  }

  pid_t first_ = -1;
  std::uint64_t pid_ = 0;
  Fd to_, from_;
};

}  // namespace landtrace::programs
