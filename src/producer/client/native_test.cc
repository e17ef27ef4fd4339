// The C API of <landtrace/landtrace.h>, one call at a time.
#include <landtrace/landtrace.h>

#include <cstdlib>

#include "client/event_list.hpp"
#include "client/fake_owner.hpp"

namespace landtrace::client {
namespace {

using ipc::Operation;

class NativeApiTest : public ClientTest {
 protected:
  // Without the helper, so that nobody else asks the owner.
  void alone(const std::function<void()>& body) const {
    in_child([&] {
      ::setenv("LANDTRACE_HELPER", "0", 1);
      ::setenv("LANDTRACE_BACKEND", "domain", 1);
      body();
    });
  }
  landtrace_event event_ = LANDTRACE_EVENT_INIT;
};

TEST_F(NativeApiTest, FlagsThatNobodyKnowsAndNoDeclarationAreRefused) {
  alone([&] {
    FakeOwner owner(path());
    EXPECT_EQ(landtrace_register(&event_, nullptr, 0), -EINVAL);
    EXPECT_EQ(landtrace_register(&event_, "done", 0x10), -EINVAL);
    EXPECT_EQ(landtrace_register(&event_, "done", 0x8000), -EINVAL);  // of the library itself
    EXPECT_TRUE(owner.asked().empty());
    EXPECT_EQ(landtrace_register(&event_, "done", LANDTRACE_PERSIST | LANDTRACE_MULTI_FORMAT), 0);
    EXPECT_EQ(owner.asked(Operation::kRegisterNative)[0].request.d, 3u);
    EXPECT_TRUE(owner.asked(Operation::kDescribeStructs).empty());
  });
}

TEST_F(NativeApiTest, WhatIsSaidOfStructsFollowsTheDeclaration) {
  alone([&] {
    FakeOwner owner(path());
    ASSERT_EQ(landtrace_register(&event_, "done struct a f 4\0a 4{u32 x 0 4}", LANDTRACE_DESCRIBED), 0);
    const auto registered = owner.asked(Operation::kRegisterNative);
    EXPECT_EQ(registered[0].text, "done struct a f 4");
    EXPECT_EQ(registered[0].request.d, 0u) << "owners know no such flag";
    const auto described = owner.asked(Operation::kDescribeStructs);
    ASSERT_EQ(described.size(), 1u);
    EXPECT_EQ(described[0].request.a, kSlot);
    EXPECT_EQ(described[0].text, "a 4{u32 x 0 4}");
  });
}

TEST_F(NativeApiTest, AnOwnerThatDoesNotWantDescriptionsHasTheEventAllTheSame) {
  alone([&] {
    FakeOwner owner(path());
    owner.answer(Operation::kDescribeStructs, FakeAnswer::error(EINVAL));
    EXPECT_EQ(landtrace_register(&event_, "done struct a f 4\0a 4{u32 x 0 4}", LANDTRACE_DESCRIBED), 0);
    EXPECT_EQ(event_.backend, LANDTRACE_DOMAIN);
  });
}

TEST_F(NativeApiTest, RegisteringTwiceDoesNothing) {
  alone([&] {
    FakeOwner owner(path());
    EXPECT_EQ(landtrace_register(&event_, "done", 0), 0);
    EXPECT_EQ(landtrace_register(&event_, "other", 0), 0);
    EXPECT_EQ(owner.asked(Operation::kRegisterNative).size(), 1u);
    EXPECT_STREQ(event_.declaration, "done");
    EXPECT_EQ(landtrace_event_backend(&event_), LANDTRACE_DOMAIN);
  });
}

TEST_F(NativeApiTest, ARefusedEventIsNotRegistered) {
  alone([&] {
    FakeOwner owner(path());
    owner.answer(Operation::kRegisterNative, FakeAnswer::error(ENOSPC));
    EXPECT_EQ(landtrace_register(&event_, "done", 0), -ENOSPC);
    EXPECT_FALSE(is_listed(&event_));
    EXPECT_EQ(landtrace_unregister(&event_), -ENOENT);
    EXPECT_EQ(landtrace_attach(), 0);
  });
}

TEST_F(NativeApiTest, ARefusedEventThatIsToBeTriedAgainIsRegistered) {
  alone([&] {
    FakeOwner owner(path());
    landtrace_event other = LANDTRACE_EVENT_INIT;
    owner.answer(Operation::kRegisterNative, FakeAnswer::error(ENOSPC));
    EXPECT_EQ(landtrace_register(&event_, "done", LANDTRACE_RETRY), -ENOSPC);
    EXPECT_EQ(landtrace_register(&other, "other", LANDTRACE_RETRY | LANDTRACE_PERSIST), -ENOSPC);
    EXPECT_EQ(owner.asked(Operation::kRegisterNative).back().request.d, LANDTRACE_PERSIST)
        << "owners know no such flag";
    EXPECT_EQ(landtrace_event_backend(&event_), LANDTRACE_NONE);
    EXPECT_EQ(landtrace_emit(&event_, nullptr, 0), -EBADF);
    EXPECT_EQ(landtrace_unregister(&other), 0);
    EXPECT_EQ(landtrace_attach(), 0);
    owner.answer(Operation::kRegisterNative, [&](const Asked& one) { return owner.by_itself(one); });
    EXPECT_EQ(landtrace_attach(), 1);
    EXPECT_EQ(landtrace_event_backend(&event_), LANDTRACE_DOMAIN);
    EXPECT_EQ(landtrace_attach(), 0);
  });
}

TEST_F(NativeApiTest, AnInvalidEventIsNotTriedAgain) {
  alone([&] {
    FakeOwner owner(path());
    owner.answer(Operation::kRegisterNative, FakeAnswer::error(EINVAL));
    EXPECT_EQ(landtrace_register(&event_, "done", LANDTRACE_RETRY), -EINVAL);
    EXPECT_EQ(landtrace_unregister(&event_), -ENOENT);
  });
}

TEST_F(NativeApiTest, AnEventIsGivenBackToTheOwnerThatHasIt) {
  alone([&] {
    FakeOwner owner(path());
    owner.domain().publish(kSlot, {owner.domain().record()});
    ASSERT_EQ(landtrace_register(&event_, "done", 0), 0);
    EXPECT_EQ(landtrace_enabled(&event_), 1);
    EXPECT_EQ(landtrace_unregister(&event_), 0);
    const auto released = owner.asked(Operation::kReleaseNative);
    ASSERT_EQ(released.size(), 1u);
    EXPECT_EQ(released[0].request.a, kSlot);
    EXPECT_EQ(landtrace_enabled(&event_), 0);
    EXPECT_EQ(landtrace_event_backend(&event_), LANDTRACE_NONE);
    EXPECT_EQ(landtrace_unregister(&event_), -ENOENT);
  });
}

TEST_F(NativeApiTest, TheNextEventInTheSlotIsNotGivenBack) {
  alone([&] {
    FakeOwner owner(path());
    ASSERT_EQ(landtrace_register(&event_, "done", 0), 0);
    ++owner.domain().control().events[kSlot].generation;
    EXPECT_EQ(landtrace_unregister(&event_), 0);
    EXPECT_TRUE(owner.asked(Operation::kReleaseNative).empty());
  });
}

TEST_F(NativeApiTest, EventsThatFoundNobodyAreLookedAfterAgain) {
  alone([&] {
    landtrace_event other = LANDTRACE_EVENT_INIT;
    EXPECT_EQ(landtrace_register(&event_, "done", 0), 0);
    EXPECT_EQ(landtrace_register(&other, "other", 0), 0);
    EXPECT_EQ(landtrace_event_backend(&event_), LANDTRACE_NONE);
    EXPECT_EQ(landtrace_emit(&event_, nullptr, 0), -EBADF);
    EXPECT_EQ(landtrace_attach(), 0);
    FakeOwner owner(path());
    EXPECT_EQ(landtrace_attach(), 2);
    EXPECT_EQ(landtrace_attach(), 0);
    EXPECT_EQ(landtrace_event_backend(&other), LANDTRACE_DOMAIN);
  });
}

TEST_F(NativeApiTest, AttachJoinsTheNextOwner) {
  alone([&] {
    std::optional<FakeOwner> first(path());
    ASSERT_EQ(landtrace_register(&event_, "done", 0), 0);
    first->die();
    FakeOwner second(path());
    second.domain().publish(kSlot, {second.domain().record()});
    EXPECT_EQ(landtrace_attach(), 1);
    EXPECT_EQ(landtrace_enabled(&event_), 1);
    EXPECT_EQ(landtrace_emit(&event_, nullptr, 0), 0);
    EXPECT_EQ(second.domain().records().size(), 1u);
  });
}

TEST_F(NativeApiTest, VectorsAreAtMostSixtyFour) {
  alone([&] {
    FakeOwner owner(path());
    owner.domain().publish(kSlot, {owner.domain().record()});
    ASSERT_EQ(landtrace_register(&event_, "done", 0), 0);
    char four[] = "four";
    std::vector<iovec> vectors(65, iovec{four, 4});
    EXPECT_EQ(landtrace_emit(&event_, vectors.data(), 64), 0);
    EXPECT_EQ(landtrace_emit(&event_, vectors.data(), 65), -EINVAL);
    EXPECT_EQ(landtrace_emit(&event_, vectors.data(), -1), -EINVAL);
    // Together as little as is left when the sum has gone around.
    iovec huge[] = {{&event_, SIZE_MAX - 7}, {&event_, 16}};
    EXPECT_EQ(landtrace_emit(&event_, huge, 2), -EINVAL);
    EXPECT_EQ(landtrace_emit(&event_, huge, 1), -E2BIG);
    const auto records = owner.domain().records();
    ASSERT_EQ(records.size(), 1u);
    EXPECT_EQ(records[0].payload.size(), 64u * 4);
  });
}

TEST_F(NativeApiTest, AnEventThatIsHeldByNameIsNotTheKernels) {
  in_child([&] {
    ::setenv("LANDTRACE_BACKEND", "kernel", 1);
    ::setenv("LANDTRACE_TRACEFS", folder().c_str(), 1);
    EXPECT_EQ(hold_event(event_, "synthetic\0latency\0"), 0);
    EXPECT_EQ(landtrace_event_backend(&event_), LANDTRACE_NONE);
    EXPECT_EQ(event_.flags, kHeldByName);
  });
}

}  // namespace
}  // namespace landtrace::client
