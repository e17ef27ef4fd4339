// What became of probes, through the owner's socket.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "domain/test_users.hpp"
#include "host/probe_requests.hpp"

namespace landtrace::host {
namespace {

using ipc::Operation;
using testing::ElementsAre;
using namespace std::string_literals;

class Observer final : public rules::ProbeObserver {
 public:
  void defined() override {}
  Result<void> start(const domain::Event&, const rules::Probe&) override { return {}; }
  void stop(const domain::Event&, const rules::Probe&) override {}
  void gone(const rules::ProbePlace&) override {}
  rules::ProbeCounts counts(const domain::Event&, const rules::ProbePlace&) override { return {7, 5}; }
  void refused(std::uint32_t pid, std::uint32_t slot, std::uint32_t generation, std::uint8_t reason) override {
    for (const std::uint32_t number : {pid, slot, generation, std::uint32_t{reason}}) said.push_back(number);
  }
  std::vector<rules::RefusedPlace> refusals(const domain::Event&) override { return all; }

  std::vector<std::uint32_t> said;
  std::vector<rules::RefusedPlace> all;
};

class ProbeRequestsTest : public testing::Test {
 protected:
  ProbeRequestsTest() : domain_(*domain::Domain::create({.ring_bytes = 1 << 18, .owner_uid = kUser})) {
    std::ignore = domain_->events().register_event("e u32 id", 0, kUser);
    rules_.probes().observe(&observer_);
  }
  ~ProbeRequestsTest() override { rules_.probes().observe(nullptr); }

  Response ask(Operation operation, std::string_view text, std::uint64_t a = 0, std::uint32_t uid = kUser) {
    const auto access = domain_->enter();
    const ipc::Request request{.operation = operation, .a = a};
    return handle_request(*domain_, rules_, connection_, 7, {uid, uid}, request, text);
  }

  static constexpr std::uint32_t kUser = 1000;
  static constexpr std::uint32_t kGuest = 1001;
  std::unique_ptr<domain::Domain> domain_;
  rules::Rules rules_{*domain_};
  Observer observer_;
  Connection connection_;
};

TEST_F(ProbeRequestsTest, AgentsSayWhichPlacesTheyCouldNotPatch) {
  const ipc::RefusedPlace places[] = {{3, 5, 9, {}}, {4, 6, 0, {}}};
  std::string text(reinterpret_cast<const char*>(places), sizeof places);
  EXPECT_EQ(ask(Operation::kPlacesRefused, text + "half of one").reply.error, 0);
  EXPECT_THAT(observer_.said, ElementsAre(7, 3, 5, 9, 7, 4, 6, 0));
}

TEST_F(ProbeRequestsTest, WhoRecordsIsToldPieceByPiece) {
  constexpr std::uint32_t kMany = 3000;
  for (std::uint32_t i = 0; i < kMany; ++i)
    observer_.all.push_back({i, "a program", "/usr/lib/libc.so.6", i, "why not"});
  std::string all;
  unsigned pieces = 0;
  for (std::uint64_t from = 0;; ++pieces) {
    const Response piece = ask(Operation::kRefusedPlaces, "user_events\0e\0"s, from);
    ASSERT_EQ(piece.reply.error, 0);
    ASSERT_LE(piece.text.size(), ipc::kMaxText);
    all += piece.text;
    if (piece.reply.a == 0) break;
    ASSERT_GT(piece.reply.a, from);
    from = piece.reply.a;
  }
  EXPECT_GE(pieces, 1u);
  std::string expected;
  for (std::uint32_t i = 0; i < kMany; ++i) {
    expected += std::to_string(i) + " " + std::to_string(i) + " a program" + "\0/usr/lib/libc.so.6\0why not\0"s;
  }
  EXPECT_EQ(all, expected);
}

// A user event has no places.
TEST_F(ProbeRequestsTest, WhoRecordsIsToldHowOftenThereWasNoRoom) {
  EXPECT_EQ(ask(Operation::kRefusedPlaces, "user_events\0e\0"s).reply.b, 0u);
  const programs::Asker asker{{kUser, kUser}, 0};
  for (const char* const one : {"p:g/two /bin/sh:0x5000", "p:g/two /bin/sh:0x5004"}) {
    ASSERT_TRUE(rules_.probes().define(language::ProbeFamily::kUprobe, one, asker)) << one;
  }
  EXPECT_EQ(ask(Operation::kRefusedPlaces, "g\0two\0"s).reply.b, 10u);
}

TEST_F(ProbeRequestsTest, OthersAreNotTold) {
  EXPECT_EQ(ask(Operation::kRefusedPlaces, "user_events\0e\0"s, 0, kGuest).reply.error, EPERM);
  EXPECT_EQ(ask(Operation::kRefusedPlaces, "user_events\0none\0"s).reply.error, ENOENT);
  rules_.probes().observe(nullptr);
  EXPECT_EQ(ask(Operation::kRefusedPlaces, "user_events\0e\0"s).reply.error, ENOENT);
  EXPECT_EQ(ask(Operation::kPlacesRefused, std::string(12, '\0')).reply.error, 0);
}

}  // namespace
}  // namespace landtrace::host
