// An owner of a domain that does what a test says: it speaks the protocol over a socket, and the domain's memory is the
// test's to fill.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/fd.hpp"
#include "ipc/protocol.hpp"
#include "plan/test_domain.hpp"

namespace landtrace::client {

inline constexpr std::uint32_t kSlot = plan::kFirstEventSlot;

struct Asked {
  ipc::Request request;
  std::string text;
  int connection;     // the same number: the same one
  std::uint32_t pid;  // of the process that made it
};

struct FakeAnswer {
  enum class Kind { kReply, kSilence, kHangUp, kGarbage, kIdentity };
  Kind kind = Kind::kReply;
  ipc::Reply reply{};
  std::string text{};
  bool sends_segments = false;
  ipc::FileIdentity identity{};
  std::string file{};  // of which a descriptor is sent along; "": none

  static FakeAnswer error(int code, std::string text = {}) {
    FakeAnswer answer;
    answer.reply.error = code;
    answer.text = std::move(text);
    return answer;
  }
  static FakeAnswer number(std::uint64_t a, std::uint64_t b = 0, std::uint64_t c = 0) {
    FakeAnswer answer;
    answer.reply.a = a;
    answer.reply.b = b;
    answer.reply.c = c;
    return answer;
  }
  static FakeAnswer of(Kind kind) {
    FakeAnswer answer;
    answer.kind = kind;
    return answer;
  }
};

// Serves in a thread with descriptors of its own, so that a program that closes all of its does not end it. By itself
// it answers kAttach with its segments; kRegisterNative and kHoldEvent with a slot, the same for the same text;
// kOpenFile with an identity; and everything else with zeros.
class FakeOwner {
 public:
  using Rule = std::function<FakeAnswer(const Asked&)>;
  static constexpr std::uint32_t kNobody = ~0u;

  // `uid`: served by that user.
  explicit FakeOwner(std::string path, std::uint32_t uid = kNobody);
  ~FakeOwner();
  FakeOwner(const FakeOwner&) = delete;
  FakeOwner& operator=(const FakeOwner&) = delete;

  // From here on.
  void answer(ipc::Operation operation, Rule rule);
  void answer(ipc::Operation operation, const FakeAnswer& answer) {
    this->answer(operation, [answer](const Asked&) { return answer; });
  }
  // What its answer would be without a rule.
  FakeAnswer by_itself(const Asked& asked);
  // Its mark is in the control segment, all connections end, and its socket is gone.
  void die();

  [[nodiscard]] std::vector<Asked> asked() const;
  [[nodiscard]] std::vector<Asked> asked(ipc::Operation operation) const;
  [[nodiscard]] plan::TestDomain& domain() { return *domain_; }
  // Connections that are open.
  [[nodiscard]] int connections() const { return open_connections_; }

 private:
  struct Connection {
    Fd fd;
    int number;
  };
  void serve();
  bool make_memory();
  bool serve_one(const Connection& connection);
  bool reply(int fd, const FakeAnswer& answer) const;
  std::uint32_t slot_of(const std::string& text);

  std::string path_;
  std::uint32_t uid_;
  Fd control_;  // of the thread
  Fd data_;
  std::optional<plan::TestDomain> domain_;
  std::atomic<bool> is_ready_ = false;
  std::atomic<bool> ends_ = false;
  std::atomic<int> open_connections_ = 0;
  mutable std::mutex mutex_;
  std::map<ipc::Operation, Rule> rules_;
  std::vector<Asked> asked_;
  std::map<std::string, std::uint32_t> slots_;
  std::thread thread_;
};

// The library keeps its state for as long as its process lives: each test has a process of its own.
class ClientTest : public testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;

  [[nodiscard]] std::string path() const { return folder_ + "/domain.sock"; }
  [[nodiscard]] const std::string& folder() const { return folder_; }
  // In a child, whose domain is at path().
  void in_child(const std::function<void()>& body) const;

 private:
  std::string folder_;
};

// Whether it comes true, sooner or later.
bool eventually(const std::function<bool()>& condition);

}  // namespace landtrace::client
