// Filters and triggers that a recording gives to events, before and after they register.
#include "domain/test_users.hpp"
#include "rules/selection.hpp"
#include "rules/rules.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>

#include "domain/proxy.hpp"
#include "rules/synthetic_events.hpp"
#include "rules/triggers.hpp"
#include "ring/reader.hpp"

namespace landtrace::rules {
namespace {

using domain::FileId;
using domain::Proxy;

using testing::ElementsAre;
using testing::IsEmpty;

class SelectionTest : public testing::Test {
 protected:
  SelectionTest() : domain_(*Domain::create({.ring_bytes = 1 << 18})), proxy_(*domain_) {
    instance_ = *domain_->instances().create("session", {18}, false);
    file_ = *domain_->registrar().open_file(kUser);
  }

  void select(const std::string& pattern, std::string filter, std::vector<std::string> triggers = {}) {
    const auto selected =
        rules_.selections().select(*instance_, {*Pattern::parse(pattern), std::move(filter), std::move(triggers)});
    EXPECT_TRUE(selected) << selected.error().message;
  }
  // The event's index in the file.
  std::uint32_t add(std::string_view declaration) {
    const auto slot = domain_->registrar().register_native(declaration, 0, kUser);
    return *domain_->files().add_event(file_, *domain_->events().at(*slot));
  }
  // What an event that somebody listens to is given.
  void emit(std::uint32_t index, std::uint32_t n) {
    const std::uint32_t words[] = {index, n};
    const iovec vector{const_cast<std::uint32_t*>(words), sizeof words};
    std::ignore = proxy_.write(file_, 7, kUser, std::span(&vector, 1));
  }
  std::vector<std::uint32_t> recorded() {
    std::vector<std::uint32_t> numbers;
    for (const User& user : domain_->users().all()) {
      for (std::uint32_t i = 0; i < domain_->instances().rings_per_set(); ++i) {
        const domain::RingPlace& place = instance_->place;
        ring::Reader reader(user.mapping.data() + place.rings + i * place.geometry.stride(), place.geometry);
        for (const ring::RecordView& record : reader.read().records) {
          std::uint32_t n = 0;
          std::memcpy(&n, record.payload.data(), sizeof n);
          numbers.push_back(n);
        }
      }
    }
    std::sort(numbers.begin(), numbers.end());
    return numbers;
  }
  std::vector<std::string> unfit() {
    std::vector<std::string> texts;
    for (const Unfit& each : Selections::unfit_of(*instance_))
      texts.push_back(each.event + ": " + each.rule + ": " + each.reason);
    return texts;
  }

  std::unique_ptr<Domain> domain_;
  Rules rules_{*domain_};
  Proxy proxy_;
  Instance* instance_ = nullptr;
  FileId file_;
};

// A guest: kUser neither runs the domain nor is root.
TEST_F(SelectionTest, AGuestsEventGoesWithItsProgramUnlessItWasEnabledItself) {
  select("job*", "n > 1", {"traceoff if n == 9"});
  for (const bool is_enabled_itself : {false, true}) {
    const std::uint32_t slot = *domain_->registrar().register_native("job u32 n", 0, kUser);
    domain::Event* const event = domain_->events().at(slot);
    EXPECT_TRUE(event->listeners.any());
    if (is_enabled_itself) {
      ASSERT_TRUE(domain_->listening().set(domain_->top(), {event}, true));
    }
    domain_->events().drop_reference(slot, kUser);
    EXPECT_EQ(domain_->events().find("user_events", "job") != nullptr, is_enabled_itself);
  }
  const std::uint32_t own = *domain_->registrar().register_native("jobs u32 n", 0, ::geteuid());
  domain_->events().drop_reference(own, ::geteuid());
  EXPECT_NE(domain_->events().find("user_events", "jobs"), nullptr) << "the domain's user is no guest";
}

TEST_F(SelectionTest, AnEventThatIsThereIsFiltered) {
  const auto a = add("a u32 n");
  select("a", "n > 5");
  for (std::uint32_t n = 4; n < 8; ++n) emit(a, n);
  EXPECT_THAT(recorded(), ElementsAre(6, 7));
}

TEST_F(SelectionTest, AnEventThatRegistersLaterIsFilteredFromItsFirstOn) {
  select("user_events:*", "n > 5", {"traceoff if n == 7"});
  const auto a = add("a u32 n");
  for (std::uint32_t n = 5; n < 10; ++n) emit(a, n);
  EXPECT_THAT(recorded(), ElementsAre(6, 7));
  EXPECT_FALSE(domain_->instances().is_tracing(*instance_));
}

TEST_F(SelectionTest, TheLastFilterThatMatchesCounts) {
  select("user_events:*", "n > 5");
  select("a", "n == 1");
  select("a", "", {"traceoff if n == 100"});
  const auto a = add("a u32 n");
  const auto b = add("b u32 n");
  for (std::uint32_t n : {1u, 6u}) emit(a, n);
  for (std::uint32_t n : {2u, 7u}) emit(b, n);
  EXPECT_THAT(recorded(), ElementsAre(1, 7));
}

TEST_F(SelectionTest, AnEventWithoutTheFieldIsRecordedAndNamed) {
  select("user_events:*", "n > 5");
  const auto a = add("a u32 other");
  emit(a, 1);
  EXPECT_THAT(recorded(), ElementsAre(1));
  EXPECT_THAT(unfit(), ElementsAre("user_events:a: n > 5: Field not found"));
}

TEST_F(SelectionTest, ATriggerWaitsForTheEventThatItSwitches) {
  select("a", "", {"enable_event:user_events:b if n == 2"});
  const auto a = add("a u32 n");
  emit(a, 1);
  EXPECT_THAT(unfit(),
              ElementsAre("user_events:a: enable_event:user_events:b if n == 2: there is no event user_events:b"));
  const auto b = add("b u32 n");
  EXPECT_THAT(unfit(), IsEmpty());
  emit(b, 10);
  emit(a, 2);
  emit(b, 11);
  EXPECT_THAT(recorded(), ElementsAre(1, 2, 11));
}

TEST_F(SelectionTest, AnEventThatIsSelectedItselfIsOnUntilATriggerSwitchesItOff) {
  select("user_events:*", "", {});
  select("a", "", {"disable_event:user_events:b if n == 2"});
  const auto a = add("a u32 n");
  const auto b = add("b u32 n");
  emit(b, 10);
  emit(a, 2);
  emit(b, 11);
  EXPECT_THAT(recorded(), ElementsAre(2, 10));
}

TEST_F(SelectionTest, TheSameTriggerOfTwoSelectionsIsOne) {
  select("user_events:*", "", {"traceoff if n == 7"});
  select("a", "", {"traceoff if n == 7"});
  add("a u32 n");
  EXPECT_THAT(unfit(), IsEmpty());
  select("a", "", {"traceoff if n == 8"});
  EXPECT_THAT(unfit(), ElementsAre("user_events:a: traceoff if n == 8: a has a trigger of this kind already"));
}

TEST_F(SelectionTest, WhatIsNoneIsRefused) {
  const auto check = [&](std::string filter, std::vector<std::string> triggers) {
    const auto checked = check_rules({*Pattern::parse("*"), std::move(filter), std::move(triggers)});
    return checked ? std::string() : checked.error().message;
  };
  EXPECT_EQ(check("nosuchfield == 5 && name ~ \"*x*\"", {"traceoff:3 if n == 1"}), "");
  EXPECT_EQ(check("n ==", {}), "Invalid value (did you forget quotes)?");
  EXPECT_NE(check("", {"traceof"}), "");
  EXPECT_NE(check("", {"!traceoff"}), "");
  EXPECT_NE(check("", {"traceoff:x"}), "");
  EXPECT_NE(check("", {"traceoff if n <"}), "");
  EXPECT_NE(check("", {"enable_event:user_events"}), "");
}

TEST_F(SelectionTest, PatternsCatchWhatRegistersLater) {
  ASSERT_TRUE(rules_.selections().listen(domain_->top(), *Pattern::parse("*:late_*"), true));
  auto slot = domain_->registrar().register_native("late_event u32 x", 0, kUser);
  ASSERT_TRUE(slot);
  EXPECT_NE(domain_->control().segment().events[*slot].plan, 0u);
  slot = domain_->registrar().register_native("other u32 x", 0, kUser);
  ASSERT_TRUE(slot);
  EXPECT_EQ(domain_->control().segment().events[*slot].plan, 0u);
}

TEST_F(SelectionTest, AnEventThatIsListenedToBeforeItRegistersHasItsStatusBitAtOnce) {
  ASSERT_TRUE(rules_.selections().listen(domain_->top(), *Pattern::parse("user_events:e*"), true));
  const auto bit = domain_->registrar().register_status_bit(file_, "e1", kUser);
  ASSERT_TRUE(bit);
  EXPECT_NE(domain_->status_pages().bits()[bit->bit / 8] & std::byte{1} << bit->bit % 8, std::byte{0});
  const auto byte = domain_->registrar().register_plain(*domain_->registrar().open_file(kUser), "e2", kUser);
  ASSERT_TRUE(byte);
  EXPECT_EQ(domain_->status_pages().bytes()[*byte], std::byte{1});
}

TEST_F(SelectionTest, AllOfItGoesWithTheInstance) {
  const auto a = add("a u32 n");
  const auto b = add("b u32 n");
  select("a", "n > 5", {"disable_event:user_events:b", "traceoff:3 if n == 7"});
  Event* const event = domain_->events().find("user_events", "a");
  EXPECT_FALSE(event->files.empty());
  domain::destroy_instance(instance_->index, domain_->listening(), domain_->instances());
  EXPECT_TRUE(event->files.empty());
  EXPECT_FALSE(event->listeners.any());
  EXPECT_FALSE(domain_->events().find("user_events", "b")->listeners.any());
  emit(a, 9);
  emit(b, 9);
}

TEST_F(SelectionTest, AnEventThatALaterOneSwitchesGoesWithTheInstanceToo) {
  add("b u32 n");
  add("a u32 n");
  select("a", "", {"disable_event:user_events:b"});
  Event* const switched = domain_->events().find("user_events", "b");
  EXPECT_TRUE(switched->listeners.any());
  domain::destroy_instance(instance_->index, domain_->listening(), domain_->instances());
  EXPECT_FALSE(switched->listeners.any()) << "its plan would name rings that are gone";
  EXPECT_TRUE(switched->files.empty());
}

class RecordedSyntheticTest : public SelectionTest {
 protected:
  Event* define() {
    const auto command = language::split_synthetic("lat u32 n");
    return *define_synthetic(domain_->events(), domain_->registrar(), *command, ::geteuid());
  }
  [[nodiscard]] bool is_there() { return find_synthetic(domain_->events(), "lat") != nullptr; }
  int remove(Event* event, std::uint32_t uid = ::geteuid()) {
    const auto removed = rules_.remove(*event, uid);
    return removed ? 0 : removed.error().code;
  }
};

TEST_F(RecordedSyntheticTest, IsRemovedWhileItIsRecorded) {
  select("synthetic:*", "n > 3", {"stacktrace", "hist:keys=n"});
  for (int i = 0; i < 3; ++i) {  // the next one is recorded, too
    Event* const event = define();
    EXPECT_TRUE(event->listeners[instance_->index]);
    EXPECT_EQ(remove(event), 0);
    EXPECT_FALSE(is_there());
  }
}

TEST_F(RecordedSyntheticTest, IsKeptByWhoeverElseHasIt) {
  select("synthetic:*", "n > 3", {"stacktrace"});
  Event* const event = define();
  EXPECT_EQ(remove(event, kUser), EBUSY) << "another user's";
  ASSERT_TRUE(domain_->listening().set(domain_->top(), {event}, true));
  EXPECT_EQ(remove(event), EBUSY);
  ASSERT_TRUE(domain_->listening().set(domain_->top(), {event}, false));
  domain_->events().add_reference(*event);
  EXPECT_EQ(remove(event), EBUSY);
  EXPECT_TRUE(event->listeners[instance_->index]) << "and recorded as before";
  EXPECT_THAT(rules_.triggers().text(*instance_, *event), testing::HasSubstr("stacktrace"));
  domain_->events().drop_reference(event->slot);
  EXPECT_EQ(remove(event), 0);
}

TEST_F(RecordedSyntheticTest, OtherEventsAreInUseWhileTheyAreRecorded) {
  select("user_events:*", "");
  const auto slot = domain_->registrar().register_native("e1 u32 n", domain::kPersist, 0);
  domain_->events().drop_reference(*slot);
  EXPECT_EQ(remove(domain_->events().at(*slot), 0), EBUSY);
}

}  // namespace
}  // namespace landtrace::rules
