// Filters and triggers that act in programs on the native API, and change while these run. The programs are
// rules_client.cc.
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <map>
#include <thread>

#include "client_process.hpp"
#include "host/server.hpp"
#include "ring/reader.hpp"
#include "rules/selection.hpp"

namespace landtrace {
namespace {

constexpr unsigned kChanges = 10'000;
constexpr unsigned kCommands = 8;       // about triggers, in a round
constexpr std::uint64_t kRounds = 500;  // of the handshake

class NativeRulesTest : public testing::Test {
 protected:
  NativeRulesTest() : socket_(testing::TempDir() + "rules_test-" + std::to_string(::getpid()) + ".sock") {
    domain_ = *domain::Domain::create({.ring_bytes = 16u << 20});
    rules_ = std::make_unique<rules::Rules>(*domain_);
    server_ = *host::Server::create(*domain_, *rules_, socket_);
    for (const char* const name : {"pair", "stop", "go", "mark"}) {
      EXPECT_TRUE(rules_->selections().listen(domain_->top(), *event::Pattern::parse(name), true));
    }
    thread_ = std::thread([this] { server_->run(); });
  }
  ~NativeRulesTest() override {
    server_->stop();
    thread_.join();
  }

  [[nodiscard]] ClientProcess start(const char* mode) { return {LANDTRACE_RULES_CLIENT, socket_, mode}; }

  // Runs `step(i)` so often, many at a time: it has eight busy threads beside it.
  void repeat(unsigned times, const std::function<void(unsigned)>& step) {
    constexpr unsigned kAtATime = 100;
    for (unsigned first = 0; first < times; first += kAtATime) {
      {
        const auto access = domain_->enter();
        for (unsigned i = first; i < std::min(times, first + kAtATime); ++i) step(i);
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(5));  // for all of them to emit
    }
  }

  // Writes to a file of the tree.
  void put(const std::string& path, const std::string& text) {
    const auto access = domain_->enter();
    const tracefs::Caller caller{0, {::getuid(), ::getgid()}};
    const auto node = server_->tree().find(path);
    ASSERT_TRUE(node) << path;
    const auto file = (*node)->file()->open(caller, O_WRONLY);
    ASSERT_TRUE(file) << path;
    const auto written = (*file)->write(caller, text + "\n", 0);
    ASSERT_TRUE(written) << path << ": " << text << ": " << written.error().message;
  }
  void put_event(const std::string& event, const char* file, const std::string& text) {
    put("events/user_events/" + event + "/" + file, text);
  }

  std::uint64_t bytes_in_use() {
    const auto access = domain_->enter();
    EXPECT_TRUE(domain_->grace().drain(std::chrono::seconds(60)));
    return domain_->control().bytes_in_use();
  }

  // visit(name, the payload's words) for what is in the rings now.
  void visit(const std::function<void(const std::string&, const std::uint64_t*)>& visit) {
    const auto access = domain_->enter();
    const domain::RingPlace& place = domain_->top().place;
    for (const domain::User& user : domain_->users().all()) {
      for (std::uint32_t i = 0; i < domain_->instances().rings_per_set(); ++i) {
        ring::Reader reader(user.mapping.data() + place.rings + i * place.geometry.stride(), place.geometry);
        for (const auto* batch = &reader.read(); !batch->records.empty(); batch = &reader.read()) {
          for (const ring::RecordView& record : batch->records) {
            std::uint64_t words[2] = {};
            std::memcpy(words, record.payload.data(), std::min(sizeof words, record.payload.size()));
            const domain::Event* const event = domain_->events().at(record.header.event);
            if (event != nullptr) visit(event->name, words);  // else its programs have ended
          }
        }
      }
    }
  }
  std::map<std::uint64_t, std::uint64_t> counts_of(const std::string& name) {
    std::map<std::uint64_t, std::uint64_t> counts;
    visit([&](const std::string& event, const std::uint64_t* words) {
      if (event == name) ++counts[words[0]];
    });
    return counts;
  }

  std::string socket_;
  std::unique_ptr<domain::Domain> domain_;
  std::unique_ptr<rules::Rules> rules_;
  std::unique_ptr<host::Server> server_;
  std::thread thread_;
};

TEST_F(NativeRulesTest, AFilterThatChangesIsNeverMetHalf) {
  put("tracing_on", "0");
  ClientProcess client = start("pairs");
  ASSERT_EQ(client.line(), "emitting");
  const auto filter = [](unsigned k) { return "a == " + std::to_string(k) + " && b == " + std::to_string(k); };
  put_event("pair", "filter", filter(10));
  const std::uint64_t before = bytes_in_use();
  put("tracing_on", "1");
  repeat(kChanges, [&](unsigned i) { put_event("pair", "filter", filter(11 + i % 39)); });
  client.go_on();
  ASSERT_EQ(client.wait(), 0);
  std::uint64_t pairs = 0;
  visit([&](const std::string&, const std::uint64_t* words) {
    ++pairs;
    ASSERT_EQ(words[0], words[1]);
    ASSERT_TRUE(words[0] >= 10 && words[0] < 50);
  });
  EXPECT_GT(pairs, 0u);
  EXPECT_LE(bytes_in_use(), before);
}

TEST_F(NativeRulesTest, TriggersThatComeAndGoLeaveNothingBehind) {
  ClientProcess client = start("triggers");
  ASSERT_EQ(client.line(), "emitting");
  const std::uint64_t before = bytes_in_use();
  repeat(kChanges / kCommands, [&](unsigned i) {
    const std::string filter = " if n > " + std::to_string(i * 1000 * kCommands);
    put_event("stop", "trigger", "traceoff:3" + filter);
    put_event("go", "trigger", "traceon" + filter);
    put_event("stop", "trigger", "disable_event:user_events:pair" + filter);
    put_event("go", "trigger", "enable_event:user_events:pair:2" + filter);
    for (const char* const gone : {"!traceoff", "!disable_event:user_events:pair"}) put_event("stop", "trigger", gone);
    for (const char* const gone : {"!traceon", "!enable_event:user_events:pair"}) put_event("go", "trigger", gone);
  });
  client.go_on();
  ASSERT_EQ(client.wait(), 0);
  EXPECT_LE(bytes_in_use(), before);
}

TEST_F(NativeRulesTest, WhatOneThreadStopsIsStoppedForAnothersNextEvent) {
  ClientProcess first = start("triggers");
  ASSERT_EQ(first.line(), "emitting");  // the events are there
  put_event("stop", "trigger", "traceoff");
  put_event("go", "trigger", "traceon");
  first.go_on();
  ASSERT_EQ(first.wait(), 0);
  put("tracing_on", "1");
  ASSERT_EQ(start("handshake").wait(), 0);
  auto counts = counts_of("mark");
  EXPECT_EQ(counts.count(1), 0u);
  EXPECT_EQ(counts[2], kRounds);
  EXPECT_EQ(counts[3], kRounds);
}

TEST_F(NativeRulesTest, ProgramsThatAreKilledAmongTheirTriggersLeaveAllUsable) {
  ClientProcess client = start("triggers");
  ASSERT_EQ(client.line(), "emitting");
  put_event("stop", "trigger", "traceoff");
  put_event("stop", "trigger", "disable_event:user_events:pair if n != 0");
  put_event("stop", "trigger", "snapshot if n < 1000000");
  put_event("go", "trigger", "traceon");
  put_event("go", "trigger", "enable_event:user_events:pair:100000 if n != 0");
  for (int i = 0; i < 20; ++i) {
    ClientProcess victim = start("triggers");
    ASSERT_EQ(victim.line(), "emitting");
    std::this_thread::sleep_for(std::chrono::milliseconds(5 + i));
    victim.kill();
  }
  for (const char* const command : {"!traceoff", "!disable_event:user_events:pair", "!snapshot"}) {
    put_event("stop", "trigger", command);
  }
  for (const char* const command : {"!traceon", "!enable_event:user_events:pair"}) put_event("go", "trigger", command);
  client.go_on();
  ASSERT_EQ(client.wait(), 0);  // and with it the last event that met a trigger
  put("tracing_on", "1");
  bytes_in_use();  // nobody who is gone is waited for
  ASSERT_EQ(start("handshake").wait(), 0);
  auto counts = counts_of("mark");
  for (const std::uint64_t mark : {1, 2, 3}) EXPECT_EQ(counts[mark], kRounds) << mark;
}

}  // namespace
}  // namespace landtrace
