// Histograms that come, are cleared and go while threads emit.
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <thread>

#include "domain/test_users.hpp"
#include "rules/histograms/rows.hpp"
#include "domain/proxy.hpp"
#include "rules/rules.hpp"
#include "rules/triggers.hpp"

namespace landtrace::rules {
namespace {

using domain::FileId;
using domain::Proxy;

constexpr unsigned kCounting = 4;
constexpr unsigned kStressRounds = 300;

class NoNames : public AddressNames {
 public:
  std::string symbol(std::uint64_t) override { return "?"; }
  std::string symbol_with_offset(std::uint64_t) override { return "?"; }
  std::string frame(std::uint64_t, bool) override { return "?"; }
};

class HistogramsStress : public testing::Test {
 protected:
  HistogramsStress() : domain_(*Domain::create({})), file_(*domain_->registrar().open_file(kUser)) {
    for (const char* const text : {"start u64 id;u64 v", "done u64 id;u64 v"}) {
      events_.push_back(domain_->events().register_event(text, 0, kUser)->event);
      std::ignore = domain_->files().add_event(file_, *events_.back());
    }
  }

  void apply(std::size_t event, const std::string& command) {
    const auto access = domain_->enter();
    language::HistComplaints complaints;
    const auto applied = rules_.triggers().apply(domain_->top(), *events_[event], command, &complaints);
    ASSERT_TRUE(applied) << command << ": " << applied.error().error.message;
    domain_->maintain();
  }
  std::string shown(std::size_t event) {
    const auto access = domain_->enter();
    NoNames names;
    return rules_.histograms().text(domain_->top(), *events_[event], names);
  }
  std::uint64_t bytes_in_use() {
    const auto access = domain_->enter();
    EXPECT_TRUE(domain_->grace().drain(std::chrono::seconds(60)));
    return domain_->control().bytes_in_use();
  }

  void emit_until_stopped(unsigned thread) {
    Proxy proxy(*domain_);
    for (std::uint64_t i = 0; !stop_; ++i) {
      for (std::uint32_t index = 0; index < events_.size(); ++index) {
        const std::uint64_t payload[] = {i % 100, 1};
        const iovec vectors[] = {{&index, sizeof index}, {const_cast<std::uint64_t*>(payload), sizeof payload}};
        proxy.write(file_, 1 + thread, kUser, vectors);
      }
    }
  }

  std::unique_ptr<Domain> domain_;
  Rules rules_{*domain_};
  FileId file_;
  std::vector<Event*> events_;
  std::atomic<bool> stop_ = false;
};

// "hitcount:  N  v:  M": each event adds 1 to both.
void expect_equal_sums(const std::string& text) {
  std::size_t at = 0;
  while ((at = text.find("} hitcount:", at)) != std::string::npos) {
    std::uint64_t hits = 0;
    std::uint64_t sum = 0;
    ASSERT_EQ(std::sscanf(text.c_str() + at, "} hitcount: %lu v: %lu", &hits, &sum), 2);
    EXPECT_EQ(hits, sum);
    ++at;
  }
}

TEST_F(HistogramsStress, WhatIsTakenAwayIsGivenBackWhole) {
  const std::uint64_t before = bytes_in_use();
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < kCounting; ++i) threads.emplace_back([this, i] { emit_until_stopped(i); });
  for (unsigned round = 0; round < kStressRounds; ++round) {
    apply(0, "hist:keys=id:vals=v:ts0=v");
    apply(1, "hist:keys=id:d=$ts0+v:onmax($d).save(id)");
    apply(0, "hist:keys=id.log2:vals=v if id > 10");
    apply(0, "hist:keys=id.log2:vals=v:pause if id > 10");
    apply(1, "hist:keys=id:vals=v:name=shared");
    apply(0, "hist:keys=id:vals=v:name=shared");
    apply(0, "hist:keys=id:vals=v:name=shared:clear");
    shown(0);
    shown(1);
    apply(1, "!hist:keys=id:vals=v:name=shared");
    apply(0, "!hist:keys=id:vals=v:name=shared");
    apply(1, "!hist:keys=id:d=$ts0+v:onmax($d).save(id)");
    apply(0, "!hist:keys=id:vals=v:ts0=v");
    apply(0, "!hist:keys=id.log2:vals=v if id > 10");
    if (HasFatalFailure()) break;
  }
  apply(0, "hist:keys=id:vals=v");
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  stop_ = true;
  for (std::thread& thread : threads) thread.join();
  expect_equal_sums(shown(0));
  apply(0, "!hist:keys=id:vals=v");
  EXPECT_EQ(bytes_in_use(), before);
  EXPECT_FALSE(events_[0]->listeners.any() || events_[1]->listeners.any());
}

}  // namespace
}  // namespace landtrace::rules
