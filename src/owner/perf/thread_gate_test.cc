// Whom a session leaves out, as its domain knows it.
#include "perf/thread_gate.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "arch/clock.hpp"
#include "base/test_thread.hpp"
#include "host/server.hpp"
#include "plan/thread_slots.hpp"

namespace landtrace::perf {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::uint64_t kSecond_ns = 1'000'000'000;

class ThreadGateTest : public testing::Test {
 protected:
  ThreadGateTest()
      : server_(*host::Server::create(*domain_, rules_, testing::TempDir() + "gate" + std::to_string(::getpid()))),
        serving_([this] { server_->run(); }),
        view_(*consumer::DomainView::connect(server_->path())),
        session_(*consumer::Session::open(view_, {.ring_bytes = 1 << 18})) {}
  ~ThreadGateTest() override {
    server_->stop();
    serving_.join();
  }

  // As if the thread had emitted an event.
  void emit_as(std::uint32_t tid) {
    const auto access = domain_->enter();
    const auto user = *domain_->users().find_or_create(0);
    domain_->control().segment().user_count = static_cast<std::uint32_t>(domain_->users().all().size());
    plan::claim_thread_slot(domain_->users().all()[user].data(), static_cast<std::uint32_t>(::getpid()), tid);
  }
  // What the session's plans say.
  std::vector<std::uint32_t> left_out() {
    const auto access = domain_->enter();
    for (const domain::Instance* const instance : domain_->instances().all()) {
      if (instance->is_recorder()) return instance->threads.never.value_or(std::vector<std::uint32_t>{});
    }
    return {0};
  }
  static bool nobody(std::uint32_t) { return false; }

  std::unique_ptr<domain::Domain> domain_ = *domain::Domain::create({});
  rules::Rules rules_{*domain_};
  std::unique_ptr<host::Server> server_;
  std::thread serving_;
  consumer::DomainView view_;
  consumer::Session session_;
  std::uint32_t meant_ = 0;
  ThreadGate::IsMeant is_meant_ = [this](std::uint32_t tid, std::uint32_t) { return tid == meant_; };
  ThreadGate gate_{view_, session_, is_meant_};
};

TEST_F(ThreadGateTest, WhoHasEmittedBeforeAndIsNotMeantIsLeftOutAtOnce) {
  const WaitingThread one, meant;
  emit_as(one.tid());
  emit_as(meant.tid());
  meant_ = meant.tid();
  gate_.let_in(nobody);
  EXPECT_THAT(left_out(), ElementsAre(one.tid()));
}

TEST_F(ThreadGateTest, WhoIsMeantByALaterEventIsLetInAgain) {
  const WaitingThread one, other;
  emit_as(one.tid());
  emit_as(other.tid());
  gate_.let_in(nobody);
  EXPECT_EQ(left_out().size(), 2u);
  gate_.let_in([&](std::uint32_t tid) { return tid == one.tid(); });
  EXPECT_THAT(left_out(), ElementsAre(other.tid()));
  gate_.let_in([](std::uint32_t) { return true; });
  EXPECT_THAT(left_out(), IsEmpty());
}

TEST_F(ThreadGateTest, WhoEmitsWhatNobodyTakesIsLeftOutSoon) {
  const WaitingThread one;
  const std::uint64_t now = arch::monotonic_ns();
  gate_.renew(now);
  gate_.note_unwanted(one.tid(), 0);
  gate_.renew(now);
  EXPECT_THAT(left_out(), ElementsAre(one.tid()));
  const WaitingThread second;
  gate_.note_unwanted(second.tid(), 0);
  gate_.renew(now);
  EXPECT_EQ(left_out().size(), 1u) << "not a request for each";
  gate_.renew(now + kSecond_ns);
  EXPECT_EQ(left_out().size(), 2u);
}

TEST_F(ThreadGateTest, WhoIsMeantIsNotLeftOutBecauseNobodyTookAnEvent) {
  const WaitingThread one;
  meant_ = one.tid();
  gate_.note_unwanted(one.tid(), 0);
  gate_.renew(arch::monotonic_ns() + kSecond_ns);
  EXPECT_THAT(left_out(), IsEmpty());
}

TEST_F(ThreadGateTest, AThreadThatHasEndedIsForgotten) {
  WaitingThread one;
  const WaitingThread two;
  const std::uint64_t now = arch::monotonic_ns();
  gate_.note_unwanted(one.tid(), 0);
  gate_.note_unwanted(two.tid(), 0);
  gate_.renew(now);
  EXPECT_EQ(left_out().size(), 2u);
  one.end();
  gate_.renew(now + kSecond_ns);
  EXPECT_THAT(left_out(), ElementsAre(two.tid()));
  gate_.note_unwanted(one.tid(), 0);
  gate_.note_unwanted(0, 0);
  gate_.renew(now + 2 * kSecond_ns);
  EXPECT_THAT(left_out(), ElementsAre(two.tid()));
}

}  // namespace
}  // namespace landtrace::perf
