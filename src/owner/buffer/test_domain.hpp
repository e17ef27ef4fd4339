// For tests: a domain whose events this process writes as a program does, and readers that check the numbers in them.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "buffer/buffer.hpp"
#include "buffer/lines.hpp"
#include "domain/proxy.hpp"
#include "rules/rules.hpp"

namespace landtrace::buffer {

inline std::uint32_t this_thread() { return static_cast<std::uint32_t>(::gettid()); }
inline const std::uint32_t kTid = this_thread();

class TestDomain {
 public:
  explicit TestDomain(std::uint64_t ring_bytes = 1 << 18)
      : domain_(*domain::Domain::create({.ring_bytes = ring_bytes})) {
    file_ = *domain_->registrar().open_file(::getuid());
    index_ =
        *domain_->registrar().register_for_file(file_, static_cast<std::uint32_t>(::getpid()), {::getuid(), ::getgid()},
                                                {.text = "job u32 number", .flags = 0, .bit = bit(), .size = 8});
    event_ = domain_->events().find("user_events", "job");
    EXPECT_TRUE(domain_->listening().set(domain_->top(), {event_}, true));
  }
  ~TestDomain() {
    std::ignore =
        domain_->enable_words().remove(static_cast<std::uint32_t>(::getpid()), {::getuid(), ::getgid()}, bit());
  }
  TestDomain(const TestDomain&) = delete;
  TestDomain& operator=(const TestDomain&) = delete;

  domain::Domain& operator*() { return *domain_; }
  domain::Domain* operator->() { return domain_.get(); }
  rules::Rules& rules() { return rules_; }
  // What the top instance records.
  std::shared_ptr<Contents> contents() {
    return std::make_shared<Contents>(domain_->users(), domain_->instances(), domain_->grace(), domain_->top().place,
                                      false);
  }
  [[nodiscard]] domain::Event& event() { return *event_; }
  [[nodiscard]] std::uint64_t raw_clock() const {
    return arch::read_raw_clock(static_cast<arch::RawClock>(domain_->control().segment().raw_clock));
  }
  // The words of a ring of the top instance, of the first user.
  ring::RingWords& ring_words(std::uint32_t ring) {
    const domain::RingPlace& place = domain_->top().place;
    std::byte* const data = domain_->users().all()[0].mapping.data();
    return *reinterpret_cast<ring::RingWords*>(data + place.rings + ring * place.geometry.stride());
  }

  // Writes an event as thread `tid`, whose number and `extra` bytes it carries.
  ssize_t write(domain::Proxy& proxy, std::uint32_t tid, std::uint32_t number, std::size_t extra = 0) {
    static const std::vector<char> kZeros(64 * 1024);
    const iovec vectors[] = {
        {&index_, sizeof index_}, {&number, sizeof number}, {const_cast<char*>(kZeros.data()), extra}};
    return proxy.write(file_, tid, ::getuid(), vectors);
  }
  void write_many(std::uint32_t tid, std::uint32_t first, std::uint32_t end, std::size_t extra = 0) {
    domain::Proxy proxy(*domain_);
    for (std::uint32_t number = first; number < end; ++number) {
      ASSERT_EQ(write(proxy, tid, number, extra), static_cast<ssize_t>(8 + extra));
    }
  }

 private:
  programs::EnableBit bit() { return {reinterpret_cast<std::uint64_t>(&enable_word_), 0}; }

  std::uint64_t enable_word_ = 0;
  std::unique_ptr<domain::Domain> domain_;
  rules::Rules rules_{*domain_};
  domain::FileId file_;
  std::uint32_t index_ = 0;
  domain::Event* event_ = nullptr;
};

// Threads that write numbers from 0 on as fast as they can, until they are stopped.
class BusyWriters {
 public:
  BusyWriters(TestDomain& domain, unsigned count) : written_(count), longest_(count), tids_(count) {
    for (unsigned i = 0; i < count; ++i) {
      threads_.emplace_back([this, &domain, i] {
        domain::Proxy proxy(*domain);
        tids_[i] = this_thread();
        while (!stop_) {
          const std::uint32_t number = written_[i].load(std::memory_order_relaxed);
          const std::uint64_t begun = domain.raw_clock();
          EXPECT_GT(domain.write(proxy, tids_[i], number, 24), 0);
          longest_[i] = std::max<std::uint64_t>(longest_[i], domain.raw_clock() - begun);
          written_[i].store(number + 1, std::memory_order_relaxed);
        }
      });
    }
  }
  ~BusyWriters() { stop(); }
  void stop() {
    stop_ = true;
    for (std::thread& thread : threads_) {
      if (thread.joinable()) thread.join();
    }
  }
  // Known once it has written.
  [[nodiscard]] std::uint32_t tid(unsigned writer) const { return tids_[writer]; }
  // Until they have written so many more.
  void wait_for(std::uint64_t more) const {
    for (const std::uint64_t until = written() + more; written() < until;) std::this_thread::yield();
  }
  // Exact after stop().
  [[nodiscard]] std::uint32_t written(unsigned writer) const { return written_[writer]; }
  [[nodiscard]] std::uint64_t written() const {
    std::uint64_t sum = 0;
    for (const auto& count : written_) sum += count;
    return sum;
  }

  // After stop(): whether one was in the middle of a write for so long that readers did not wait for it.
  [[nodiscard]] bool has_been_away() const {
    return std::ranges::any_of(longest_, [](std::uint64_t ticks) { return ticks >= RingCursor::kPatience; });
  }

 private:
  std::atomic<bool> stop_ = false;
  std::vector<std::atomic<std::uint32_t>> written_;
  std::vector<std::uint64_t> longest_;
  std::vector<std::uint32_t> tids_;
  std::vector<std::thread> threads_;
};

// What was read: that each thread's numbers only rise, how many they were, and how many are said to be missing.
class Seen {
 public:
  void take_all(Merge& merge) {
    while (const Merge::Source* const source = merge.next()) {
      lost_ += source->cursor->take_lost();
      const ring::RecordView& record = source->cursor->record();
      std::uint32_t number = 0;
      std::memcpy(&number, record.payload.data(), sizeof number);
      take(record.header.tid, number);
      source->cursor->pop();
    }
    for (const Merge::Source& source : merge.sources()) lost_ += source.cursor->take_lost();
  }
  void take(std::uint32_t tid, std::uint32_t number) {
    const auto [place, is_new] = next_.emplace(tid, 0);
    ASSERT_GE(number, place->second) << "thread " << tid << " went backwards";
    skipped_ += number - place->second;
    place->second = number + 1;
    ++events_;
  }
  [[nodiscard]] std::uint64_t events() const { return events_; }
  [[nodiscard]] std::uint64_t lost() const { return lost_; }
  // Numbers left out between those that were seen.
  [[nodiscard]] std::uint64_t skipped() const { return skipped_; }
  // The number that thread `tid` is to write next.
  [[nodiscard]] std::uint32_t next(std::uint32_t tid) const {
    const auto found = next_.find(tid);
    return found == next_.end() ? 0 : found->second;
  }

 private:
  std::map<std::uint32_t, std::uint32_t> next_;  // by thread
  std::uint64_t events_ = 0;
  std::uint64_t lost_ = 0;
  std::uint64_t skipped_ = 0;
};

}  // namespace landtrace::buffer
