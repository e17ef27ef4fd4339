// What the next owner of a domain takes over of its rules. Each owner is a Domain of this process; one that is killed
// goes without shut_down(). See also domain/restore_test.cc.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "domain/status.hpp"
#include "rules/rules.hpp"
#include "rules/synthetic_events.hpp"

namespace landtrace::rules {
namespace {

class RulesRestoreTest : public testing::Test {
 protected:
  void SetUp() override { next(); }
  void TearDown() override {
    end();
    for (const char* const end : {"", ".bits", ".bytes"}) std::filesystem::remove(path_ + end);
  }
  void end() {
    rules_.reset();
    domain_.reset();
  }
  // The owner is killed, and another one comes.
  void next() {
    end();
    domain_ = *Domain::create({.ring_bytes = 1 << 18});
    rules_ = std::make_unique<Rules>(*domain_);
    ASSERT_TRUE(domain_->succession().keep_journal(path_, domain::Successor::kMayCome));
  }

  std::string path_ = testing::TempDir() + "rules_restore_test-" + std::to_string(::getpid()) + ".state";
  std::unique_ptr<Domain> domain_;
  std::unique_ptr<Rules> rules_;
};

TEST_F(RulesRestoreTest, ProbesAreDefinedAgainAtAllOfTheirPlaces) {
  using language::ProbeFamily;
  const programs::Asker asker{{::geteuid(), ::getegid()}, 0};
  const auto define = [&](ProbeFamily family, const char* line) {
    return rules_->probes().define(family, line, asker);
  };
  ASSERT_TRUE(define(ProbeFamily::kUprobe, "p:g/e /bin/true:0x40(0x8) a=+0(%di):string"));
  ASSERT_TRUE(define(ProbeFamily::kUprobe, "p:g/e libc.so.6:malloc a=+0(%si):string"));
  ASSERT_TRUE(define(ProbeFamily::kKprobe, "r7:g/k lt_no_such_module:f r=$retval"));
  ASSERT_TRUE(define(ProbeFamily::kUprobe, "p:g/gone /bin/true:0x40(0x8)"));
  const auto remove = [&](Event& event) { return rules_->remove(event, ::geteuid()); };
  Event& gone = *domain_->events().find("g", "gone");
  ASSERT_TRUE(rules_->probes().remove_place(gone, gone.defined->definitions[0].serial, ::geteuid(), remove));
  const std::string before = domain::dynamic_events_text(domain_->events());
  EXPECT_EQ(std::count(before.begin(), before.end(), '\n'), 3);
  for (int i = 0; i < 2; ++i) {
    next();
    EXPECT_EQ(domain::dynamic_events_text(domain_->events()), before);
    EXPECT_EQ(find_probe(*domain_->events().find("g", "k"))->places[0].maxactive, 7u);
  }
  Event& event = *domain_->events().find("g", "e");
  ASSERT_TRUE(rules_->probes().remove_place(event, event.defined->definitions[0].serial, ::geteuid(), remove));
  const std::string after = domain::dynamic_events_text(domain_->events());
  next();
  EXPECT_EQ(domain::dynamic_events_text(domain_->events()), after);
}

TEST_F(RulesRestoreTest, SyntheticEventsAndEventProbesAreDefinedAgain) {
  // The one that it is attached to may get a later slot than the probe has.
  ASSERT_TRUE(domain_->registrar().register_native("e1 u32 n", domain::kPersist, ::geteuid()));
  const auto lat = language::split_synthetic("lat u64 lat; char name[8]; long[] st");
  ASSERT_TRUE(define_synthetic(domain_->events(), domain_->registrar(), *lat, ::geteuid()));
  ASSERT_TRUE(rules_->event_probes().define("e:g/p synthetic.lat l=$lat:u32 if lat > 5", ::geteuid()));
  ASSERT_TRUE(rules_->event_probes().define("e:g/q user_events.e1", ::geteuid()));
  const std::string before = domain::dynamic_events_text(domain_->events());
  for (int i = 0; i < 2; ++i) {
    next();
    Event* const probe = domain_->events().find("g", "p");
    ASSERT_NE(probe, nullptr);
    EXPECT_NE(find_event_probe(*probe)->program, 0u);
    std::string after = domain::dynamic_events_text(domain_->events());
    EXPECT_EQ(after.size(), before.size()) << after;
  }
  EXPECT_TRUE(domain_->events().remove(*domain_->events().find("g", "q"), ::geteuid()));
  next();
  EXPECT_EQ(domain_->events().find("g", "q"), nullptr);
}

}  // namespace
}  // namespace landtrace::rules
