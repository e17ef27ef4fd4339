#include "client/own_frames.hpp"

#include <gtest/gtest.h>

#include "client/fake_owner.hpp"
#include "plan/stack.hpp"

namespace landtrace::client {
namespace {

// Functions that the compiler neither moves into one another nor leaves by a jump.
struct Stack {
  std::uint64_t frames[unwind::kMaxFrames];
  std::uint32_t count;
};
[[gnu::noinline]] void tracer(const plan::TestDomain& domain, Stack& stack) {
  stack.count = plan::capture_stack(domain.view(), domain.thread(), stack.frames, unwind::kMaxFrames);
  asm volatile("" ::: "memory");
}
[[gnu::noinline]] void between(const plan::TestDomain& domain, Stack& stack) {
  tracer(domain, stack);
  asm volatile("" ::: "memory");
}
[[gnu::noinline]] std::uint32_t depth(const plan::TestDomain& domain) {
  Stack stack{};
  between(domain, stack);
  asm volatile("" ::: "memory");
  return stack.count;
}

template <typename Function>
const void* address_of(Function* function) {
  return reinterpret_cast<const void*>(function);
}

class OwnFramesTest : public ClientTest {};

TEST_F(OwnFramesTest, WhatIsNamedAndWhatItCallsAreLeftOut) {
  in_child([] {
    const plan::TestDomain domain;
    const std::uint32_t whole = depth(domain);
    ASSERT_GE(whole, 3u);
    add_own_frames({address_of(&tracer)});
    const std::uint32_t without_tracer = depth(domain);
    EXPECT_LT(without_tracer, whole);
    add_own_frames({address_of(&between)});
    EXPECT_EQ(depth(domain), without_tracer - 1);
  });
}

TEST_F(OwnFramesTest, EachIsKnownOnceAndThereAreFew) {
  in_child([] {
    const plan::TestDomain domain;
    static constexpr char kNowhere[16] = {};
    const std::uint32_t whole = depth(domain);
    for (int i = 0; i < 100; ++i) add_own_frames({kNowhere});
    for (int i = 0; i < 14; ++i) add_own_frames({kNowhere + i});
    add_own_frames({address_of(&tracer)});  // the fifteenth
    EXPECT_LT(depth(domain), whole);
    add_own_frames({kNowhere + 14});
    const std::uint32_t full = depth(domain);
    add_own_frames({address_of(&between)});
    EXPECT_EQ(depth(domain), full);
  });
}

}  // namespace
}  // namespace landtrace::client
