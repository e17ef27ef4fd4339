// The files that list all events.
#include "domain/status.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include "domain/domain.hpp"

namespace landtrace::domain {
namespace {

class StatusTest : public testing::Test {
 protected:
  Event& make(const std::string& text, std::uint16_t flags = 0) {
    return *domain_->events().register_event(text, flags, ::geteuid())->event;
  }
  Event& add(const std::string& system, const std::string& name, const std::string& fields, const std::string& flavour,
             const std::string& text = "") {
    return **domain_->events().add(system, *event::parse_declared(name, fields, flavour), text, ::geteuid());
  }
  std::string status() { return status_text(domain_->events()); }

  std::unique_ptr<Domain> domain_ = *Domain::create({.ring_bytes = 1 << 18});
};

TEST_F(StatusTest, ADomainWithoutEventsHasNone) {
  EXPECT_EQ(status(), "\nActive: 0\nBusy: 0\n");
  EXPECT_EQ(status_text(domain_->events(), abi::Version::k6_1), "\nActive: 0\nBusy: 0\nMax: 32768\n");
  EXPECT_EQ(dynamic_events_text(domain_->events()), "");
  EXPECT_EQ(synthetic_events_text(domain_->events()), "");
}

// By the buckets of the kernel's hash table, which were computed elsewhere from the definition of its hash.
TEST_F(StatusTest, EventsAreListedInTheOrderOfTheKernelsHashTable) {
  const std::string ordered[] = {"twelve_bytes",
                                 "response",
                                 "ab",
                                 "abcd",
                                 "a_name_that_takes_more_than_two_rounds",
                                 "a",
                                 "thirteen_byte",
                                 "e10",
                                 "e1",
                                 "e2",
                                 "abcde",
                                 "a_name_of_24_bytes_in_al",
                                 "request",
                                 "abc"};
  std::string expected;
  for (const std::string& name : ordered) expected += name + "\n";
  std::vector<std::string> names(std::begin(ordered), std::end(ordered));
  std::sort(names.begin(), names.end());
  for (const std::string& name : names) make(name);
  EXPECT_EQ(status(), expected + "\nActive: 14\nBusy: 0\n");
}

TEST_F(StatusTest, ABucketListsItsNewestFirst) {
  for (const char* const name : {"e16", "e1", "e89"}) make(name);
  EXPECT_EQ(status(), "e89\ne1\ne16\n\nActive: 3\nBusy: 0\n");
}

TEST_F(StatusTest, WhatIsListenedToIsBusy) {
  make("a"), make("abc");
  ASSERT_TRUE(domain_->listening().set(domain_->top(), {domain_->events().find(kSystem, "abc")}, true));
  EXPECT_EQ(status(), "a\nabc # Used by ftrace\n\nActive: 2\nBusy: 1\n");
}

TEST_F(StatusTest, EventsOfSeveralFormatsAreListedByTheNamesThatTheyShow) {
  make("m u32 x", kMultiFormat), make("m u64 x", kMultiFormat);
  EXPECT_EQ(status(), "m.1\nm.0\n\nActive: 2\nBusy: 0\n");
}

TEST_F(StatusTest, OnlyWhatProgramsRegisterHasAStatus) {
  make("a");
  add("synthetic", "wakeup", "u64 lat; s32 pid", "synthetic");
  EXPECT_EQ(status(), "a\n\nActive: 1\nBusy: 0\n");
  EXPECT_EQ(synthetic_events_text(domain_->events()), "wakeup\tu64 lat; s32 pid\n");
}

TEST_F(StatusTest, AllAreDynamicEventsInTheOrderOfTheirRegistration) {
  make("z u32 x; char[4] y"), make("empty");
  add("synthetic", "wakeup", "u64 lat", "synthetic");
  make("m u8 b", kMultiFormat);
  EXPECT_EQ(dynamic_events_text(domain_->events()),
            "u:z u32 x; char[4] y\nu:empty\ns:synthetic/wakeup\tu64 lat\nu:m u8 b\n");
  add("probes", "p", "x32 v", "probe user_events.z", "e:probes/p user_events/z v=$x");
  EXPECT_TRUE(dynamic_events_text(domain_->events()).ends_with("u:m u8 b\ne:probes/p user_events/z v=$x\n"));
}

}  // namespace
}  // namespace landtrace::domain
