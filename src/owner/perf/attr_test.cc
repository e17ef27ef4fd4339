// What programs of other ages pass as their attr, and what is refused.
#include "perf/attr.hpp"

#include <gtest/gtest.h>

#include <cstring>

namespace landtrace::perf {
namespace {

struct Passed {
  alignas(8) char bytes[4096] = {};
  explicit Passed(std::uint32_t size) {
    auto& attr = *reinterpret_cast<perf_event_attr*>(bytes);
    attr.type = PERF_TYPE_TRACEPOINT;
    attr.size = size;
    attr.config = 77;
  }
};

TEST(AttrTest, AnOlderOneIsFilledUp) {
  Passed passed(PERF_ATTR_SIZE_VER0);
  std::memset(passed.bytes + PERF_ATTR_SIZE_VER0, 0xff, 64);
  const auto attr = read_attr(passed.bytes);
  ASSERT_TRUE(attr);
  EXPECT_EQ(attr->config, 77u);
  EXPECT_EQ(attr->branch_sample_type, 0u);
  Passed sizeless(0);
  EXPECT_TRUE(read_attr(sizeless.bytes));
}

TEST(AttrTest, ANewerOneMayNotWantWhatIsNotKnown) {
  Passed passed(sizeof(perf_event_attr) + 16);
  EXPECT_TRUE(read_attr(passed.bytes));
  passed.bytes[sizeof(perf_event_attr) + 3] = 1;
  EXPECT_EQ(read_attr(passed.bytes).error().code, E2BIG);
  EXPECT_EQ(reinterpret_cast<perf_event_attr*>(passed.bytes)->size, sizeof(perf_event_attr));
}

TEST(AttrTest, SizesThatNoneHasAreRefused) {
  for (const std::uint32_t size : {8u, 63u, 4097u, ~0u}) {
    Passed passed(size);
    EXPECT_EQ(read_attr(passed.bytes).error().code, E2BIG) << size;
  }
  EXPECT_EQ(read_attr(nullptr).error().code, EFAULT);
  EXPECT_EQ(read_attr(reinterpret_cast<void*>(64)).error().code, EFAULT);
}

TEST(AttrTest, WhatIsNotKnownIsRefused) {
  perf_event_attr attr{};
  EXPECT_TRUE(check_attr(attr));
  attr.sample_type = PERF_SAMPLE_MAX;
  EXPECT_EQ(check_attr(attr).error().code, EINVAL);
  attr = {};
  attr.read_format = 1u << 5;
  EXPECT_EQ(check_attr(attr).error().code, EINVAL);
  attr = {};
  attr.remove_on_exec = attr.enable_on_exec = 1;
  EXPECT_EQ(check_attr(attr).error().code, EINVAL);
  attr = {};
  attr.inherit_thread = 1;
  EXPECT_EQ(check_attr(attr).error().code, EINVAL);
  attr.inherit = 1;
  EXPECT_TRUE(check_attr(attr));
  attr = {};
  attr.sample_period = 1ull << 63;
  EXPECT_EQ(check_attr(attr).error().code, EINVAL);
}

// errno of an attr that `set` has changed; 0: it is fine.
template <typename Set>
int answer_to(const Set& set) {
  perf_event_attr attr{};
  attr.sample_period = 1;
  set(attr);
  const auto checked = check_attr(attr);
  return checked ? 0 : checked.error().code;
}

TEST(AttrTest, WhatASoftwareEventOfTheKernelRefusesIsRefused) {
  using Attr = perf_event_attr;
  EXPECT_EQ(answer_to([](Attr& a) { a.__reserved_2 = 1; }), EINVAL);
  EXPECT_EQ(answer_to([](Attr& a) { a.__reserved_3 = 1; }), EINVAL);
  EXPECT_EQ(answer_to([](Attr& a) { a.freq = 1, a.sample_freq = 100'000'000; }), EINVAL);
  EXPECT_EQ(answer_to([](Attr& a) { a.freq = 1, a.sample_freq = 99; }), 0);
  EXPECT_EQ(answer_to([](Attr& a) { a.sample_type = PERF_SAMPLE_STACK_USER, a.sample_stack_user = 7; }), EINVAL);
  EXPECT_EQ(answer_to([](Attr& a) { a.sample_type = PERF_SAMPLE_STACK_USER, a.sample_stack_user = 64; }), 0);
  EXPECT_EQ(answer_to([](Attr& a) { a.sample_type = PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT; }), EINVAL);
  EXPECT_EQ(answer_to([](Attr& a) { a.sample_type = PERF_SAMPLE_BRANCH_STACK; }), EINVAL);
  EXPECT_EQ(answer_to([](Attr& a) {
              a.sample_type = PERF_SAMPLE_BRANCH_STACK;
              a.branch_sample_type = PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_ANY;
            }),
            EOPNOTSUPP);
  EXPECT_EQ(answer_to([](Attr& a) { a.sample_type = PERF_SAMPLE_REGS_USER; }), EINVAL);
  EXPECT_EQ(answer_to([](Attr& a) { a.sample_type = PERF_SAMPLE_REGS_USER, a.sample_regs_user = 0xff; }), 0);
  EXPECT_EQ(answer_to([](Attr& a) { a.aux_output = 1; }), EOPNOTSUPP);
  EXPECT_EQ(answer_to([](Attr& a) { a.sigtrap = 1; }), EINVAL);
  EXPECT_EQ(answer_to([](Attr& a) { a.sigtrap = a.remove_on_exec = 1; }), 0);
  EXPECT_EQ(answer_to([](Attr& a) { a.sample_type = PERF_SAMPLE_CALLCHAIN, a.sample_max_stack = 60'000; }), EOVERFLOW);
  EXPECT_EQ(answer_to([](Attr& a) { a.sample_max_stack = 60'000; }), 0);
}

}  // namespace
}  // namespace landtrace::perf
