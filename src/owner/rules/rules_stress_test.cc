// Filters and triggers that change while threads emit: each event is judged by one that was in force, whole.
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <random>
#include <thread>

#include "domain/domain.hpp"
#include "domain/test_users.hpp"
#include "rules/filters.hpp"
#include "domain/proxy.hpp"
#include "rules/rules.hpp"
#include "rules/triggers.hpp"
#include "ring/reader.hpp"

namespace landtrace::rules {
namespace {

using domain::FileId;
using domain::Proxy;

constexpr unsigned kThreads = 8;
constexpr std::uint64_t kChanges = 10'000;
constexpr std::uint64_t kAtATime = 100;  // what waits for a grace period when a thread is inside and does not run

struct Pair {
  std::uint64_t a;
  std::uint64_t b;
  std::uint64_t settled;  // the change that was complete before the event
  std::uint64_t thread;
} __attribute__((packed));

class DomainRulesTest : public testing::Test {
 protected:
  DomainRulesTest() : domain_(*Domain::create({.ring_bytes = 64u << 20})) {
    file_ = *domain_->registrar().open_file(kUser);
    pair_ = add("pair u64 a;u64 b;u64 settled;u64 thread");
    other_ = add("other u64 a;u64 b;u64 settled;u64 thread");
    EXPECT_TRUE(domain_->listening().set(top(), {pair_}, true));
  }

  Instance& top() { return domain_->top(); }
  Event* add(const char* text) {
    Event* const event = domain_->events().register_event(text, 0, kUser)->event;
    std::ignore = domain_->files().add_event(file_, *event);
    return event;
  }

  void emit(Proxy& proxy, const Pair& pair, std::uint32_t index = 0) {
    const iovec vectors[] = {{&index, sizeof index}, {const_cast<Pair*>(&pair), sizeof pair}};
    proxy.write(file_, 1 + static_cast<std::uint32_t>(pair.thread), kUser, vectors);
  }

  template <typename Visit>
  void visit_recorded(Visit visit) {
    for (const User& user : domain_->users().all()) {
      for (std::uint32_t i = 0; i < domain_->instances().rings_per_set(); ++i) {
        const domain::RingPlace& place = top().place;
        ring::Reader reader(user.mapping.data() + place.rings + i * place.geometry.stride(), place.geometry);
        for (const auto* batch = &reader.read(); !batch->records.empty(); batch = &reader.read()) {
          ASSERT_EQ(batch->lost_before, 0u);
          for (const ring::RecordView& record : batch->records) {
            Pair pair{};
            std::memcpy(&pair, record.payload.data(), sizeof pair);
            visit(record.header.event, pair);
          }
        }
      }
    }
  }
  std::uint64_t recorded() {
    std::uint64_t count = 0;
    visit_recorded([&](std::uint32_t, const Pair&) { ++count; });
    return count;
  }

  void change_filter(std::uint64_t k) {
    const auto access = domain_->enter();
    const std::string expression = "a == " + std::to_string(k) + " && b == " + std::to_string(k);
    begun_ = k;
    ASSERT_TRUE(rules_.filters().set(top(), *pair_, expression));
    settled_ = k;
    domain_->maintain();
  }
  // Now and then, so that all threads get to emit between changes.
  static void let_threads_run(std::uint64_t change) {
    if (change % kAtATime == 0) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  void apply(const std::string& command) {
    const auto access = domain_->enter();
    const auto applied = rules_.triggers().apply(top(), *pair_, command);
    ASSERT_TRUE(applied) << command << ": " << applied.error().error.message;
    domain_->maintain();
  }
  // When nobody is inside any more.
  std::uint64_t bytes_in_use() {
    const auto access = domain_->enter();
    EXPECT_TRUE(domain_->grace().drain(std::chrono::seconds(60)));
    return domain_->control().bytes_in_use();
  }
  // The number of a cell that is free.
  std::uint32_t free_cell() {
    const std::uint32_t cell = *domain_->cells().take_counter();
    domain_->cells().give_back(cell);
    return cell;
  }

  std::unique_ptr<Domain> domain_;
  Rules rules_{*domain_};
  FileId file_;
  Event* pair_ = nullptr;
  Event* other_ = nullptr;
  std::atomic<std::uint64_t> begun_ = 0;
  std::atomic<std::uint64_t> settled_ = 0;
};

// Threads that run `body(proxy, thread)` again and again until they are to stop.
class Crowd {
 public:
  template <typename Body>
  Crowd(Domain& domain, Body body) {
    for (unsigned i = 0; i < kThreads; ++i) {
      threads_.emplace_back([this, &domain, body, i] {
        Proxy proxy(domain);
        ++running_;
        while (!stop_.load(std::memory_order_relaxed)) body(proxy, i);
      });
    }
    while (running_ < kThreads) std::this_thread::yield();
  }
  ~Crowd() { stop(); }
  void stop() {
    stop_ = true;
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }

 private:
  std::atomic<bool> stop_ = false;
  std::atomic<unsigned> running_ = 0;
  std::vector<std::thread> threads_;
};

// How many of a thread's events a filter must have let through, and how many one may have.
struct Judged {
  std::atomic<std::uint64_t> certain = 0;
  std::atomic<std::uint64_t> possible = 0;
};

TEST_F(DomainRulesTest, AFilterThatChangesIsNeverMetHalfAndNeverLate) {
  const std::uint64_t before = bytes_in_use();
  change_filter(1);
  Judged judged[kThreads];
  Crowd crowd(*domain_, [&](Proxy& proxy, unsigned thread) {
    static thread_local std::minstd_rand random(thread + 1);
    const std::uint64_t settled = settled_;
    const Pair pair{settled + random() % 12, settled + random() % 12, settled, thread};
    emit(proxy, pair);
    const std::uint64_t begun = begun_;
    if (pair.a != pair.b || pair.a > begun) return;
    ++judged[thread].possible;
    if (settled == begun) ++judged[thread].certain;
  });
  for (std::uint64_t k = 2; k <= kChanges; ++k) {
    change_filter(k);
    let_threads_run(k);
  }
  crowd.stop();
  std::uint64_t seen[kThreads] = {};
  visit_recorded([&](std::uint32_t, const Pair& pair) {
    ASSERT_EQ(pair.a, pair.b);        // half of one filter and half of another
    ASSERT_GE(pair.a, pair.settled);  // one that had been replaced before the event
    ++seen[pair.thread];
  });
  for (unsigned i = 0; i < kThreads; ++i) {
    EXPECT_GE(seen[i], judged[i].certain);
    EXPECT_LE(seen[i], judged[i].possible);
    EXPECT_GT(judged[i].possible, 0u);
  }
  EXPECT_GT(recorded(), 0u);
  rules_.filters().clear(top(), *pair_);
  EXPECT_EQ(bytes_in_use(), before);
}

// Whatever is half of one trigger's filter and half of the next one's stops the trace.
TEST_F(DomainRulesTest, TriggersThatComeAndGoFireForNoMixtureAndLeaveNothingBehind) {
  apply("traceoff:3 if a == 1 && b == 0");
  apply("!traceoff");
  const std::uint64_t before = bytes_in_use();
  const std::uint32_t cell = free_cell();
  std::atomic<std::uint64_t> now = 1;
  std::atomic<std::uint64_t> emitted = 0;
  constexpr std::uint64_t kRoom = 1'000'000;  // even one CPU's ring has room for these
  Crowd crowd(*domain_, [&](Proxy& proxy, unsigned thread) {
    static thread_local std::minstd_rand random(thread + 1);
    const std::uint64_t k = now.load(std::memory_order_relaxed) + random() % 3;
    // The other is not enabled, but for a moment now and then.
    if (random() % 256 != 0 || emitted >= kRoom) return emit(proxy, {k, k, 0, thread}, 1);
    emit(proxy, {k, k, 0, thread});
    ++emitted;
  });
  for (std::uint64_t k = 1; k <= kChanges / 4; ++k) {  // with four changes each
    now = k;
    if (k % kAtATime == 0) bytes_in_use();
    let_threads_run(k);
    const std::string filter = " if a == " + std::to_string(k + 1) + " && b == " + std::to_string(k);
    apply("traceoff:3" + filter);
    apply("enable_event:user_events:other:5" + filter);
    apply(k % 2 == 0 ? "!traceoff" : "!enable_event:user_events:other");
    apply(k % 2 != 0 ? "!traceoff" : "!enable_event:user_events:other");
  }
  crowd.stop();
  EXPECT_TRUE(domain_->instances().is_tracing(top()));
  EXPECT_EQ(recorded(), emitted);
  visit_recorded([&](std::uint32_t event, const Pair&) { ASSERT_EQ(event, pair_->slot); });
  EXPECT_FALSE(other_->listeners.any());
  EXPECT_EQ(bytes_in_use(), before);
  EXPECT_LE(free_cell(), cell + 8 * kAtATime);
}

TEST_F(DomainRulesTest, TraceoffHoldsForAnotherThreadsNextEvent) {
  apply("traceoff if a == 0");
  constexpr std::uint64_t kRounds = 500;
  std::atomic<std::uint64_t> off = 0;
  std::atomic<std::uint64_t> done = 0;
  std::thread other([&] {
    Proxy proxy(*domain_);
    for (std::uint64_t round = 1; round <= kRounds; ++round) {
      while (off < round) std::this_thread::yield();
      emit(proxy, {1, round, 0, 1});
      done = round;
    }
  });
  Proxy proxy(*domain_);
  for (std::uint64_t round = 1; round <= kRounds; ++round) {
    domain_->instances().set_tracing(top(), true);
    emit(proxy, {2, round, 0, 0});
    emit(proxy, {0, round, 0, 0});
    off = round;
    while (done < round) std::this_thread::yield();
  }
  other.join();
  std::uint64_t counts[3] = {};
  visit_recorded([&](std::uint32_t, const Pair& pair) { ++counts[pair.a]; });
  EXPECT_EQ(counts[0], kRounds);  // a trace ends with the event that ended it
  EXPECT_EQ(counts[1], 0u);
  EXPECT_EQ(counts[2], kRounds);
}

}  // namespace
}  // namespace landtrace::rules
