#include "domain/events.hpp"

#include <gtest/gtest.h>

#include "domain/domain.hpp"
#include "domain/status.hpp"
#include "domain/test_users.hpp"

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

TEST_F(EventsTest, AReaderInsideDelaysTheFreeing) {
  const std::uint32_t user = *domain_->users().find_or_create(kUser);
  plan::DataSegment& data = domain_->users().all()[user].data();
  data.thread_high = 1;
  data.threads[0] = {
      .section = 1, .tid = static_cast<std::uint32_t>(::gettid()), .pid = static_cast<std::uint32_t>(::getpid())};
  bool freed = false;
  domain_->grace().after_readers([&] { freed = true; });
  EXPECT_TRUE(domain_->grace().poll());
  EXPECT_FALSE(freed);
  data.threads[0].section = 0x10000;  // it has left
  EXPECT_FALSE(domain_->grace().poll());
  EXPECT_TRUE(freed);
}

TEST_F(EventsTest, ADeadReaderDelaysNothing) {
  const std::uint32_t user = *domain_->users().find_or_create(kUser);
  plan::DataSegment& data = domain_->users().all()[user].data();
  data.thread_high = 1;
  data.threads[0] = {.section = 1, .tid = 0x3fffff, .pid = 0x3fffff};
  bool freed = false;
  domain_->grace().after_readers([&] { freed = true; });
  EXPECT_TRUE(domain_->grace().drain(std::chrono::milliseconds(100)));
  EXPECT_TRUE(freed);
}

TEST_F(EventsTest, WhatWaitsForAnInventedReaderStaysBounded) {
  const std::uint32_t user = *domain_->users().find_or_create(kUser);
  plan::DataSegment& data = domain_->users().all()[user].data();
  data.thread_high = 1;
  data.threads[0] = {
      .section = 1, .tid = static_cast<std::uint32_t>(::gettid()), .pid = static_cast<std::uint32_t>(::getpid())};
  int freed = 0;
  for (int i = 0; i < 1000; ++i) {
    domain_->grace().after_readers([&] { ++freed; });
    EXPECT_TRUE(domain_->grace().poll());
  }
  EXPECT_LE(domain_->grace().batches(), 4u);
  EXPECT_EQ(freed, 0);
  data.threads[0].section = 0x10000;
  EXPECT_FALSE(domain_->grace().poll());
  EXPECT_EQ(freed, 1000);
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

TEST_F(EventsTest, FilesAreNotGuessed) {
  const FileId first = *domain_->registrar().open_file(kUser);
  const FileId second = *domain_->registrar().open_file(kUser);
  EXPECT_NE(first.generation, 0u);
  EXPECT_NE(second.generation, first.generation + 1);
  EXPECT_TRUE(domain_->files().check(first));
  EXPECT_EQ(domain_->files().check({first.slot, second.generation}).error().code, EBADF);
  domain_->files().close(first);
  EXPECT_EQ(domain_->files().check(first).error().code, EBADF);
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

}  // namespace
}  // namespace landtrace::domain
