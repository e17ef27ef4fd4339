#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <string>

#include "agent/agent.hpp"
#include "agent/test_places.hpp"

// Three places of one byte in a row; and one behind which, not before which, there is no room, with flags and a word of
// the red zone that are used behind it.
asm(R"(
  .text
  .p2align 6
  .nops 5
  .globl lt_test_row
  .type lt_test_row, @function
lt_test_row:
  .cfi_startproc
  movq %rdi, %rax
  .globl lt_test_row_places
lt_test_row_places:
  nop
  nop
  nop
  addq $1, %rax
  ret
  .cfi_endproc
  .size lt_test_row, . - lt_test_row
  .p2align 6
  .globl lt_test_lead
  .type lt_test_lead, @function
lt_test_lead:
  .cfi_startproc
  cmpq $10, %rdi
  movq %rdi, -8(%rsp)
  .globl lt_test_lead_place
lt_test_lead_place:
  nop
  leaq 5(%rdi), %rax
  cmovaeq -8(%rsp), %rax
  ret
  .cfi_endproc
  .size lt_test_lead, . - lt_test_lead
  .p2align 6
  .globl lt_test_words
  .type lt_test_words, @function
lt_test_words:
  .cfi_startproc
  movq lt_test_first_word(%rip), %rax
  nop
  addq lt_test_second_word(%rip), %rax
  ret
  .cfi_endproc
  .size lt_test_words, . - lt_test_words
  .data
  .p2align 3
  .globl lt_test_first_word
  .globl lt_test_second_word
lt_test_first_word: .8byte 1000
lt_test_second_word: .8byte 234
  .text
)");
extern "C" std::uint64_t lt_test_words();
extern "C" const std::uint64_t lt_test_first_word, lt_test_second_word;
extern "C" std::uint64_t lt_test_row(std::uint64_t);
extern "C" const char lt_test_row_places[];
extern "C" std::uint64_t lt_test_lead(std::uint64_t);
extern "C" const char lt_test_lead_place[];

namespace landtrace::agent {
namespace {

constexpr std::uint32_t kRow = 3;

// The place with that index, whose jump takes what is behind it.
TestPlace row_place(std::uint32_t index) {
  TestPlace place = test_place(lt_test_row_places + index, Way::kQuiet, static_cast<std::uint8_t>(7 - index), 0);
  for (std::uint8_t at = 0; at <= kRow - index; ++at) place.recipe.copy_at[at] = at;
  return place;
}
TestPlace lead_place() {
  TestPlace place = test_place(lt_test_lead_place - 5, Way::kQuiet, 6, 0);
  place.recipe.lead = 5;
  place.recipe.copy_at[5] = 5;
  return place;
}

// Both words are relative to where the code is: before the place, and behind it.
TestPlace words_place() {
  const auto* const address = reinterpret_cast<const char*>(&lt_test_words);
  TestPlace place = test_place(address, Way::kQuiet, 7 + 1 + 7, 0);
  place.recipe.lead = 7;
  place.recipe.copy_at[7] = 7;
  place.recipe.copy_at[8] = 8;
  const auto distance = [address](const std::uint64_t& word) {
    return static_cast<std::int32_t>(reinterpret_cast<const char*>(&word) - address);
  };
  place.recipe.fixup_count = 2;
  place.recipe.fixups[0] = {distance(lt_test_first_word), 3, 7, FixupKind::kRelative32, 0};
  place.recipe.fixups[1] = {distance(lt_test_second_word), 8 + 3, 15, FixupKind::kRelative32, 0};
  return place;
}

class CrowdedTest : public testing::Test {
 protected:
  CrowdedTest() { use_test_handlers(); }
  ~CrowdedTest() override { EXPECT_EQ(lt_test_row(41), 42u); }
  Outcome want(std::uint32_t index, std::int64_t counter = 0) {
    Wanted one = wanted(places[index], index + 1);
    one.counter = counter;
    return apply(agent, one);
  }
  // How often each was hit by one call.
  std::string hits() {
    std::uint64_t before[kRow];
    for (std::uint32_t i = 0; i < kRow; ++i) before[i] = test_hits[i + 1].entries;
    EXPECT_EQ(lt_test_row(41), 42u);
    std::string text;
    for (std::uint32_t i = 0; i < kRow; ++i) text += std::to_string(test_hits[i + 1].entries - before[i]);
    return text;
  }
  static bool is_as_it_was() {
    const std::uint8_t bytes[] = {0x90, 0x90, 0x90, 0x48, 0x83, 0xc0, 0x01, 0xc3};
    return std::memcmp(lt_test_row_places, bytes, sizeof bytes) == 0;
  }

  // As long as nothing is patched.
  const TestPlace places[kRow] = {row_place(0), row_place(1), row_place(2)};
  Agent agent{Agent::OwnObject::kPatch};
};

TEST_F(CrowdedTest, PlacesInARowShareAJump) {
  std::vector<Wanted> all;
  for (std::uint32_t i = 0; i < kRow; ++i) all.push_back(wanted(places[i], i + 1));
  std::vector<Outcome> outcomes(kRow);
  agent.apply(all, outcomes);
  for (const Outcome& outcome : outcomes) EXPECT_EQ(outcome.state, PlaceState::kPatched) << text_of(outcome.reason);
  EXPECT_EQ(hits(), "111");
  for (std::uint32_t i = 0; i < kRow; ++i) {
    EXPECT_EQ(test_hits[i + 1].entry.value[kRip], reinterpret_cast<std::uint64_t>(lt_test_row_places + i));
    EXPECT_EQ(test_hits[i + 1].entry.value[kRdi], 41u);
  }
  drop(agent, {1});
  EXPECT_EQ(hits(), "011");
  drop(agent, {3});
  EXPECT_EQ(hits(), "010");
  EXPECT_FALSE(is_as_it_was());
  drop(agent, {2});
  EXPECT_TRUE(is_as_it_was());
  EXPECT_EQ(hits(), "000");
}

TEST_F(CrowdedTest, InWhateverOrderTheyComeAndGo) {
  std::uint32_t order[] = {0, 1, 2};
  do {
    std::string expected = "000";
    for (const std::uint32_t index : order) {
      const Outcome outcome = want(index);
      EXPECT_EQ(outcome.state, PlaceState::kPatched) << text_of(outcome.reason);
      expected[index] = '1';
      EXPECT_EQ(hits(), expected);
    }
    // The first that came goes and comes back.
    drop(agent, {order[0] + 1});
    want(order[0]);
    EXPECT_EQ(hits(), "111");
    for (const std::uint32_t index : order) {
      drop(agent, {index + 1});
      expected[index] = '0';
      EXPECT_EQ(hits(), expected);
    }
    EXPECT_TRUE(is_as_it_was());
  } while (std::next_permutation(std::begin(order), std::end(order)));
  const std::uint64_t memory = agent.counters().stub_memory;
  for (int i = 0; i < 100; ++i) {
    want(0);
    want(2);
    drop(agent, {3, 1});
  }
  EXPECT_EQ(agent.counters().stub_memory, memory);
}

TEST_F(CrowdedTest, EachCountsForItself) {
  alignas(2) static std::uint16_t counter = 0;
  const auto distance = [](std::uint32_t index) {
    return static_cast<std::int64_t>(reinterpret_cast<std::uint64_t>(&counter) -
                                     reinterpret_cast<std::uint64_t>(lt_test_row_places + index));
  };
  for (const std::uint32_t index : {1u, 0u, 2u}) want(index, distance(index));
  EXPECT_EQ(counter, 3);
  want(1, 0);
  EXPECT_EQ(counter, 2);
  drop(agent, {1, 3});
  EXPECT_EQ(counter, 0);
  EXPECT_EQ(hits(), "010");
  {
    Agent other{Agent::OwnObject::kPatch};
    drop(agent, {2});
    Wanted one = wanted(places[0], 1);
    one.counter = distance(0);
    ASSERT_EQ(apply(other, one).state, PlaceState::kPatched);
    EXPECT_EQ(counter, 1);
  }
  EXPECT_EQ(counter, 0);  // an agent that goes leaves none
}

TEST_F(CrowdedTest, WhatIsRelativeIsSoOnBothSidesOfAHit) {
  const TestPlace place = words_place();
  ASSERT_EQ(apply(agent, wanted(place, 1)).state, PlaceState::kPatched);
  EXPECT_EQ(lt_test_words(), 1234u);
  EXPECT_EQ(test_hits[1].entries, 1u);
  EXPECT_EQ(test_hits[1].entry.value[kRax], 1000u);
  EXPECT_EQ(test_hits[1].entry.value[kRip], reinterpret_cast<std::uint64_t>(place.address) + 7);
}

TEST_F(CrowdedTest, AJumpMayBeginBeforeThePlace) {
  const TestPlace place = lead_place();
  for (int i = 1; i <= 3; ++i) {
    const Outcome outcome = apply(agent, wanted(place, 1));
    ASSERT_EQ(outcome.state, PlaceState::kPatched) << text_of(outcome.reason);
    EXPECT_EQ(lt_test_lead(3), 8u);
    EXPECT_EQ(lt_test_lead(30), 30u);
    EXPECT_EQ(test_hits[1].entries, 2u * static_cast<unsigned>(i));
    EXPECT_EQ(test_hits[1].entry.value[kRip], reinterpret_cast<std::uint64_t>(lt_test_lead_place));
    drop(agent, {1});
    EXPECT_EQ(*lt_test_lead_place, '\x90');
    EXPECT_EQ(lt_test_lead(30), 30u);
  }
}

}  // namespace
}  // namespace landtrace::agent
