#include "language/histogram/plan_builder.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>

namespace landtrace::language {

using namespace ops;
using namespace values;
namespace {

HistPlanDescription simple() {
  HistPlanDescription what;
  what.keys.push_back(number({field(0, 4)}));
  return what;
}

hist::HistPlan built(const HistPlanDescription& what) {
  const auto shape = shape_of(what);
  EXPECT_TRUE(shape);
  hist::HistPlan plan;
  std::memcpy(&plan, build_hist_plan(what, *shape, 0).data(), sizeof plan);
  return plan;
}

int refusal(const HistPlanDescription& what) {
  const auto shape = shape_of(what);
  return shape ? 0 : shape.error().code;
}

TEST(HistPlanBuilderTest, OneNumberAndOneValueTakeACacheLine) {
  HistPlanDescription what = simple();
  what.values.push_back(number({field(8, 8)}));
  what.elements = hist::kMaxElements;
  const auto shape = shape_of(what);
  ASSERT_TRUE(shape);
  EXPECT_EQ(shape->layout.stride, 64u);
  EXPECT_EQ(shape->layout.elements_at % 64, 0u);
  EXPECT_LE(shape->layout.bytes, 96u << 20);
}

TEST(HistPlanBuilderTest, PartsOfAnElementDoNotOverlap) {
  HistPlanDescription what = simple();
  what.has_comm = true;
  what.values = {number({constant(1)}), number({constant(2)})};
  what.variables = {number({constant(1)}), static_text(0, 8), thread_stack(), number({constant(2)})};
  HistActionDescription save;
  save.handler = hist::Handler::kOnMax;
  save.deed = hist::Deed::kSave;
  save.tracked = number({variable(0)});
  save.params = {{comm(), 0, 0, false}, {number({cpu()}), 0, 0, false}};
  what.actions.push_back(save);
  const auto shape = shape_of(what);
  ASSERT_TRUE(shape);
  std::vector<bool> used(shape->layout.stride);
  const auto use = [&](std::uint32_t at, std::uint32_t size) {
    ASSERT_LE(at + size, shape->layout.stride);
    for (std::uint32_t i = at; i < at + size; ++i) {
      EXPECT_FALSE(used[i]) << i;
      used[i] = true;
    }
  };
  const auto size_of = [](hist::ValueType type) {
    return type == hist::ValueType::kNumber ? 8u : type == hist::ValueType::kText ? hist::kTextSize : hist::kStackSize;
  };
  use(0, shape->layout.key_size);
  use(shape->layout.hitcount_at(), 8);
  use(shape->layout.sums_at(), 16);
  use(shape->layout.comm_at, hist::kCommSize);
  for (const hist::Place& place : shape->variables) {
    use(place.at, size_of(place.type));
    use(place.set_at, 1);
    EXPECT_EQ(place.at % 8, 0u);
  }
  use(shape->actions[0].tracked_at, 8);
  use(shape->actions[0].saved_at, 1);
  for (const hist::Place& place : shape->actions[0].saved) use(place.at, size_of(place.type));
}

TEST(HistPlanBuilderTest, EqualDescriptionsHaveEqualShapesWhereverTheirFieldsLie) {
  HistPlanDescription other = simple();
  other.keys[0] = number({field(40, 2, true)});
  EXPECT_EQ(*shape_of(simple()), *shape_of(other));
  other.values.push_back(number({constant(1)}));
  EXPECT_NE(*shape_of(simple()), *shape_of(other));
}

TEST(HistPlanBuilderTest, WhatCannotBeComputedIsRefused) {
  EXPECT_EQ(refusal(simple()), 0);
  const HistExpression wrong[] = {
      {},
      {constant(1), constant(2)},
      {op(hist::OpCode::kAdd)},
      {constant(1), op(hist::OpCode::kAdd)},
      {op(hist::OpCode::kNegate)},
      {bucket(0)},
      {constant(1), bucket(0)},
      {steps(32)},
      {constant(1), {hist::OpCode::kLog2, 8, false, 0, 0, 63}},
      {field(0, 3)},
      {field(0, 16)},
      {header(6, 4)},
      {reference(0)},
      {variable(0)},
      {timestamp(1, 0)},
      HistExpression(hist::kMaxStack + 1, constant(1)),
  };
  for (const HistExpression& expression : wrong) {
    HistPlanDescription what = simple();
    what.values.push_back(number(expression));
    EXPECT_EQ(refusal(what), EINVAL);
  }
}

TEST(HistPlanBuilderTest, PlainIsWhatNeedsOneFieldAsKeyAndFieldsAsValues) {
  HistPlanDescription what = simple();
  EXPECT_TRUE(built(what).is_plain);
  what.values = {number({field(8, 8)}), number({field(4, 2, true)})};
  EXPECT_TRUE(built(what).is_plain);
  const std::pair<const char*, std::function<void(HistPlanDescription&)>> others[] = {
      {"two keys", [](auto& w) { w.keys.push_back(w.keys[0]); }},
      {"a key that is a text", [](auto& w) { w.keys[0] = static_text(0, 8); }},
      {"… a stack", [](auto& w) { w.keys[0] = thread_stack(); }},
      {"… computed", [](auto& w) { w.keys[0] = number({field(0, 4), bucket(10)}); }},
      {"… the CPU", [](auto& w) { w.keys[0] = number({cpu()}); }},
      {"… of the header", [](auto& w) { w.keys[0] = number({header(4, 4)}); }},
      {"a value that is the time", [](auto& w) { w.values[1] = number({timestamp(1, 1)}); }},
      {"… computed", [](auto& w) { w.values[1] = number({field(0, 4), op(hist::OpCode::kNegate)}); }},
      {"a variable", [](auto& w) { w.variables = {number({field(0, 4)})}; }},
      {"a reference", [](auto& w) { w.references.push_back({}); }},
      {"an action", [](auto& w) { w.actions.push_back({}); }},
      {"names", [](auto& w) { w.has_comm = true; }}};
  for (const auto& [name, change] : others) {
    HistPlanDescription other = what;
    change(other);
    EXPECT_FALSE(built(other).is_plain) << name;
  }
}

TEST(HistPlanBuilderTest, WhetherItLooksAtTheTimeIsSaid) {
  HistPlanDescription what = simple();
  EXPECT_FALSE(built(what).uses_time);
  what.variables = {number({cpu()}), number({constant(1), timestamp(1, 1000), op(hist::OpCode::kAdd)})};
  EXPECT_TRUE(built(what).uses_time);
}

TEST(HistPlanBuilderTest, AVariableIsKnownOnlyToThoseBehindIt) {
  HistPlanDescription what = simple();
  what.variables = {number({constant(1)}), number({variable(0)})};
  EXPECT_EQ(refusal(what), 0);
  what.variables = {number({variable(1)}), number({constant(1)})};
  EXPECT_EQ(refusal(what), EINVAL);
  what.variables = {number({variable(0)})};
  EXPECT_EQ(refusal(what), EINVAL);
}

TEST(HistPlanBuilderTest, SizesAreBounded) {
  HistPlanDescription what = simple();
  for (const std::uint32_t elements : {0u, 64u, 129u, 2 * hist::kMaxElements}) {
    what.elements = elements;
    EXPECT_EQ(refusal(what), EINVAL) << elements;
  }
  what = simple();
  what.keys = {dynamic(hist::ValueType::kText, hist::Origin::kDataLoc, 0), thread_stack()};
  EXPECT_EQ(refusal(what), 0);
  what.keys.push_back(number({constant(1)}));
  EXPECT_EQ(refusal(what), EINVAL);
  what.keys.clear();
  EXPECT_EQ(refusal(what), EINVAL);
}

TEST(HistPlanBuilderTest, AFieldOfASyntheticEventLiesInIt) {
  HistPlanDescription what = simple();
  HistActionDescription trace;
  trace.fixed_size = 16;
  trace.params = {{number({constant(1)}), 8, 8, false}};
  what.actions = {trace};
  EXPECT_EQ(refusal(what), 0);
  what.actions[0].params[0].at = 16;
  EXPECT_EQ(refusal(what), EINVAL);
  what.actions[0].params[0].at = 4;
  EXPECT_EQ(refusal(what), EINVAL);
  what.actions[0].params[0] = {static_text(0, 8), 0, 17, false};
  EXPECT_EQ(refusal(what), EINVAL);
  what.actions[0].params.assign(20, {static_text(0, 8), 0, 8, true});
  EXPECT_EQ(refusal(what), E2BIG);
}

}  // namespace
}  // namespace landtrace::language
