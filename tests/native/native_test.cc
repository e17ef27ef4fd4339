// Programs on the native API in processes of their own, and what a domain has of them. The programs are
// native_client.cc.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <csignal>
#include <algorithm>
#include <optional>
#include <thread>

#include "client_process.hpp"
#include "event/print.hpp"
#include "host/server.hpp"
#include "host/test_serving.hpp"
#include "ring/reader.hpp"
#include "rules/selection.hpp"

namespace landtrace {
namespace {

using testing::ElementsAre;

class Client : public ClientProcess {
 public:
  Client(const std::string& socket, const char* mode, const Environment& environment = {})
      : ClientProcess(LANDTRACE_NATIVE_CLIENT, socket, mode, environment) {}
};

// A domain that listens to everything.
class Host {
 public:
  explicit Host(const std::string& socket) {
    domain_ = *domain::Domain::create({.ring_bytes = 64u << 20});
    rules_ = std::make_unique<rules::Rules>(*domain_);
    auto server = host::Server::create(*domain_, *rules_, socket);
    EXPECT_TRUE(server) << server.error().message;
    server_ = std::move(*server);
    EXPECT_TRUE(rules_->selections().listen(domain_->top(), *event::Pattern::parse("*"), true));
  }
  void run() { server_->run(); }
  void stop() { server_->stop(); }

  void listen(bool on) {
    ASSERT_TRUE(host::wait_for_server(server_->path()));
    const auto access = domain_->enter();
    ASSERT_TRUE(rules_->selections().listen(domain_->top(), *event::Pattern::parse("*"), on));
  }

  // What another program would have registered; unless `held`, that has gone.
  void hold(const char* declaration, bool held) {
    const std::uint32_t user = ::geteuid();
    ASSERT_TRUE(host::wait_for_server(server_->path()));
    const auto access = domain_->enter();
    const auto slot = domain_->registrar().register_native(declaration, 0, user);
    ASSERT_TRUE(slot) << slot.error().message;
    for (int i = held ? 2 : 0; i < 2; ++i) domain_->events().drop_reference(*slot, user);
  }

  struct Line {
    std::uint64_t clock;
    std::string text;
    bool claimed;  // in a ring that is not a CPU's
  };
  // "EVENT: fields", by time.
  std::vector<Line> recorded() {
    std::vector<Line> lines;
    EXPECT_TRUE(host::wait_for_server(server_->path()));
    {
      const auto access = domain_->enter();
      const domain::Instance& top = domain_->top();
      for (const domain::User& user : domain_->users().all()) {
        for (std::uint32_t i = 0; i < domain_->instances().rings_per_set(); ++i) {
          ring::Reader reader(user.mapping.data() + top.place.rings + i * top.place.geometry.stride(),
                              top.place.geometry);
          if (reader.written() != 0) read(reader, i >= domain_->control().segment().cpus, lines);
        }
      }
    }
    std::stable_sort(lines.begin(), lines.end(), [](const Line& a, const Line& b) { return a.clock < b.clock; });
    return lines;
  }
  std::vector<std::string> texts() {
    std::vector<std::string> all;
    for (Line& line : recorded()) all.push_back(std::move(line.text));
    return all;
  }

 private:
  void read(ring::Reader& reader, bool claimed, std::vector<Line>& lines) {
    for (const auto* batch = &reader.read(); !batch->records.empty(); batch = &reader.read()) {
      EXPECT_EQ(batch->lost_before, 0u);
      for (const ring::RecordView& record : batch->records) {
        const domain::Event* const event = domain_->events().at(record.header.event);
        ASSERT_NE(event, nullptr);
        std::string text = event->name + ":";
        event::print_fields(text, *event->declaration(), record.payload);
        lines.push_back({record.header.clock, std::move(text), claimed});
      }
    }
  }

  std::unique_ptr<domain::Domain> domain_;
  std::unique_ptr<rules::Rules> rules_;
  std::unique_ptr<host::Server> server_;
};

class NativeTest : public testing::Test {
 protected:
  void SetUp() override { socket_ = testing::TempDir() + "native_test-" + std::to_string(::getpid()) + ".sock"; }
  void TearDown() override {
    if (!host_) return;
    host_->stop();
    thread_.join();
  }

  Host& start_host() {
    host_.emplace(socket_);
    thread_ = std::thread([this] { host_->run(); });
    return *host_;
  }

  std::string socket_;
  std::optional<Host> host_;
  std::thread thread_;
};

TEST_F(NativeTest, EveryFieldTypeComesBackAsItWasEmitted) {
  Host& host = start_host();
  ASSERT_EQ(Client(socket_, "all_types").wait(), 0);
  EXPECT_THAT(
      host.texts(),
      ElementsAre("integers: a=(10) b=0xfffe (65534) c=0xdeadbeef (-559038737) d=0xfffffffffffffffd (-3) "
                  "e=(1) f=0xfffe (65534) g='x'(120)",
                  "mixed: p=0xffffffff00000001 (-4294967295) f=1.5 d=-0.25 fix=short arr=abc",
                  "mixed: p=0x0 (0) f=0 d=0 fix=far to arr=", "dynamic: a=/index n=0x7 (7) b=c string c=01,02,ff d=zzz",
                  "dynamic: a= n=0x8 (8) b=(null) c= d=", "empty:No fields found"));
}

TEST_F(NativeTest, PayloadsUpToTheLimitAreKeptAndLongerOnesRefused) {
  Host& host = start_host();
  ASSERT_EQ(Client(socket_, "sizes").wait(), 0);
  const auto lines = host.texts();
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0], "text: s=" + std::string(65536 - 5, 'x'));
}

TEST_F(NativeTest, EventsAreRegisteredBeforeMainAndEmitUntilTheVeryEnd) {
  Host& host = start_host();
  ASSERT_EQ(Client(socket_, "before_main").wait(), 0);
  EXPECT_THAT(host.texts(), ElementsAre("number: n=0x63 (99)"));  // from a static's destructor
}

TEST_F(NativeTest, ChildrenAndGrandchildrenEmitAndRegister) {
  Host& host = start_host();
  ASSERT_EQ(Client(socket_, "forks").wait(), 0);
  EXPECT_THAT(host.texts(), ElementsAre("number: n=0x1 (1)", "number: n=0x2 (2)", "number: n=0x3 (3)",
                                        "of_child: n=0x4 (4)", "number: n=0x5 (5)"));
}

TEST_F(NativeTest, ThreadsLoseNothing) {
  Host& host = start_host();
  ASSERT_EQ(Client(socket_, "threads").wait(), 0);
  auto lines = host.texts();
  std::sort(lines.begin(), lines.end());
  EXPECT_EQ(lines.size(), 16000u);
  EXPECT_EQ(std::unique(lines.begin(), lines.end()), lines.end());
}

TEST_F(NativeTest, SignalHandlersEmitInTheMiddleOfAnEmit) {
  Host& host = start_host();
  Client client(socket_, "interrupted");
  const std::string counts = client.line();
  ASSERT_EQ(client.wait(), 0);
  std::uint64_t numbers = 0;
  std::uint64_t ticks = 0;
  for (const std::string& line : host.texts()) ++(line.starts_with("tick:") ? ticks : numbers);
  EXPECT_EQ(std::to_string(numbers) + " " + std::to_string(ticks), counts);
}

TEST_F(NativeTest, ADomainThatAppearsLaterIsFoundByAttach) {
  Client client(socket_, "late_domain", {{"LANDTRACE_HELPER", "0"}});
  ASSERT_EQ(client.line(), "alone");
  Host& host = start_host();
  client.go_on();
  ASSERT_EQ(client.wait(), 0);
  EXPECT_THAT(host.texts(), ElementsAre("number: n=0x2 (2)"));
}

TEST_F(NativeTest, RegistrationAnswersAsTheKernelsDoes) {
  start_host();
  EXPECT_EQ(Client(socket_, "conflict").wait(), 0);
}

TEST_F(NativeTest, WhatAnotherProgramHasUnderThatNameIsInTheWayUntilItGoes) {
  Host& host = start_host();
  host.listen(false);
  for (const char* const declaration : {"number u64 other", "by_macro u64 other"}) host.hold(declaration, true);
  Client client(socket_, "taken", {{"LANDTRACE_HELPER", "0"}});
  ASSERT_EQ(client.line(), "refused");
  for (const char* const declaration : {"number u64 other", "by_macro u64 other"}) host.hold(declaration, false);
  host.listen(true);
  client.go_on();
  ASSERT_EQ(client.wait(), 0);
  EXPECT_THAT(host.texts(), ElementsAre("number: n=0x1 (1)", "by_macro: n=0x2 (2)"));
}

TEST_F(NativeTest, BadPayloadsAreRefused) {
  start_host();
  EXPECT_EQ(Client(socket_, "bad_payloads").wait(), 0);
}

TEST_F(NativeTest, AnEventIsSilentAfterUnregister) {
  Host& host = start_host();
  ASSERT_EQ(Client(socket_, "unregister").wait(), 0);
  EXPECT_THAT(host.texts(), ElementsAre("gone:No fields found", "gone:No fields found"));
}

TEST_F(NativeTest, TheLibrarysSignalHandlersAreThoseItsHeaderNames) {
  start_host();
  EXPECT_EQ(Client(socket_, "handlers").wait(), 128 + SIGSEGV) << "it was sent";
  EXPECT_EQ(Client(socket_, "handlers", {{"LANDTRACE_SIGNAL_HANDLERS", "0"}}).wait(), 128 + SIGSEGV);
}

TEST_F(NativeTest, ProgramsSurviveTheOwnersKill) {
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t owner = ::fork();
  if (owner == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    Host host(socket_);
    ::close(ready[1]);  // its end is what is waited for; a socket that is bound does not listen yet
    host.run();
    ::_exit(0);
  }
  ::close(ready[1]);
  char none = 0;
  ASSERT_EQ(::read(ready[0], &none, 1), 0);
  ::close(ready[0]);
  Client client(socket_, "orphan", {{"LANDTRACE_BACKEND", "domain"}});
  const std::string first = client.line();
  ::kill(owner, SIGKILL);
  ::waitpid(owner, nullptr, 0);
  ASSERT_EQ(first, "emitting");
  EXPECT_EQ(client.line(), "alive");
  EXPECT_EQ(client.wait(), 0);
}

TEST_F(NativeTest, ADaemonThatClosedItsDescriptorsAttachesAgain) {
  Host& host = start_host();
  Client client(socket_, "closes_all", {{"LANDTRACE_HELPER", "0"}});
  ASSERT_EQ(client.line(), "closed");
  EXPECT_THAT(host.texts(), ElementsAre("number: n=0x1 (1)"));
  host.listen(false);
  client.go_on();
  ASSERT_EQ(client.line(), "attached");
  host.listen(true);
  client.go_on();
  EXPECT_EQ(client.wait(), 0);
}

TEST_F(NativeTest, WithoutRestartableSequencesThePortableWriterServes) {
  Host& host = start_host();
  ASSERT_EQ(Client(socket_, "one", {{"GLIBC_TUNABLES", "glibc.pthread.rseq=0"}}).wait(), 0);
  ASSERT_EQ(Client(socket_, "one", {{"LANDTRACE_WRITER", "portable"}}).wait(), 0);
  const auto lines = host.recorded();
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_TRUE(lines[0].claimed && lines[1].claimed);
  EXPECT_EQ(lines[0].text, "number: n=0x2a (42)");
}

TEST_F(NativeTest, ThePortableWriterToleratesThreadsAndSignals) {
  Host& host = start_host();
  const Environment portable{{"LANDTRACE_WRITER", "portable"}};
  ASSERT_EQ(Client(socket_, "threads", portable).wait(), 0);
  EXPECT_EQ(host.recorded().size(), 16000u);
  EXPECT_EQ(Client(socket_, "interrupted", portable).wait(), 0);
}

TEST_F(NativeTest, WithNobodyThereProgramsRunOn) {
  EXPECT_EQ(Client(socket_, "nobody", {{"LANDTRACE_BACKEND", "domain"}}).wait(), 0);
  EXPECT_EQ(Client(socket_, "nobody", {{"LANDTRACE_TRACEFS", "/nonexistent"}}).wait(), 0);
}

// The shim stands in for the kernel: it serves user_events_data in any folder.
TEST_F(NativeTest, TheKernelsUserEventsAreTheOtherWayOut) {
#ifdef LANDTRACE_SHIM
  Host& host = start_host();
  const Environment kernel{
      {"LD_PRELOAD", LANDTRACE_SHIM}, {"LANDTRACE_BACKEND", "kernel"}, {"LANDTRACE_TRACEFS", "/nonexistent/tracing"}};
  ASSERT_EQ(Client(socket_, "kernel", kernel).wait(), 0);
  EXPECT_THAT(host.texts(), ElementsAre("number: n=0x11 (17)", "text: s=through the file", "brief:No fields found"));
#else
  GTEST_SKIP() << "SKIPPED: the preload shim is not built";
#endif
}

}  // namespace
}  // namespace landtrace
