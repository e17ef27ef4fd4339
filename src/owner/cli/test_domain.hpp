// A domain of the test's own, which commands without --socket take for the user's, and commands run against it.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "cli/commands.hpp"
#include "cli/test_environment.hpp"
#include "host/server.hpp"
#include "ipc/path.hpp"
#include "output/trace_dat/test_support.hpp"

namespace landtrace::cli {

// What a command printed, and its exit status.
struct Outcome {
  int status = -1;
  std::string out;
  std::string err;
};

class DomainTest : public testing::Test {
 protected:
  DomainTest() {
    domain_ = *domain::Domain::create({.ring_bytes = 1 << 18});
    rules_ = std::make_unique<rules::Rules>(*domain_);
    server_ = *host::Server::create(*domain_, *rules_, socket_);
    thread_ = std::thread([this] { server_->run(); });
  }
  ~DomainTest() override {
    server_->stop();
    thread_.join();
  }

  void make_event(const std::string& declaration) {
    const auto access = domain_->enter();
    const auto slot = domain_->registrar().register_native(declaration, domain::kPersist, 0);
    ASSERT_TRUE(slot) << declaration;
    domain_->events().drop_reference(*slot);
  }

  // As if `landtrace WORDS` had been typed, where `add` is one of its commands.
  static Outcome run(void (*add)(Program&), std::vector<const char*> words) {
    Program program("landtrace", "", "");
    add(program);
    words.insert(words.begin(), "landtrace");
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    Outcome outcome;
    outcome.status = program.run(static_cast<int>(words.size()), words.data());
    outcome.out = testing::internal::GetCapturedStdout();
    outcome.err = testing::internal::GetCapturedStderr();
    return outcome;
  }

  output::TempDir dir_;
  std::string socket_ = dir_.file("domain.sock");
  Variable named_{ipc::kSocketVariable, socket_.c_str()};
  std::unique_ptr<domain::Domain> domain_;
  std::unique_ptr<rules::Rules> rules_;
  std::unique_ptr<host::Server> server_;
  std::thread thread_;
};

}  // namespace landtrace::cli
