#include "agent/agent.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csetjmp>
#include <csignal>
#include <cstring>

#include "agent/test_places.hpp"

// 4 bytes, then the next function's, then padding.
asm(R"(
  .text
  .p2align 4
  .globl lt_test_tiny
  .type lt_test_tiny, @function
lt_test_tiny:
  .cfi_startproc
  leaq (%rdi), %rax
  ret
  .cfi_endproc
  .size lt_test_tiny, . - lt_test_tiny
  .globl lt_test_behind_tiny
  .type lt_test_behind_tiny, @function
lt_test_behind_tiny:
  .cfi_startproc
  leaq 2(%rdi), %rax
  ret
  .cfi_endproc
  .size lt_test_behind_tiny, . - lt_test_behind_tiny
  .p2align 4
  .nops 16
)");
extern "C" std::uint64_t lt_test_tiny(std::uint64_t);
extern "C" std::uint64_t lt_test_behind_tiny(std::uint64_t);

namespace landtrace::agent {
namespace {

// Of the function or of the one behind it, with the jump by the padding, which is so far from the first one.
TestPlace tiny_place(std::uint64_t (*function)(std::uint64_t), std::int16_t padding = 16) {
  const auto* const address = reinterpret_cast<const char*>(function);
  const auto* const tiny = reinterpret_cast<const char*>(&lt_test_tiny);
  TestPlace place = test_place(address, Way::kOneStore, 4, kAtEntry | kNeverComesBack);
  if (function == lt_test_behind_tiny) {
    place.recipe.displaced = place.recipe.copy_size = 5;
    std::memcpy(place.recipe.copy, address, 5);
  }
  place.recipe.spring = static_cast<std::int16_t>(tiny + padding - address);
  std::memcpy(place.recipe.padding, tiny + padding, kJumpSize);
  return place;
}

class AgentTest : public testing::Test {
 protected:
  AgentTest() { use_test_handlers(); }
  Agent agent{Agent::OwnObject::kPatch};
};

TEST_F(AgentTest, AnEntryIsHandedOnAndTheFunctionWorksAsBefore) {
  const TestPlace place = add_one_place();
  const Outcome outcome = apply(agent, wanted(place, 1));
  ASSERT_EQ(outcome.state, PlaceState::kPatched) << text_of(outcome.reason);
  EXPECT_EQ(lt_test_add_one(41), 42u);
  EXPECT_EQ(test_hits[1].entries, 1u);
  EXPECT_EQ(test_hits[1].entry.value[kRdi], 41u);
  EXPECT_EQ(test_hits[1].entry.value[kRip], reinterpret_cast<std::uint64_t>(place.address));
}

TEST_F(AgentTest, WhatIsDroppedIsAsItWas) {
  const TestPlace place = add_one_place();
  apply(agent, wanted(place, 1));
  EXPECT_NE(std::memcmp(place.address, place.recipe.expected, 7), 0);
  drop(agent, {1});
  EXPECT_EQ(std::memcmp(place.address, place.recipe.expected, 7), 0);
  EXPECT_EQ(lt_test_add_one(1), 2u);
  EXPECT_EQ(test_hits[1].entries, 0u);
}

TEST_F(AgentTest, AFunctionOfFourBytesIsProbedOverPaddingNearBy) {
  const TestPlace place = tiny_place(lt_test_tiny);
  for (std::uint64_t i = 1; i <= 3; ++i) {
    const Outcome outcome = apply(agent, wanted(place, 1));
    ASSERT_EQ(outcome.state, PlaceState::kPatched) << text_of(outcome.reason);
    EXPECT_EQ(lt_test_tiny(41), 41u);
    EXPECT_EQ(lt_test_behind_tiny(41), 43u);
    EXPECT_EQ(test_hits[1].entries, i);
    drop(agent, {1});
    EXPECT_EQ(std::memcmp(place.address, place.recipe.expected, 9), 0);
    EXPECT_EQ(lt_test_tiny(1), 1u);
    EXPECT_EQ(test_hits[1].entries, i);
  }
  ASSERT_EQ(apply(agent, wanted(place, 1, kWantsEntry | kWantsReturn)).state, PlaceState::kPatched);
  EXPECT_EQ(lt_test_tiny(7), 7u);
  EXPECT_EQ(test_hits[1].returns, 1u);
}

TEST_F(AgentTest, PaddingServesOnePlaceAndMustBePadding) {
  ASSERT_EQ(apply(agent, wanted(tiny_place(lt_test_tiny), 1)).state, PlaceState::kPatched);
  EXPECT_EQ(apply(agent, wanted(tiny_place(lt_test_behind_tiny), 2)).reason, Reason::kOverlaps);
  EXPECT_EQ(apply(agent, wanted(tiny_place(lt_test_behind_tiny, 19), 3)).reason, Reason::kOverlaps);
  const TestPlace beside = tiny_place(lt_test_behind_tiny, 24);
  TestPlace other = beside;
  other.recipe.padding[0] ^= 1;
  EXPECT_EQ(apply(agent, wanted(other, 4)).reason, Reason::kBytesDiffer);
  TestPlace far = beside;
  far.recipe.spring = 200;
  EXPECT_EQ(apply(agent, wanted(far, 5)).reason, Reason::kRecipe);
  TestPlace crossing = tiny_place(lt_test_behind_tiny, 28);
  EXPECT_EQ(apply(agent, wanted(crossing, 6)).reason, Reason::kRecipe);
  ASSERT_EQ(apply(agent, wanted(beside, 7)).state, PlaceState::kPatched);
  EXPECT_EQ(lt_test_tiny(1) + lt_test_behind_tiny(1), 4u);
  EXPECT_EQ(test_hits[1].entries, 1u);
  EXPECT_EQ(test_hits[7].entries, 1u);
}

TEST_F(AgentTest, AnAgentThatGoesLeavesNoJumps) {
  const TestPlace place = add_one_place();
  {
    Agent another(Agent::OwnObject::kPatch);
    apply(another, wanted(place, 1));
  }
  EXPECT_EQ(std::memcmp(place.address, place.recipe.expected, 7), 0);
}

TEST_F(AgentTest, AllGeneralRegistersAreKeptAndShown) {
  ASSERT_EQ(apply(agent, wanted(registers_place(), 1, kWantsEntry | kWantsReturn)).state, PlaceState::kPatched);
  std::uint64_t values[30] = {};
  for (unsigned i = 0; i < 15; ++i) values[i] = 0x0101'0101'0101'0101 * (i + 1);
  lt_test_all_registers(values);
  for (unsigned i = 0; i < 15; ++i) {
    EXPECT_EQ(values[15 + i], values[i]) << i;
    EXPECT_EQ(test_hits[1].entry.value[i], values[i]) << i;
    EXPECT_EQ(test_hits[1].leave.value[i], values[i]) << i;
  }
  EXPECT_EQ(test_hits[1].entry.value[kRsp] + 8, test_hits[1].leave.value[kRsp]);
}

TEST_F(AgentTest, WhatTheCopyRefersToIsTheSame) {
  ASSERT_EQ(apply(agent, wanted(variable_place(), 1)).state, PlaceState::kPatched);
  EXPECT_EQ(lt_test_variable(), 1234u);
  EXPECT_EQ(test_hits[1].entries, 1u);
}

TEST_F(AgentTest, WithinAFunctionTheFlagsAndTheRedZoneAreKept) {
  ASSERT_EQ(apply(agent, wanted(middle_place(), 1)).state, PlaceState::kPatched);
  EXPECT_EQ(lt_test_middle(3), 8u);
  EXPECT_EQ(lt_test_middle(10), 10u);
  EXPECT_EQ(lt_test_middle(9), 14u);
  EXPECT_EQ(test_hits[1].entries, 3u);
  EXPECT_NE(test_hits[1].entry.value[kRflags] & 1, 0u) << "9 < 10 carries";
}

TEST_F(AgentTest, AlreadyPatchedPlacesChangeWhatTheyWant) {
  const TestPlace place = add_one_place();
  apply(agent, wanted(place, 1));
  ASSERT_EQ(apply(agent, wanted(place, 1, kWantsEntry | kWantsReturn)).state, PlaceState::kPatched);
  EXPECT_EQ(lt_test_add_one(1), 2u);
  EXPECT_EQ(test_hits[1].returns, 1u);
  apply(agent, wanted(place, 1, kWantsEntry));
  EXPECT_EQ(lt_test_add_one(1), 2u);
  EXPECT_EQ(test_hits[1].returns, 1u);
  EXPECT_EQ(test_hits[1].entries, 2u);
}

TEST_F(AgentTest, BytesThatDifferFromTheFilesAreRefused) {
  TestPlace place = add_one_place();
  place.recipe.expected[6] ^= 1;
  const Outcome outcome = apply(agent, wanted(place, 1));
  EXPECT_EQ(outcome.state, PlaceState::kRefused);
  EXPECT_EQ(outcome.reason, Reason::kBytesDiffer);
}

TEST_F(AgentTest, ARefusedRecipeIsRefused) {
  TestPlace place = add_one_place();
  place.recipe.way = Way::kRefused;
  place.recipe.refusal = Refusal::kTooShort;
  EXPECT_EQ(apply(agent, wanted(place, 1)).reason, Reason::kRecipe);
}

TEST_F(AgentTest, AReturnProbeThatTheRecipeRefusesStillLetsTheEntryBeProbed) {
  TestPlace place = add_one_place();
  place.recipe.refusal = Refusal::kSeesItsCaller;
  EXPECT_EQ(apply(agent, wanted(place, 1, kWantsReturn)).reason, Reason::kRecipe);
  EXPECT_EQ(apply(agent, wanted(place, 2, kWantsEntry)).state, PlaceState::kPatched);
}

TEST_F(AgentTest, PlacesThatOverlapAreRefused) {
  TestPlace first = push_place();
  first.recipe.copy_at[4] = 0;  // a place there would share its jump
  apply(agent, wanted(first, 1));
  TestPlace second = test_place(static_cast<const char*>(push_place().address) + 4, Way::kQuiet, 5, 0);
  EXPECT_EQ(apply(agent, wanted(second, 2)).reason, Reason::kOverlaps);
}

TEST_F(AgentTest, AnObjectThatIsNotMappedIsWaitedFor) {
  const TestPlace place = add_one_place();
  Wanted one = wanted(place, 1);
  one.object.inode += 12345;
  EXPECT_EQ(apply(agent, one).state, PlaceState::kWaiting);
}

TEST_F(AgentTest, TheObjectIsFoundByItsBuildIdWhenItsFileIsAnother) {
  const TestPlace place = add_one_place();
  Wanted one = wanted(place, 1);
  one.object.inode = 0;
  // Not every linker leaves one.
  const auto maps = read_maps();
  const Mapped* mapped = find(maps, reinterpret_cast<std::uint64_t>(place.address));
  std::string path = mapped->path;
  FILE* output = ::popen(("readelf -n " + path + " 2>/dev/null | sed -n 's/.*Build ID: //p'").c_str(), "r");
  char text[64] = {};
  const bool there = std::fgets(text, sizeof text, output) != nullptr;
  ::pclose(output);
  if (!there) GTEST_SKIP() << "no build id";
  for (unsigned i = 0; i < 20 && std::sscanf(text + std::size_t{2} * i, "%2hhx", &one.object.build_id[i]) == 1; ++i) {
    one.object.build_id_size = i + 1;
  }
  EXPECT_EQ(apply(agent, one).state, PlaceState::kPatched);
}

TEST_F(AgentTest, APatchedPlaceKeepsItsRecipe) {
  apply(agent, wanted(add_one_place(), 1));
  // Read from the patched bytes.
  apply(agent, wanted(add_one_place(), 1, kWantsEntry | kWantsReturn));
  EXPECT_EQ(lt_test_add_one(1), 2u);
  EXPECT_EQ(test_hits[1].returns, 1u);
}

TEST_F(AgentTest, OurOwnCodeIsRefused) {
  Agent careful;
  EXPECT_EQ(apply(careful, wanted(add_one_place(), 1)).reason, Reason::kOwnCode);
  agent.keep_off(reinterpret_cast<const void*>(&lt_test_add_one));
  EXPECT_EQ(apply(agent, wanted(add_one_place(), 1)).reason, Reason::kOwnCode);
}

void call_add_one() { lt_test_add_one(0); }

TEST_F(AgentTest, AHitWithinAHandlerIsMissed) {
  apply(agent, wanted(add_one_place(), 1));
  apply(agent, wanted(variable_place(), 2));
  test_hits[2].within = call_add_one;
  lt_test_variable();
  EXPECT_EQ(test_hits[1].entries, 0u);
  EXPECT_EQ(agent.missed(1), 1u);
  EXPECT_EQ(test_hits[1].missed_entries, 1u);
  EXPECT_EQ(test_hits[1].missed_returns, 0u);
  lt_test_add_one(0);
  EXPECT_EQ(test_hits[1].entries, 1u);
}

void interrupt() { std::raise(SIGUSR1); }
void on_signal(int) { lt_test_add_one(0); }

TEST_F(AgentTest, ASignalHandlerThatInterruptsAHandlerMissesItsHits) {
  apply(agent, wanted(add_one_place(), 1));
  apply(agent, wanted(variable_place(), 2));
  std::signal(SIGUSR1, on_signal);
  test_hits[2].within = interrupt;
  lt_test_variable();
  std::signal(SIGUSR1, SIG_DFL);
  EXPECT_EQ(test_hits[1].entries, 0u);
  EXPECT_EQ(agent.missed(1), 1u);
}

sigjmp_buf to_the_test;
void jump_away(int) { siglongjmp(to_the_test, 1); }

[[gnu::noinline]] void hit_deep_down(unsigned depth) {
  volatile char room[512];
  for (auto& byte : room) byte = static_cast<char>(depth);
  if (depth != 0) {
    hit_deep_down(depth - 1);
  } else {
    lt_test_add_one(0);
  }
  room[0] = 1;
}

TEST_F(AgentTest, AHandlerThatIsLeftByLongjmpDoesNotSilenceTheThread) {
  apply(agent, wanted(add_one_place(), 1));
  apply(agent, wanted(variable_place(), 2));
  std::signal(SIGUSR1, jump_away);
  test_hits[2].within = interrupt;
  if (sigsetjmp(to_the_test, 1) == 0) lt_test_variable();
  std::signal(SIGUSR1, SIG_DFL);
  hit_deep_down(20);
  EXPECT_EQ(test_hits[1].entries, 1u);
  lt_test_add_one(0);
  EXPECT_EQ(test_hits[1].entries, 2u);
}

TEST_F(AgentTest, ChildrenKeepTheirProbes) {
  apply(agent, wanted(add_one_place(), 1, kWantsEntry | kWantsReturn));
  const pid_t child = ::fork();
  if (child == 0) {
    agent.after_fork();
    bool good = lt_test_add_one(1) == 2 && test_hits[1].entries == 1 && test_hits[1].returns == 1;
    // And can have others, without touching the parent's memory.
    good = good && apply(agent, wanted(variable_place(), 2)).state == PlaceState::kPatched;
    good = good && lt_test_variable() == 1234 && test_hits[2].entries == 1;
    drop(agent, {1});
    good = good && lt_test_add_one(1) == 2 && test_hits[1].entries == 1;
    ::_exit(good ? 0 : 1);
  }
  // What the parent changes meanwhile is nothing to the child.
  drop(agent, {1});
  apply(agent, wanted(push_place(), 3));
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(lt_test_add_one(1), 2u);
  EXPECT_EQ(test_hits[1].entries, 0u);
}

TEST_F(AgentTest, PatchingAgainAndAgainTakesNoMoreMemory) {
  apply(agent, wanted(add_one_place(), 1));
  const std::uint64_t before = agent.counters().stub_memory;
  for (unsigned i = 0; i < 1000; ++i) {
    drop(agent, {1});
    ASSERT_EQ(apply(agent, wanted(add_one_place(), 1)).state, PlaceState::kPatched);
  }
  EXPECT_EQ(agent.counters().stub_memory, before);
  lt_test_add_one(0);
  EXPECT_EQ(test_hits[1].entries, 1u);
}

}  // namespace
}  // namespace landtrace::agent
