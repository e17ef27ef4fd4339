#include "client/event_list.hpp"

#include <sys/wait.h>

#include <cstdlib>

#include "client/emission.hpp"
#include "client/fake_owner.hpp"

namespace landtrace::client {
namespace {

using ipc::Operation;
using Kind = FakeAnswer::Kind;

class EventListTest : public ClientTest {
 protected:
  static landtrace_event event_of(const char* declaration) {
    landtrace_event event = LANDTRACE_EVENT_INIT;
    event.declaration = declaration;
    return event;
  }
};

// -- the list ---------------------------------------------------------------------------------------------------------
TEST_F(EventListTest, EventsAreOnItUntilTheyAreTakenOff) {
  in_child([] {
    landtrace_event events[3] = {LANDTRACE_EVENT_INIT, LANDTRACE_EVENT_INIT, LANDTRACE_EVENT_INIT};
    EXPECT_TRUE(list_is_empty());
    for (landtrace_event& event : events) add_to_list(event);
    EXPECT_FALSE(list_is_empty());
    EXPECT_TRUE(remove_from_list(events[1]));
    EXPECT_FALSE(remove_from_list(events[1]));
    EXPECT_TRUE(is_listed(&events[0]));
    EXPECT_FALSE(is_listed(&events[1]));
    EXPECT_TRUE(is_listed(&events[2]));
    EXPECT_TRUE(remove_from_list(events[0]));
    EXPECT_TRUE(remove_from_list(events[2]));
    EXPECT_TRUE(list_is_empty());
  });
}

TEST_F(EventListTest, AForkedChildsListIsNotLockedForEver) {
  in_child([] {
    lock_list_for_fork();
    const pid_t child = ::fork();
    if (child == 0) {
      unlock_list_in_child();
      const ListLocked lock;
      ::_exit(0);
    }
    unlock_list_in_parent();
    int status = -1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    const ListLocked lock;
  });
}

// Who forks in a handler may have interrupted the one who has the lock.
TEST_F(EventListTest, AForkDoesNotWaitForTheListForEver) {
  in_child([] {
    std::thread([] {
      const ListLocked lock;
      lock_list_for_fork();
      unlock_list_in_parent();  // was not locked for the fork, and stays locked
    }).join();
    const ListLocked lock;
  });
}

TEST_F(EventListTest, OfTwoThreadsThatForkAtOnceEachUndoesWhatItDid) {
  in_child([] {
    lock_list_for_fork();
    std::thread([] {
      lock_list_for_fork();  // not to be had
      unlock_list_in_parent();
    }).join();
    unlock_list_in_parent();
    const ListLocked lock;
  });
}

TEST_F(EventListTest, AForkInAHandlerWhileItsThreadForksHasTheListToo) {
  in_child([] {
    lock_list_for_fork();
    lock_list_for_fork();
    unlock_list_in_parent();
    std::thread([] {
      lock_list_for_fork();  // still not to be had
      unlock_list_in_parent();
    }).join();
    unlock_list_in_parent();
    const ListLocked lock;
  });
}

// -- back ends --------------------------------------------------------------------------------------------------------
TEST_F(EventListTest, TheEnvironmentNarrowsTheChoiceOfBackEnds) {
  in_child([] {
    EXPECT_TRUE(backend_allowed("domain"));
    ::setenv("LANDTRACE_BACKEND", "", 1);
    EXPECT_TRUE(backend_allowed("kernel"));
    ::setenv("LANDTRACE_BACKEND", "kernel", 1);
    EXPECT_TRUE(backend_allowed("kernel"));
    EXPECT_FALSE(backend_allowed("domain"));
  });
}

TEST_F(EventListTest, AnEventIsRegisteredWithItsDeclarationAndFlags) {
  in_child([&] {
    FakeOwner owner(path());
    landtrace_event event = event_of("done u32 id");
    event.flags = LANDTRACE_PERSIST;
    EXPECT_EQ(find_backend(event), 0);
    const auto asked = owner.asked(Operation::kRegisterNative);
    ASSERT_EQ(asked.size(), 1u);
    EXPECT_EQ(asked[0].text, "done u32 id");
    EXPECT_EQ(asked[0].request.d, LANDTRACE_PERSIST);
    EXPECT_EQ(event.backend, LANDTRACE_DOMAIN);
    EXPECT_EQ(event.index, static_cast<std::int32_t>(kSlot));
    EXPECT_EQ(event.word, owner.domain().control().events[kSlot].generation);
    EXPECT_EQ(event.enable, &Process::view().control->events[kSlot].plan);
    EXPECT_EQ(landtrace_enabled(&event), 0);
    owner.domain().publish(kSlot, {owner.domain().record()});
    EXPECT_EQ(landtrace_enabled(&event), 1);
  });
}

TEST_F(EventListTest, AnEventThatIsHeldIsAskedForByItsName) {
  in_child([&] {
    FakeOwner owner(path());
    landtrace_event event = event_of("synthetic\0latency\0and more");
    event.flags = kHeldByName;
    EXPECT_EQ(find_backend(event), 0);
    const auto asked = owner.asked(Operation::kHoldEvent);
    ASSERT_EQ(asked.size(), 1u);
    EXPECT_EQ(asked[0].text, std::string("synthetic\0latency\0", 18));
    EXPECT_EQ(asked[0].request.d, 0u);
  });
}

TEST_F(EventListTest, ASlotThatNoDomainHasIsABrokenAnswer) {
  in_child([&] {
    FakeOwner owner(path());
    landtrace_event event = event_of("done u32 id");
    owner.answer(Operation::kRegisterNative, FakeAnswer::number(plan::kMaxEvents));
    EXPECT_EQ(find_backend(event), -EPROTO);
    EXPECT_EQ(event.backend, LANDTRACE_NONE);
    owner.answer(Operation::kRegisterNative, FakeAnswer::number(plan::kMaxEvents - 1));
    EXPECT_EQ(find_backend(event), 0);
  });
}

TEST_F(EventListTest, TheOwnersRefusalIsTheAnswerAndNobodyIsNoBackEnd) {
  in_child([&] {
    FakeOwner owner(path());
    ::setenv("LANDTRACE_BACKEND", "domain", 1);
    landtrace_event event = event_of("done u32 id");
    owner.answer(Operation::kRegisterNative, FakeAnswer::error(EADDRINUSE));
    EXPECT_EQ(find_backend(event), -EADDRINUSE);
    for (const Kind kind : {Kind::kHangUp, Kind::kGarbage}) {
      owner.answer(Operation::kRegisterNative, FakeAnswer::of(kind));
      forget_nobody();
      EXPECT_EQ(find_backend(event), -ENOENT);
    }
    EXPECT_EQ(event.backend, LANDTRACE_NONE);
  });
}

TEST_F(EventListTest, NobodyIsLookedForOnceForManyEvents) {
  in_child([&] {
    ::setenv("LANDTRACE_BACKEND", "domain", 1);
    FakeOwner owner(path());
    owner.answer(Operation::kRegisterNative, FakeAnswer::of(Kind::kHangUp));
    std::vector<landtrace_event> events(1000, event_of("done u32 id"));
    for (landtrace_event& event : events) add_to_list(event);
    EXPECT_EQ(find_backends(), 0);
    const std::size_t asked = owner.asked(Operation::kRegisterNative).size();
    EXPECT_GE(asked, 1u);
    EXPECT_LT(asked, 500u);
    owner.answer(Operation::kRegisterNative, [&](const Asked& one) { return owner.by_itself(one); });
    forget_nobody();
    EXPECT_EQ(find_backends(), 1000);
    EXPECT_EQ(find_backends(), 0);  // they have one
  });
}

TEST_F(EventListTest, OnlyWhatIsAllowedIsLookedAt) {
  in_child([&] {
    FakeOwner owner(path());
    ::setenv("LANDTRACE_BACKEND", "none", 1);
    landtrace_event event = event_of("done u32 id");
    EXPECT_EQ(find_backend(event), -ENOENT);
    EXPECT_TRUE(owner.asked().empty());
  });
}

// -- what has become of an event --------------------------------------------------------------------------------------
TEST_F(EventListTest, AnEventIsDroppedWhenItsSlotIsAnothersOrItsOwnerIsGone) {
  in_child([&] {
    FakeOwner owner(path());
    landtrace_event event = event_of("done u32 id");
    EXPECT_FALSE(is_dropped(event));  // it never had one
    ASSERT_EQ(find_backend(event), 0);
    EXPECT_FALSE(is_dropped(event));
    plan::EventSlot& slot = owner.domain().control().events[kSlot];
    slot.registered = 0;
    EXPECT_TRUE(is_dropped(event));
    slot.registered = 1;
    ++slot.generation;
    EXPECT_TRUE(is_dropped(event));
    --slot.generation;
    EXPECT_FALSE(is_dropped(event));
    add_to_list(event);
    silence_all();
    EXPECT_EQ(event.enable, &landtrace_never);
    EXPECT_TRUE(is_dropped(event));
    event.backend = LANDTRACE_KERNEL;
    EXPECT_FALSE(is_dropped(event));
  });
}

TEST_F(EventListTest, WhatTheDomainHasDroppedFindsItAgain) {
  in_child([&] {
    FakeOwner owner(path());
    landtrace_event event = event_of("done u32 id");
    add_to_list(event);
    ASSERT_EQ(find_backends(), 1);
    plan::EventSlot& slot = owner.domain().control().events[kSlot];
    ++slot.generation;
    EXPECT_EQ(find_backends(), 1);
    EXPECT_EQ(event.word, slot.generation);
    EXPECT_EQ(owner.asked(Operation::kRegisterNative).size(), 2u);
    owner.die();
    EXPECT_TRUE(is_dropped(event));
  });
}

TEST_F(EventListTest, AnEventOfTheKernelsIsNotSilencedWithTheDomain) {
  in_child([] {
    landtrace_event event = event_of("done u32 id");
    event.backend = LANDTRACE_KERNEL;
    event.enable = &event.word;
    add_to_list(event);
    silence_all();
    EXPECT_EQ(event.enable, &event.word);
  });
}

TEST_F(EventListTest, AllEventsCanBeHeldByAnotherConnection) {
  in_child([&] {
    FakeOwner owner(path());
    ASSERT_TRUE(Process::get().attach());
    landtrace_event plain = event_of("plain u32 id");
    landtrace_event held = event_of("synthetic\0held\0");
    held.flags = kHeldByName;
    landtrace_event kernels = event_of("kernels u32 id");
    kernels.backend = LANDTRACE_KERNEL;
    landtrace_event refused = event_of("refused u32 id");
    for (landtrace_event* const event : {&plain, &held, &kernels, &refused}) add_to_list(*event);
    owner.answer(Operation::kRegisterNative, [&](const Asked& asked) {
      return asked.text == "refused u32 id" ? FakeAnswer::error(EADDRINUSE) : owner.by_itself(asked);
    });
    const auto connection = ipc::connect_to(path());
    ASSERT_TRUE(connection.has_value());
    register_all_on(connection->get());
    EXPECT_EQ(plain.backend, LANDTRACE_DOMAIN);
    EXPECT_EQ(held.backend, LANDTRACE_DOMAIN);
    EXPECT_EQ(refused.backend, LANDTRACE_NONE);
    EXPECT_EQ(kernels.backend, LANDTRACE_KERNEL);
    EXPECT_EQ(owner.asked(Operation::kRegisterNative).size(), 2u);
    for (const Asked& asked : owner.asked(Operation::kRegisterNative)) EXPECT_EQ(asked.connection, 1);
    EXPECT_EQ(owner.asked(Operation::kHoldEvent).size(), 1u);
  });
}

TEST_F(EventListTest, WhereNobodyAnswersTheRestIsNotAskedFor) {
  in_child([&] {
    FakeOwner owner(path());
    ASSERT_TRUE(Process::get().attach());
    std::vector<landtrace_event> events(5, event_of("done u32 id"));
    for (landtrace_event& event : events) add_to_list(event);
    owner.answer(Operation::kRegisterNative, FakeAnswer::of(Kind::kGarbage));
    register_all_on(ipc::connect_to(path())->get());
    EXPECT_EQ(owner.asked(Operation::kRegisterNative).size(), 1u);
  });
}

// -- emission ---------------------------------------------------------------------------------------------------------
class EmissionTest : public EventListTest {
 protected:
  static int emit(const landtrace_event& event, const void* payload, std::size_t size) {
    const iovec vector{const_cast<void*>(payload), size};
    return emit_to_domain(event, &vector, 1, size, plan::emit_in_section);
  }
};

TEST_F(EmissionTest, AnEventGoesToItsSlot) {
  in_child([&] {
    FakeOwner owner(path());
    landtrace_event event = event_of("done u32 id");
    ASSERT_EQ(find_backend(event), 0);
    EXPECT_EQ(emit(event, "four", 4), -EBADF);  // nobody listens
    owner.domain().publish(kSlot, {owner.domain().record()});
    EXPECT_EQ(emit(event, "four", 4), 0);
    const auto records = owner.domain().records();
    ASSERT_EQ(records.size(), 1u);
    EXPECT_EQ(records[0].payload, "four");
  });
}

TEST_F(EmissionTest, PayloadsHaveTheEventsSizeAtLeastAndTheLimitAtMost) {
  in_child([&] {
    FakeOwner owner(path());
    owner.domain().control().events[kSlot].min_size = 4;
    owner.domain().publish(kSlot, {owner.domain().record()});
    landtrace_event event = event_of("done u32 id");
    ASSERT_EQ(find_backend(event), 0);
    EXPECT_EQ(event.min_size, 4u);
    EXPECT_EQ(emit(event, "abc", 3), -EINVAL);
    EXPECT_EQ(emit(event, "abcd", 4), 0);
    const std::string large(LANDTRACE_MAX_PAYLOAD + 1, 'x');
    EXPECT_EQ(emit(event, large.data(), large.size()), -E2BIG);
    EXPECT_EQ(emit(event, large.data(), large.size() - 1), 0);
    EXPECT_EQ(owner.domain().records().size(), 2u);
  });
}

TEST_F(EmissionTest, AnotherEventInTheSlotIsNotTheEvent) {
  in_child([&] {
    FakeOwner owner(path());
    owner.domain().publish(kSlot, {owner.domain().record()});
    landtrace_event event = event_of("done u32 id");
    ASSERT_EQ(find_backend(event), 0);
    ++owner.domain().control().events[kSlot].generation;
    EXPECT_EQ(emit(event, "four", 4), -EBADF);
    EXPECT_TRUE(owner.domain().records().empty());
  });
}

TEST_F(EmissionTest, AThreadWithoutAPlaceIsToldToTryAgain) {
  in_child([&] {
    FakeOwner owner(path());
    owner.domain().publish(kSlot, {owner.domain().record()});
    landtrace_event event = event_of("done u32 id");
    ASSERT_EQ(find_backend(event), 0);
    const auto tid = static_cast<std::uint32_t>(::syscall(SYS_gettid));
    for (plan::ThreadSlot& slot : owner.domain().data().threads) {
      slot = {.section = 0, .tid = tid, .pid = static_cast<std::uint32_t>(::getpid())};
    }
    EXPECT_EQ(emit(event, "four", 4), -EAGAIN);
  });
}

}  // namespace
}  // namespace landtrace::client
