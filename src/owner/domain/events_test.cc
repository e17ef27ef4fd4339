#include "domain/events.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "domain/domain.hpp"
#include "domain/status.hpp"
#include "domain/test_users.hpp"
#include "event/description.hpp"
#include "plan/section.hpp"

namespace landtrace::domain {
namespace {

class EventsTest : public testing::Test {
 protected:
  EventsTest() : domain_(*Domain::create({.ring_bytes = 1 << 18})), events_(domain_->events()) {}

  Event* make(std::string_view text, std::uint16_t flags = 0) {
    auto registration = events_.register_event(text, flags, kUser);
    return registration ? registration->event : nullptr;
  }

  std::unique_ptr<Domain> domain_;
  Events& events_;
};

TEST_F(EventsTest, LivesAsLongAsItsLastReference) {
  Event* const event = make("e1 u32 x");
  ASSERT_NE(event, nullptr);
  const std::uint32_t slot = event->slot;
  events_.add_reference(*event);
  events_.add_reference(*event);
  events_.drop_reference(slot);
  EXPECT_NE(events_.find("user_events", "e1"), nullptr);
  events_.drop_reference(slot);
  EXPECT_EQ(events_.find("user_events", "e1"), nullptr);
}

TEST_F(EventsTest, PersistentOnesStayUntilTheyAreRemoved) {
  Event* const event = make("e1", kPersist);
  events_.add_reference(*event);
  EXPECT_EQ(events_.remove("e1", kUser).error().code, EBUSY);
  events_.drop_reference(event->slot);
  EXPECT_NE(events_.find("user_events", "e1"), nullptr);
  EXPECT_EQ(events_.remove("e1", kUser + 1).error().code, EPERM);
  EXPECT_TRUE(events_.remove("e1", kUser));
  EXPECT_EQ(events_.remove("e1", kUser).error().code, ENOENT);
}

TEST_F(EventsTest, OlderDescriptionsOfStructsAreGivenBack) {
  Event* const event = make("moved struct position to 8", kPersist);
  const std::uint64_t before = domain_->control().bytes_in_use();
  for (const char letter : std::string("abcdefgh")) {
    ASSERT_TRUE(events_.describe_structs(*event, std::string(1000, letter)));
  }
  EXPECT_LT(domain_->control().bytes_in_use() - before, 2000u);
}

TEST_F(EventsTest, DescriptionsOfStructsAreShortAndInOneLine) {
  Event* const event = make("moved struct position to 8", kPersist);
  EXPECT_EQ(events_.describe_structs(*event, std::string(event::kMaxDescription + 1, 'x')).error().code, EINVAL);
  EXPECT_EQ(events_.describe_structs(*event, "a\nb").error().code, EINVAL);
  EXPECT_EQ(domain_->control().segment().descriptions[event->slot].text, 0u);
}

TEST_F(EventsTest, OneOfSeveralFormatsIsRemovedAlone) {
  Event* const first = make("m u32 x", kMultiFormat);
  ASSERT_NE(make("m u64 x", kMultiFormat), nullptr);
  EXPECT_EQ(events_.find(kMultiSystem, "m.0"), first);
  EXPECT_EQ(events_.remove(*first, kUser + 1).error().code, EPERM);
  ASSERT_TRUE(events_.remove(*first, kUser));
  EXPECT_EQ(events_.find(kMultiSystem, "m.0"), nullptr);
  EXPECT_NE(events_.find(kMultiSystem, "m.1"), nullptr);
}

TEST_F(EventsTest, ANameThatComesBackIsAnotherEvent) {
  const std::uint64_t first = make("e1 u32 x")->serial;
  ASSERT_TRUE(events_.remove("e1", kUser));
  EXPECT_GT(make("e1 u32 x")->serial, first);
}

TEST_F(EventsTest, AListenerKeepsItUntilItStops) {
  Event* const event = make("e1");
  ASSERT_TRUE(domain_->listening().set(domain_->top(), {event}, true));
  events_.add_reference(*event);
  events_.drop_reference(event->slot);
  ASSERT_NE(events_.find("user_events", "e1"), nullptr);
  ASSERT_TRUE(domain_->listening().set(domain_->top(), {event}, false));
  EXPECT_EQ(events_.find("user_events", "e1"), nullptr);
}

TEST_F(EventsTest, OneNameHasOneDeclarationUnlessItIsMultiFormat) {
  ASSERT_NE(make("e1 u32 x"), nullptr);
  EXPECT_EQ(events_.register_event("e1 u64 x", 0, kUser).error().code, EADDRINUSE);
  EXPECT_FALSE(events_.register_event("e1 u32 x", 0, kUser)->made);
  Event* const first = make("e1 u32 x", kMultiFormat);
  Event* const second = make("e1 u64 x", kMultiFormat);
  ASSERT_NE(first, nullptr);
  ASSERT_NE(second, nullptr);
  EXPECT_EQ(first->name, "e1.0");
  EXPECT_EQ(second->name, "e1.1");
  EXPECT_EQ(second->system, "user_events_multi");
}

TEST_F(EventsTest, PlansAreFreedAfterTheirReaders) {
  Event* const event = make("e1", kPersist);
  const std::uint64_t before = domain_->control().bytes_in_use();
  for (int i = 0; i < 10000; ++i) {
    ASSERT_TRUE(domain_->listening().set(domain_->top(), {event}, true));
    ASSERT_TRUE(domain_->listening().set(domain_->top(), {event}, false));
    domain_->grace().poll();
  }
  EXPECT_EQ(domain_->control().bytes_in_use(), before);
}

TEST_F(EventsTest, GuestsHaveAShareOfTheDomain) {
  const std::uint32_t guest = ::geteuid() + 4711;
  EXPECT_EQ(domain_->registrar().register_native("stays", kPersist, guest).error().code, EPERM);
  EXPECT_TRUE(domain_->registrar().register_native("stays", kPersist, ::geteuid()));
  for (std::uint32_t i = 0; i < Registrar::kGuestEvents; ++i) {
    ASSERT_TRUE(domain_->registrar().register_native("guest_" + std::to_string(i), 0, guest));
    ASSERT_TRUE(domain_->registrar().open_file(guest));
  }
  EXPECT_EQ(domain_->registrar().register_native("one_more", 0, guest).error().code, ENOSPC);
  EXPECT_TRUE(domain_->registrar().register_native("guest_0", 0, guest)) << "it is there already";
  EXPECT_EQ(domain_->registrar().open_file(guest).error().code, EMFILE);
  EXPECT_TRUE(domain_->registrar().register_native("one_more", 0, ::geteuid()));
  EXPECT_TRUE(domain_->registrar().open_file(::geteuid()));
  domain_->events().drop_reference(events_.find("user_events", "guest_7")->slot);
  EXPECT_TRUE(domain_->registrar().register_native("after_all", 0, guest));
}

// An event is one of those that its user has for as long as its programs refer to it, whoever made it.
TEST_F(EventsTest, WhoKeepsAnothersEventHasOneMoreAndTheOtherOneLess) {
  const std::uint32_t guest = ::geteuid() + 4711, other = guest + 1;
  for (std::uint32_t i = 0; i < Registrar::kGuestEvents; ++i) {
    const std::string name = "shared_" + std::to_string(i);
    const auto slot = domain_->registrar().register_native(name, 0, guest);
    ASSERT_TRUE(slot);
    ASSERT_TRUE(domain_->registrar().register_native(name, 0, other));
    domain_->events().drop_reference(*slot, guest);
  }
  EXPECT_EQ(domain_->registrar().register_native("one_more", 0, other).error().code, ENOSPC);
  EXPECT_TRUE(domain_->registrar().register_native("one_more", 0, guest));
  EXPECT_EQ(domain_->registrar().register_native("one_more", 0, other).error().code, ENOSPC);
}

// What one user's thread may be in the middle of: an event in a slot of its segment that does not end.
class StoppedGuestTest : public EventsTest {
 protected:
  StoppedGuestTest() {
    const std::uint32_t user = *domain_->join(kGuest);
    EXPECT_TRUE(domain_->join(kVictim));
    plan::DataSegment& data = domain_->users().all()[user].data();
    data.thread_high = 1;
    data.threads[0].pid = data.threads[0].tid = static_cast<std::uint32_t>(::getpid());
    data.threads[0].section = 1;
  }
  Result<void> come_and_go(std::uint32_t uid, int i) {
    LT_TRY(const std::uint32_t slot, domain_->registrar().register_native("e" + std::to_string(i), 0, uid));
    LT_TRY(const FileId file, domain_->registrar().open_file(uid));
    LT_TRY([[maybe_unused]] const auto index, domain_->files().add_event(file, *events_.at(slot)));
    events_.drop_reference(slot, uid);
    domain_->files().close(file);
    return {};
  }
  const std::uint32_t kGuest = ::geteuid() + 4711, kVictim = kGuest + 1;
  const Domain::Access alone_ = domain_->enter();  // for two users there is a thread
};

TEST_F(StoppedGuestTest, KeepsNothingOfOthersFromBeingFreed) {
  for (int i = 0; i < 70'000; ++i) {
    const auto done = come_and_go(kVictim, i);
    ASSERT_TRUE(done) << i << ": " << done.error().message;
    if (i % 1000 == 0) domain_->grace().settle(kPatience);
  }
}

TEST_F(StoppedGuestTest, UsesUpItsOwnShare) {
  Result<void> done;
  int rounds = 0;
  for (; rounds < 10'000 && done; ++rounds) {
    done = come_and_go(kGuest, rounds);
    if (rounds % 100 == 0) domain_->grace().settle(kPatience);
  }
  ASSERT_FALSE(done);
  EXPECT_LT(rounds, 5000);
  EXPECT_TRUE(come_and_go(kVictim, 0));
  // It goes on.
  domain_->users().all()[0].data().threads[0].section = plan::kDepthMask + 1;
  EXPECT_TRUE(domain_->grace().drain(std::chrono::seconds(60)));
  EXPECT_TRUE(come_and_go(kGuest, 0));
}

// Before anybody has found out that it is stopped.
TEST_F(StoppedGuestTest, LeavesOthersRoomHoweverFastItIs) {
  Result<void> done;
  std::uint32_t rounds = 0;
  for (; rounds < plan::kMaxEvents && done; ++rounds) done = come_and_go(kGuest, static_cast<int>(rounds));
  ASSERT_FALSE(done);
  EXPECT_LT(rounds, 5000u);
  for (int i = 0; i < 1000; ++i) ASSERT_TRUE(come_and_go(kVictim, i)) << i;
}

// What nobody is in the middle of is free as soon as it is needed.
TEST_F(EventsTest, SlotsThatNobodyHoldsAreFreeWhenTheyAreNeeded) {
  for (std::uint32_t i = 0; i < 2 * plan::kMaxEvents; ++i) {
    const auto made = events_.register_event("e", kPersist, kUser);
    ASSERT_TRUE(made) << i << ": " << made.error().message;
    ASSERT_TRUE(events_.remove("e", kUser));
  }
}

TEST_F(StoppedGuestTest, KeepsNobodyFromRecording) {
  Event* const event = make("e1", kPersist);
  const std::uint64_t before = domain_->control().bytes_in_use();
  for (int i = 0; i < 3 * static_cast<int>(plan::kMaxInstances); ++i) {
    auto instance = domain_->instances().create("i", {24}, true);
    ASSERT_TRUE(instance) << i << ": " << instance.error().message;
    ASSERT_TRUE(domain_->listening().set(**instance, {event}, true));
    destroy_instance((*instance)->index, domain_->listening(), domain_->instances());
    domain_->grace().settle(kPatience);
  }
  EXPECT_LT(domain_->control().bytes_in_use(), before + (10 << 20));
}

TEST_F(EventsTest, SlotsRunOutWithAnErrorAndComeBack) {
  for (std::uint32_t i = plan::kFirstEventSlot; i < plan::kMaxEvents; ++i) {
    ASSERT_NE(make("e" + std::to_string(i), kPersist), nullptr);
  }
  const auto refused = events_.register_event("one_more", 0, kUser);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ENOSPC);
  ASSERT_TRUE(events_.remove("e7", 0));
  ASSERT_FALSE(domain_->grace().poll());
  Event* const again = make("one_more u32 x");
  ASSERT_NE(again, nullptr);
  EXPECT_EQ(again->slot, 7u);
}

TEST_F(EventsTest, IdsAreUniqueBeyondTheKernelsAndFitKernelShark) {
  std::vector<bool> seen(65536, false);
  for (std::uint32_t i = plan::kFirstEventSlot; i < plan::kMaxEvents; ++i) {
    const Event* const event = make("e" + std::to_string(i), kPersist);
    ASSERT_NE(event, nullptr);
    const std::uint16_t id = domain_->control().segment().events[event->slot].id;
    EXPECT_FALSE(seen[id]);
    EXPECT_GE(id, 16384);
    EXPECT_LT(id, 32768);
    seen[id] = true;
  }
}

TEST_F(EventsTest, InstancesComeAndGoWithoutLeavingAnything) {
  const std::uint64_t before = domain_->control().bytes_in_use();
  Event* const event = make("e1", kPersist);
  for (int i = 0; i < 200; ++i) {
    auto instance = domain_->instances().create("i", {20}, i % 2 == 0);
    ASSERT_TRUE(instance) << i << ": " << instance.error().message;
    EXPECT_EQ(domain_->instances().create("i", {20}, true).error().code, EEXIST);
    ASSERT_TRUE(domain_->listening().set(**instance, {event}, true));
    destroy_instance((*instance)->index, domain_->listening(), domain_->instances());
    EXPECT_FALSE(event->listeners.any());
    domain_->grace().poll();
  }
  ASSERT_TRUE(events_.remove("e1", 0));
  domain_->grace().poll();
  // The texts of the removed event stay until its slot is taken again.
  EXPECT_LT(domain_->control().bytes_in_use(), before + 200);
}

TEST_F(EventsTest, WhatSharesANameIsRemovedTogetherOrNotAtAll) {
  Event* const single = make("m u32 x", kPersist);
  Event* const first = make("m u32 x", kMultiFormat);
  Event* const second = make("m u64 x", kMultiFormat);
  ASSERT_TRUE(single && first && second);
  events_.add_reference(*second);
  EXPECT_EQ(events_.remove("m", kUser).error().code, EBUSY);
  EXPECT_EQ(events_.all().size(), 3u);
  second->references = 0;
  EXPECT_EQ(events_.remove("m", kUser + 1).error().code, EPERM);
  EXPECT_TRUE(events_.remove("m", 0)) << "root may";
  EXPECT_TRUE(events_.all().empty());
  EXPECT_EQ(events_.remove("m", 0).error().code, ENOENT);
}

TEST_F(EventsTest, RemovalLeavesOthersFindable) {
  make("a", kPersist), make("b", kPersist), make("c", kPersist);
  ASSERT_TRUE(events_.remove("b", kUser));
  EXPECT_EQ(events_.find(kSystem, "b"), nullptr);
  std::vector<std::string> names;
  for (const Event* const event : events_.all()) names.push_back(event->name);
  EXPECT_THAT(names, testing::ElementsAre("a", "c")) << "in the order of registration";
  Event* const again = make("b u32 x", kPersist);
  ASSERT_NE(again, nullptr);
  EXPECT_EQ(events_.find(kSystem, "b"), again);
  EXPECT_EQ(events_.all().back(), again);
}

TEST_F(EventsTest, ANumberThatAFormatHadIsNotGivenAgain) {
  Event* const first = make("m u32 x", kMultiFormat);
  ASSERT_TRUE(events_.remove(*first, kUser));
  EXPECT_EQ(make("m u32 x", kMultiFormat)->name, "m.1");
  for (int i = 2; i < 16; ++i) ASSERT_NE(make("n" + std::to_string(i), kMultiFormat), nullptr);
  EXPECT_EQ(make("last", kMultiFormat)->name, "last.10") << "it is hexadecimal, and all names count together";
}

TEST_F(EventsTest, ABadDeclarationIsTheFirstThingToBeSaid) {
  EXPECT_EQ(events_.register_event("", 0, kUser).error().code, EINVAL);
  EXPECT_EQ(events_.register_event("e1 nonsense", 0, kUser).error().code, EINVAL);
  ASSERT_NE(make("e1 u32 x"), nullptr);
  EXPECT_EQ(events_.register_event("e1 nonsense", 0, kUser).error().code, EADDRINUSE) << "as the kernel does it";
  EXPECT_EQ(events_.register_event("e2 nonsense", 0, kUser, 1).error().code, EINVAL);
  EXPECT_EQ(events_.register_event("e2 u32 x", 0, kUser, 1).error().code, ENOSPC);
  EXPECT_TRUE(events_.register_event("e2 u32 x", 0, kUser + 1, 1));
  EXPECT_FALSE(events_.register_event("e1 u32 x", 0, kUser, 1)->made);
}

TEST_F(EventsTest, ALimitIsFreeAgainWhenAnEventGoes) {
  ASSERT_TRUE(events_.register_event("e1", kPersist, kUser, 2));
  ASSERT_TRUE(events_.register_event("e2", kPersist, kUser, 2));
  EXPECT_EQ(events_.register_event("e3", kPersist, kUser, 2).error().code, ENOSPC);
  ASSERT_TRUE(events_.remove("e1", kUser));
  EXPECT_TRUE(events_.register_event("e3", kPersist, kUser, 2));
}

TEST_F(EventsTest, ANameAloneMayBeEnough) {
  Event* const event = make("e1 u32 x");
  const auto found = events_.register_event("e1 u64 y", 0, kUser, plan::kMaxEvents, Events::Match::kByName);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->event, event);
  EXPECT_FALSE(found->made);
}

TEST_F(EventsTest, WhatNoProgramRegistersHasANameOfItsOwn) {
  const auto declaration = *event::parse_declared("wakeup", "u64 lat", "synthetic");
  Event* const event = *events_.add("synthetic", declaration, "u64 lat", kUser);
  EXPECT_EQ(events_.find("synthetic", "wakeup"), event);
  EXPECT_EQ(event->text(), "u64 lat");
  EXPECT_EQ(events_.add("synthetic", declaration, "u64 lat", kUser).error().code, EEXIST);
  EXPECT_EQ(events_.remove("wakeup", 0).error().code, ENOENT) << "as programs name events, it is none";
  ASSERT_NE(make("wakeup u64 lat"), nullptr);
  const auto probe = *event::parse_declared("e1", "x32 v", "probe user_events.wakeup");
  ASSERT_TRUE(events_.add(kSystem, probe, "", kUser));
  EXPECT_EQ(events_.register_event("e1", 0, kUser).error().code, EADDRINUSE);
  EXPECT_TRUE(events_.register_event("e1", kMultiFormat, kUser)) << "that is shown elsewhere";
  EXPECT_TRUE(events_.remove(*event, kUser));
  EXPECT_EQ(events_.find("synthetic", "wakeup"), nullptr);
  EXPECT_NE(events_.find(kSystem, "wakeup"), nullptr);
}

TEST_F(EventsTest, ProducersFindWhatTheyNeedInTheSlot) {
  using namespace std::string_literals;
  const std::uint64_t changes = domain_->control().segment().event_changes;
  Event* const event = make("e1 u32 x; __rel_loc char[] s", kPersist);
  const plan::EventSlot& slot = domain_->control().segment().events[event->slot];
  EXPECT_EQ(slot.registered, 1u);
  EXPECT_NE(slot.generation, 0u);
  EXPECT_EQ(slot.min_size, 8u);
  EXPECT_EQ(slot.check_count, 1u);
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(domain_->control().at(slot.text)), slot.text_size),
            "user_events\0e1\0u32 x; __rel_loc char[] s\0\0"s);
  EXPECT_EQ(domain_->control().segment().event_changes, changes + 1);
  EXPECT_EQ(domain_->control().segment().event_high, event->slot + 1);
  EXPECT_NE(events_.made_at(event->slot), 0u);
  const std::uint32_t generation = slot.generation, text = slot.text, number = event->slot;
  ASSERT_TRUE(events_.remove("e1", kUser));
  EXPECT_EQ(slot.registered, 0u);
  EXPECT_EQ(slot.generation, generation) << "records of it may be in rings";
  EXPECT_EQ(slot.text, text);
  EXPECT_EQ(domain_->control().segment().event_changes, changes + 2);
  EXPECT_NE(events_.made_at(number), 0u);
}

TEST_F(EventsTest, ASlotThatIsUsedAgainIsOfAnotherGeneration) {
  std::vector<Event*> all;
  for (std::uint32_t i = plan::kFirstEventSlot; i < plan::kMaxEvents; ++i)
    all.push_back(make("e" + std::to_string(i), kPersist));
  const plan::EventSlot& slot = domain_->control().segment().events[100];
  const std::uint32_t generation = slot.generation;
  const std::uint64_t made = events_.made_at(100);
  ASSERT_TRUE(events_.remove("e100", kUser));
  ASSERT_TRUE(events_.remove("e50", kUser));
  domain_->grace().poll();
  Event* const again = make("again u8 a", kPersist);
  EXPECT_EQ(again->slot, 100u) << "the one that was free first";
  EXPECT_EQ(slot.generation, generation + 2) << "one more while its texts change";
  EXPECT_GT(events_.made_at(100), made);
  EXPECT_EQ(slot.min_size, 1u);
  EXPECT_EQ(make("more", kPersist)->slot, 50u);
}

TEST_F(EventsTest, AHoldKeepsAnEventThatNobodyElseWants) {
  Event* const event = make("e1");
  {
    const Events::Hold hold(events_, *event);
    EXPECT_NE(events_.find(kSystem, "e1"), nullptr);
    events_.add_reference(*event);
  }
  EXPECT_EQ(event->references, 1u);
  events_.drop_reference(event->slot);
  EXPECT_EQ(events_.find(kSystem, "e1"), nullptr);
  { const Events::Hold hold(events_, *make("e2")); }
  EXPECT_EQ(events_.find(kSystem, "e2"), nullptr);
  events_.drop_reference(plan::kMaxEvents);
}

TEST_F(EventsTest, AnEventThatIsMadeLastingStays) {
  Event* const event = make("e1");
  events_.make_lasting(*event);
  events_.add_reference(*event);
  events_.drop_reference(event->slot);
  EXPECT_NE(events_.find(kSystem, "e1"), nullptr);
}

TEST_F(EventsTest, APlaceInAPageIsGivenOnceAndShowsWhoListens) {
  Event* const event = make("e1", kPersist);
  ASSERT_TRUE(domain_->listening().set(domain_->top(), {event}, true));
  ASSERT_TRUE(events_.give_place(*event, Page::kBits));
  ASSERT_TRUE(events_.give_place(*event, Page::kBits));
  EXPECT_EQ(event->status_bit, 1u);
  EXPECT_EQ(domain_->status_pages().bits()[0], std::byte{2});
  events_.give_place_again(*event, Page::kBytes, 7);
  EXPECT_EQ(event->status_byte, 7u);
  EXPECT_EQ(domain_->status_pages().bytes()[7], std::byte{1});
  Event* const other = make("e2", kPersist);
  events_.give_place_again(*other, Page::kBytes, 7);
  EXPECT_EQ(other->status_byte, 0u) << "it is taken";
  ASSERT_TRUE(domain_->listening().set(domain_->top(), {event}, false));
  ASSERT_TRUE(events_.remove("e1", kUser));
  ASSERT_TRUE(events_.give_place(*other, Page::kBits));
  EXPECT_EQ(other->status_bit, 1u);
}

class JournalledEventsTest : public EventsTest {
 protected:
  void SetUp() override {
    ASSERT_TRUE(journal_.start());
    events_.keep(&journal_);
  }
  void TearDown() override {
    events_.keep(nullptr);
    std::filesystem::remove(path_);
  }
  std::vector<SavedEvent> saved() { return Journal(path_).saved().events; }

  const std::string path_ = testing::TempDir() + "events_test-" + std::to_string(::getpid());
  Journal journal_{path_};
};

TEST_F(JournalledEventsTest, EventsAreWrittenDownAsTheyChange) {
  Event* const event = make("e1 u32 x");
  ASSERT_EQ(saved().size(), 1u);
  EXPECT_EQ(saved()[0].slot, event->slot);
  EXPECT_EQ(saved()[0].name, "e1");
  EXPECT_EQ(saved()[0].text, "e1 u32 x");
  EXPECT_EQ(saved()[0].uid, kUser);
  EXPECT_EQ(saved()[0].flags, 0);
  events_.make_lasting(*event);
  EXPECT_EQ(saved()[0].flags, kPersist);
  ASSERT_TRUE(events_.give_place(*event, Page::kBits));
  events_.give_place_again(*event, Page::kBytes, 9);
  EXPECT_EQ(saved()[0].status_bit, event->status_bit);
  EXPECT_EQ(saved()[0].status_byte, 9u);
  ASSERT_NE(make("m u32 x", kMultiFormat), nullptr);
  EXPECT_EQ(Journal(path_).saved().next_multi, 1u);
  ASSERT_TRUE(events_.remove("e1", kUser));
  ASSERT_EQ(saved().size(), 1u);
  EXPECT_EQ(saved()[0].name, "m.0");
}

TEST_F(JournalledEventsTest, ARestoredEventHasItsNameAndIsWrittenDownAgain) {
  SavedEvent old;
  old.slot = 99, old.uid = kUser, old.flags = kMultiFormat | kPersist, old.name = "m.7", old.text = "m u32 x";
  Event* const event = *events_.restore(old);
  EXPECT_EQ(event->name, "m.7");
  EXPECT_EQ(event->system, kMultiSystem);
  EXPECT_EQ(event->flags, old.flags);
  EXPECT_EQ(event->uid, kUser);
  EXPECT_EQ(saved()[0].name, "m.7");
  EXPECT_EQ(events_.restore(old).error().code, EINVAL) << "there it is";
  events_.restore_next_multi(8);
  EXPECT_EQ(make("m u64 x", kMultiFormat)->name, "m.8");
  EXPECT_FALSE(events_.register_event("m u32 x", kMultiFormat, kUser)->made);
}

TEST_F(JournalledEventsTest, WhatIsNoSoundEventIsNotRestored) {
  SavedEvent old;
  old.name = "other", old.text = "e1 u32 x";
  EXPECT_EQ(events_.restore(old).error().code, EINVAL);
  old.name = "e1.0";
  EXPECT_EQ(events_.restore(old).error().code, EINVAL);
  old.flags = kMultiFormat, old.name = "e10";
  EXPECT_EQ(events_.restore(old).error().code, EINVAL);
  old.flags = 0, old.name = "e1", old.text = "e1 nonsense";
  EXPECT_EQ(events_.restore(old).error().code, EINVAL);
  EXPECT_TRUE(events_.all().empty());
  EXPECT_TRUE(saved().empty());
  old.text = "e1 u32 x";
  EXPECT_TRUE(events_.restore(old));
}

}  // namespace
}  // namespace landtrace::domain
