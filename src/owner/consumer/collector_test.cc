// A domain, its socket and its producers, all in this process; users are made by hand.
#include "consumer/collector.hpp"

#include <gtest/gtest.h>
#include <sys/syscall.h>

#include <atomic>
#include <cstring>
#include <functional>
#include <map>
#include <random>
#include <thread>

#include "arch/rseq.hpp"
#include "buffer/test_one_cpu.hpp"
#include "host/server.hpp"
#include "plan/test_emit.hpp"
#include "plan/thread_slots.hpp"

namespace landtrace::consumer {
namespace {

class Numbers : public Sink {
 public:
  void type(const output::EventType& type) override { types.push_back(type.name); }
  void task(std::int32_t tid, const output::Task& task) override { tasks[tid] = task.comm; }
  void event(const output::Record& record, const output::EventType& type) override {
    if (in_order) {
      EXPECT_GE(record.time_ns, last_time[record.cpu]);
    }
    last_time[record.cpu] = record.time_ns;
    told_before_first.try_emplace(type.name, told);
    std::uint64_t all = 0;
    for (const auto& [cpu, count] : waiting) all += count;
    waiting_before_first.try_emplace(type.name, all);
    ++events[type.name];
  }
  void lost(std::uint32_t, std::uint64_t count) override { missed += count; }
  void outstanding(std::uint32_t cpu, Outstanding now) override {
    told += now.missing - std::exchange(told_by_cpu[cpu], now.missing);
    waiting[cpu] = now.waiting;
  }

  bool in_order = true;
  std::vector<std::string> types;
  std::map<std::int32_t, std::string> tasks;
  std::map<std::string, std::uint64_t> events;
  std::map<std::uint32_t, std::uint64_t> last_time;
  std::uint64_t missed = 0;
  std::uint64_t told = 0;                          // to be missing
  std::map<std::uint32_t, std::uint64_t> waiting;  // at the start of the last round
  std::map<std::uint32_t, std::uint64_t> told_by_cpu;
  std::map<std::string, std::uint64_t> told_before_first;
  std::map<std::string, std::uint64_t> waiting_before_first;
};

// Numbers in the order in which they were emitted, but for what is told to be missing.
class Sequence : public Sink {
 public:
  void type(const output::EventType&) override {}
  void task(std::int32_t, const output::Task&) override {}
  void event(const output::Record& record, const output::EventType&) override {
    std::uint32_t number = 0;
    std::memcpy(&number, record.payload.data(), sizeof number);
    ASSERT_EQ(number, next);
    ++next;
    if (meanwhile) std::exchange(meanwhile, {})();
  }
  void lost(std::uint32_t, std::uint64_t count) override { next += static_cast<std::uint32_t>(count); }

  std::uint32_t next = 0;
  std::function<void()> meanwhile;  // at the next event
};

class CollectorTest : public ::testing::Test {
 protected:
  CollectorTest()
      : domain_(*domain::Domain::create({})),
        server_(
            *host::Server::create(*domain_, rules_, ::testing::TempDir() + "collector" + std::to_string(::getpid()))),
        thread_([this] { server_->run(); }) {}
  ~CollectorTest() override { end_domain(); }
  void end_domain() {
    if (!server_) return;
    server_->stop();
    thread_.join();
    server_.reset();
  }

  void open(Session::Options options, const std::string& pattern = "user_events:*") {
    view_.emplace(*DomainView::connect(server_->path()));
    session_.emplace(*Session::open(*view_, options));
    collector_.emplace(*view_, *session_, sink_);
    ASSERT_TRUE(session_->listen(pattern));
  }

  std::uint32_t add_event(const std::string& declaration) {
    const auto access = domain_->enter();
    return *domain_->registrar().register_native(declaration, domain::kPersist, 0);
  }

  // The calling thread as a producer of the user `uid`.
  struct Producer {
    std::uint32_t user;
    plan::View view;
    plan::Thread thread;
    bool emit(std::uint32_t slot, std::uint32_t number) const {
      const ring::Segment segment{&number, sizeof number};
      return plan::emit(view, thread, slot, &segment, 1, sizeof number);
    }
  };
  Producer producer(std::uint32_t uid, bool portable = false) {
    Producer made;
    {
      const auto access = domain_->enter();
      made.user = *domain_->users().find_or_create(uid);
      domain_->control().segment().user_count = static_cast<std::uint32_t>(domain_->users().all().size());
      made.view = plan::make_view(&domain_->control().segment(), &domain_->users().all()[made.user].data(), made.user);
    }
    const auto tid = static_cast<std::uint32_t>(::syscall(SYS_gettid));
    const auto clock = static_cast<arch::RawClock>(made.view.control->raw_clock);
    const bool restartable = !portable && clock == arch::RawClock::kTsc && arch::rseq_usable();
    made.thread = {plan::claim_thread_slot(*made.view.data, static_cast<std::uint32_t>(::getpid()), tid),
                   {restartable ? arch::rseq_area() : nullptr, clock},
                   tid,
                   tid};
    return made;
  }

  void drain_all() {
    for (int i = 0; i < 1000; ++i) {
      const auto more = collector_->drain();
      ASSERT_TRUE(more);
      if (!*more) return;
    }
  }

  std::unique_ptr<domain::Domain> domain_;
  rules::Rules rules_{*domain_};
  std::unique_ptr<host::Server> server_;
  std::thread thread_;
  Numbers sink_;
  std::optional<DomainView> view_;
  std::optional<Session> session_;
  std::optional<Collector> collector_;
};

TEST_F(CollectorTest, FirstEventOfALaterRegistrationIsCaught) {
  open({});
  const std::uint32_t slot = add_event("job u32 id");
  const Producer one = producer(0);
  EXPECT_TRUE(one.emit(slot, 1));
  drain_all();
  EXPECT_EQ(sink_.events["job"], 1u);
  EXPECT_EQ(sink_.types, std::vector<std::string>{"job"});
  EXPECT_EQ(sink_.tasks.size(), 1u);
}

TEST_F(CollectorTest, OnlyWhatThePatternSays) {
  open({}, "user_events:wanted*");
  const Producer one = producer(0);
  EXPECT_FALSE(one.emit(add_event("other u32 id"), 1));
  EXPECT_TRUE(one.emit(add_event("wanted_1 u32 id"), 1));
  ASSERT_TRUE(collector_->finish());
  EXPECT_EQ(sink_.events.size(), 1u);
}

TEST_F(CollectorTest, UsersThatComeLaterAreRead) {
  open({});
  const std::uint32_t slot = add_event("job u32 id");
  for (std::uint32_t uid = 1000; uid < 1010; ++uid) {
    producer(uid).emit(slot, uid);
    drain_all();
    ASSERT_EQ(sink_.events["job"], uid - 999);
  }
}

TEST_F(CollectorTest, PortableWritersAreRead) {
  open({});
  const std::uint32_t slot = add_event("job u32 id");
  const Producer one = producer(0, true);
  for (std::uint32_t i = 0; i < 1000; ++i) one.emit(slot, i);
  ASSERT_TRUE(collector_->finish());
  EXPECT_EQ(sink_.events["job"], 1000u);
  EXPECT_LT(sink_.last_time.rbegin()->first, view_->cpus());
}

// Each user has a ring of its own for the CPU, and all that is in one is older than what is in the next. A ring takes
// several reads.
TEST_F(CollectorTest, TheEndReadsAllRingsOfACpu) {
  const buffer::OnOneCpu here;
  constexpr std::uint32_t kUsers = 20;
  constexpr std::uint32_t kEvents = 900;
  const std::string payload(1000, 'x');
  const std::uint32_t slot = add_event("e1 u32 n");
  open({.ring_bytes = 1 << 20});
  for (std::uint32_t user = 0; user < kUsers; ++user) {
    const Producer one = producer(5000 + user);
    const ring::Segment segment{payload.data(), payload.size()};
    for (std::uint32_t n = 0; n < kEvents; ++n) {
      ASSERT_TRUE(plan::emit(one.view, one.thread, slot, &segment, 1, static_cast<std::uint32_t>(payload.size())));
    }
  }
  ASSERT_TRUE(collector_->finish());
  EXPECT_EQ(sink_.events["e1"], kUsers * kEvents);
  EXPECT_EQ(sink_.missed, 0u);
}

TEST_F(CollectorTest, EmittedIsReadPlusLost) {
  for (const bool overwrite : {false, true}) {
    sink_.missed = 0;
    sink_.events.clear();
    open({.ring_bytes = 1, .overwrite = overwrite});
    const std::uint32_t slot = add_event("job u32 id");
    constexpr std::uint32_t kEach = 200'000;
    std::vector<std::thread> producers;
    for (const std::uint32_t uid : {0u, 0u, 1000u}) {
      producers.emplace_back([&, uid] {
        const Producer one = producer(uid);
        for (std::uint32_t i = 0; i < kEach; ++i) one.emit(slot, i);
      });
    }
    for (int i = 0; i < 20; ++i) ASSERT_TRUE(collector_->drain());
    for (std::thread& thread : producers) thread.join();
    ASSERT_TRUE(collector_->finish());
    const Totals totals = collector_->totals();
    EXPECT_EQ(totals.events + totals.overwritten + totals.discarded, 3 * kEach) << overwrite;
    EXPECT_EQ(totals.events, sink_.events["job"]);
    EXPECT_EQ(totals.overwritten + totals.discarded, sink_.missed);
    EXPECT_EQ(totals.waiting, 0u);
    EXPECT_EQ(totals.corrupt, 0u);
    EXPECT_EQ(totals.overwritten == 0, !overwrite);
  }
}

TEST_F(CollectorTest, ACopyLeavesWhatItGives) {
  open({.overwrite = true});
  const std::uint32_t slot = add_event("job u32 id");
  const Producer one = producer(0);
  for (std::uint32_t count = 10; count <= 30; count += 10) {
    for (std::uint32_t i = 0; i < 10; ++i) ASSERT_TRUE(one.emit(slot, i));
    Numbers copied;
    const auto moment = collector_->copy_to(copied);
    ASSERT_TRUE(moment);
    EXPECT_EQ(copied.events["job"], count);
    EXPECT_EQ(copied.missed, 0u);
    EXPECT_EQ(copied.tasks.size(), 1u);
    for (const auto& [cpu, time] : copied.last_time) EXPECT_LE(time, *moment);
  }
  EXPECT_TRUE(sink_.events.empty()) << "the copies are not what the collector is for";
  ASSERT_TRUE(collector_->finish());
  EXPECT_EQ(sink_.events["job"], 30u);
}

// Of all that was emitted before, the newest, and how many are missing; whoever emits meanwhile is not held up.
TEST_F(CollectorTest, ACopyWhileProgramsEmitHasAllOrSaysWhatIsMissing) {
  open({.ring_bytes = 1, .overwrite = true});
  const std::uint32_t slot = add_event("job u32 id");
  std::atomic<std::uint64_t> emitted = 0;  // relaxed: figures, between which the copy's lies
  std::atomic<bool> is_over = false;       // relaxed: it is seen sooner or later
  std::vector<std::thread> producers;
  for (const std::uint32_t uid : {0u, 0u, 1000u}) {
    producers.emplace_back([&, uid] {
      const Producer one = producer(uid);
      for (std::uint32_t i = 0; !is_over.load(std::memory_order_relaxed); ++i) {
        one.emit(slot, i);
        emitted.fetch_add(1, std::memory_order_relaxed);
      }
    });
  }
  std::uint64_t before = 0, events = 0;
  for (int round = 0; round < 20; ++round) {
    while (emitted.load(std::memory_order_relaxed) < before + 1000) std::this_thread::yield();
    before = emitted.load(std::memory_order_relaxed);
    Numbers copied;
    const auto moment = collector_->copy_to(copied);
    const std::uint64_t after = emitted.load(std::memory_order_relaxed) + producers.size();
    ASSERT_TRUE(moment);
    EXPECT_GE(copied.events["job"] + copied.missed, before) << round;
    EXPECT_LE(copied.events["job"] + copied.missed, after) << round;
    events += copied.events["job"];  // none, where all was overwritten before this thread had its turn
    for (const auto& [cpu, time] : copied.last_time) EXPECT_LE(time, *moment);
  }
  EXPECT_GT(events, 0u);
  is_over.store(true, std::memory_order_relaxed);
  for (std::thread& thread : producers) thread.join();
  ASSERT_TRUE(collector_->finish());
  EXPECT_EQ(collector_->totals().corrupt, 0u);
}

// The ring is full until the round is over, and full again when it is looked at next.
TEST_F(CollectorTest, WhatIsDiscardedDuringARoundIsMissingWhereTheRingWasFull) {
  const buffer::OnOneCpu here;
  const std::uint32_t slot = add_event("job u32 id");
  open({.ring_bytes = 1});
  Sequence sequence;
  collector_.emplace(*view_, *session_, sequence);
  const Producer one = producer(0);
  std::uint32_t number = 0;
  const std::uint64_t more_than_fit = session_->geometry().size() / ring::record_length(sizeof number) + 10;
  for (int round = 0; round < 4; ++round) {
    for (std::uint64_t i = 0; i < more_than_fit; ++i) one.emit(slot, number++);
    sequence.meanwhile = [&] {
      for (int i = 0; i < 7; ++i) one.emit(slot, number++);
    };
    ASSERT_TRUE(collector_->drain());
    ASSERT_FALSE(sequence.meanwhile);
  }
  ASSERT_TRUE(collector_->finish());
  EXPECT_EQ(sequence.next, number);
  collector_.reset();
}

TEST_F(CollectorTest, WhatIsMissingIsToldBeforeEventsOfOtherRings) {
  const buffer::OnOneCpu here;
  open({.ring_bytes = 1});
  const std::uint32_t flood = add_event("flood u32 id");
  const std::uint32_t after = add_event("after u32 id");
  const Producer first = producer(0);
  std::uint64_t emitted = 0;
  for (; session_->geometry().size() > emitted * 4; ++emitted) first.emit(flood, 1);
  producer(1000).emit(after, 1);  // another user's ring
  drain_all();
  ASSERT_EQ(sink_.events["after"], 1u);
  EXPECT_GT(sink_.told, 0u);
  EXPECT_EQ(sink_.told_before_first["after"], sink_.told);
  EXPECT_EQ(sink_.told_before_first["flood"], sink_.told);
  EXPECT_EQ(sink_.told + sink_.events["flood"], emitted);
  EXPECT_EQ(sink_.waiting_before_first["flood"], sink_.events["flood"] + 1) << "all that the rings held";
  EXPECT_EQ(sink_.waiting_before_first["after"], 1u) << "it comes last";
}

TEST_F(CollectorTest, NothingIsListenedToAfterTheEnd) {
  open({});
  const std::uint32_t slot = add_event("job u32 id");
  const Producer one = producer(0);
  EXPECT_TRUE(one.emit(slot, 1));
  ASSERT_TRUE(collector_->finish());
  EXPECT_FALSE(one.emit(slot, 2));
}

TEST_F(CollectorTest, OwnerThatIsGoneLeavesWhatItsRingsHold) {
  open({});
  const std::uint32_t slot = add_event("job u32 id");
  const Producer one = producer(0);
  drain_all();
  for (std::uint32_t i = 0; i < 10; ++i) one.emit(slot, i);
  end_domain();
  const auto finished = collector_->finish();
  ASSERT_FALSE(finished);
  EXPECT_EQ(finished.error().code, EPIPE);
  EXPECT_EQ(sink_.events["job"], 10u);
}

TEST_F(CollectorTest, GarbageCostsItsOwnUserOnly) {
  sink_.in_order = false;
  open({.ring_bytes = 1});
  const std::uint32_t slot = add_event("job u32 id");
  const Producer good = producer(0);
  const Producer bad = producer(1000);
  drain_all();
  std::mt19937_64 random(1);
  for (int round = 0; round < 200; ++round) {
    for (std::uint32_t ring = 0; ring < view_->cpus() + view_->claimed(); ++ring) {
      auto* const words =
          reinterpret_cast<std::uint64_t*>(const_cast<std::byte*>(session_->ring(view_->users()[bad.user], ring)));
      auto* const writable = reinterpret_cast<std::uint64_t*>(
          reinterpret_cast<std::byte*>(bad.view.data) +
          (reinterpret_cast<const std::byte*>(words) - view_->users()[bad.user].mapping.data()));
      const std::uint64_t mask = ~0ull >> (random() % 64);
      for (std::size_t i = 0; i < 2000; ++i) writable[i] = random() & mask;
    }
    for (std::uint32_t i = 0; i < 10; ++i) EXPECT_TRUE(good.emit(slot, i));
    ASSERT_TRUE(collector_->drain());
  }
  ASSERT_TRUE(collector_->finish());
  EXPECT_GE(sink_.events["job"], 2000u);
  EXPECT_GT(collector_->totals().corrupt, 0u);
}

}  // namespace
}  // namespace landtrace::consumer
