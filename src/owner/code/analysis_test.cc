#include "code/analysis.hpp"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <exception>
#include <set>

#include "code/caller_sensitive.hpp"
#include "code/refusal.hpp"

namespace landtrace::code::test {

int catches(int (*thrower)());

namespace {

using agent::Recipe;
using agent::Refusal;
using agent::Way;

class AnalysisTest : public testing::Test {
 protected:
  static Analysis& own() {
    static Analysis analysis = *Analysis::open("/proc/self/exe");
    return analysis;
  }
  static const Function& function(std::string_view name) {
    for (const Function& one : own().functions()) {
      for (const std::string_view known : own().names(one)) {
        if (known == name) return one;
      }
    }
    ADD_FAILURE() << name << " is not found";
    return own().functions()[0];
  }
  static Recipe at(std::string_view name, std::uint64_t offset = 0) {
    return own().recipe(own().offset_of(function(name)) + offset);
  }
  static Refusal refusal(std::string_view name, std::uint64_t offset = 0) {
    const Recipe recipe = at(name, offset);
    return recipe.way == Way::kRefused ? recipe.refusal : Refusal::kNone;
  }
  static Refusal return_refusal(std::string_view name) { return own().return_refusal(own().offset_of(function(name))); }
};

TEST_F(AnalysisTest, AFirstInstructionOf5BytesIsReplacedByOneStore) {
  const Recipe recipe = at("landtest_one_store");
  EXPECT_EQ(recipe.way, Way::kOneStore);
  EXPECT_EQ(recipe.refusal, Refusal::kNone);
  EXPECT_EQ(recipe.displaced, 5);
  EXPECT_EQ(recipe.flags, agent::kAtEntry);
  EXPECT_EQ(recipe.copy_size, 5);
  const std::uint8_t expected[] = {0xb8, 0x78, 0x56, 0x34, 0x12, 0xc3};
  EXPECT_EQ(std::memcmp(recipe.expected, expected, sizeof expected), 0);
  EXPECT_EQ(std::memcmp(recipe.copy, expected, 5), 0);
}

TEST_F(AnalysisTest, ShortInstructionsNeedThatNoThreadStandsBetweenThem) {
  const Recipe recipe = at("landtest_quiet");
  EXPECT_EQ(recipe.way, Way::kQuiet);
  EXPECT_EQ(recipe.displaced, 1 + 3 + 4);
  EXPECT_EQ(recipe.copy_size, 8);
}

TEST_F(AnalysisTest, WherePathsMeetBehindAPlaceTheJumpBeginsBeforeIt) {
  constexpr std::uint64_t kPlace = 2 + 2 + 3;
  const Recipe recipe = at("landtest_last_of_if", kPlace);
  EXPECT_EQ(recipe.way, Way::kQuiet);
  EXPECT_EQ(recipe.lead, 2 + 3);  // je and addl, of 5 bytes
  EXPECT_EQ(recipe.displaced, 2 + 3 + 1);
  EXPECT_EQ(recipe.expected[0], 0x74);
  EXPECT_EQ(recipe.expected[5], 0x90);
  EXPECT_EQ(recipe.copy_at[0], 0);
  EXPECT_EQ(recipe.copy[recipe.copy_at[2]], 0x83);
  EXPECT_EQ(recipe.copy[recipe.hit_at()], 0x90);
  EXPECT_EQ(recipe.hit_at(), recipe.copy_at[5]);
  EXPECT_EQ(recipe.flags, 0);
  EXPECT_EQ(refusal("landtest_behind_call", 2 + 2 + 5), Refusal::kJumpTarget);
  EXPECT_EQ(at("landtest_last_of_if").lead, 0);
}

TEST_F(AnalysisTest, BytesThatCross8AlignedOnesNeedThatThereIsNoOtherThread) {
  EXPECT_EQ(at("landtest_alone").way, Way::kAlone);
}

TEST_F(AnalysisTest, PaddingBehindAFunctionMayBeOverwritten) {
  const Recipe recipe = at("landtest_padded");
  EXPECT_EQ(recipe.way, Way::kOneStore);
  EXPECT_GE(recipe.displaced, 5);
  EXPECT_EQ(recipe.copy_size, 1);
  EXPECT_EQ(recipe.flags, agent::kAtEntry | agent::kNeverComesBack);
}

TEST_F(AnalysisTest, AFunctionWithoutRoomForTheJumpIsRefused) {
  EXPECT_EQ(refusal("landtest_one_byte"), Refusal::kTooShort);
  EXPECT_EQ(refusal("landtest_after_tight"), Refusal::kNone);
}

TEST_F(AnalysisTest, JumpsIntoThePatchRefuseItWhereverTheyAre) {
  EXPECT_EQ(refusal("landtest_after_one_byte"), Refusal::kJumpTarget);
  EXPECT_EQ(refusal("landtest_enters"), Refusal::kNone);
}

TEST_F(AnalysisTest, JumpsAreSeenBehindBytesThatAreNoInstruction) {
  EXPECT_EQ(refusal("landtest_entered_behind_data"), Refusal::kJumpTarget);
}

TEST_F(AnalysisTest, AShortJumpToPaddingDoesWhereThereIsNoRoomForALongOne) {
  const Recipe recipe = at("landtest_entered");  // 3 bytes, and then a target of jumps
  EXPECT_EQ(recipe.way, Way::kOneStore);
  EXPECT_EQ(recipe.displaced, 3);
  ASSERT_NE(recipe.spring, 0);
  EXPECT_GE(recipe.spring, -126);
  EXPECT_LE(recipe.spring, 129);
  const std::uint64_t spring = function("landtest_entered").begin + recipe.spring;
  EXPECT_LE((spring & 7) + 5, 8u) << "it is written by one store";
  EXPECT_EQ(own().function_at(own().offset_of(function("landtest_entered")) + recipe.spring), nullptr);
  EXPECT_TRUE(recipe.padding[0] == 0x90 || recipe.padding[0] == 0x66 || recipe.padding[0] == 0x0f ||
              recipe.padding[0] == 0x2e || recipe.padding[0] == 0x00 || recipe.padding[0] == 0xcc)
      << int{recipe.padding[0]};
  EXPECT_EQ(at("landtest_one_store").spring, 0);
}

TEST_F(AnalysisTest, ASwitchJumpsToItsCases) {
  const std::uint64_t first_case = 3 + 2 + 7 + 4 + 3 + 2;
  EXPECT_EQ(refusal("landtest_switch"), Refusal::kNone);
  EXPECT_NE(at("landtest_switch", first_case).spring, 0);
  // Behind the cases: short instructions, and its jumps are all known.
  EXPECT_EQ(refusal("landtest_switch", first_case + 2 + 2 + 2 + 1), Refusal::kNone);
  EXPECT_FALSE(function("landtest_switch").jumps_unseen);
}

TEST_F(AnalysisTest, WithinAFunctionWhoseJumpsAreNotUnderstoodOnlyOneInstructionIsDisplaced) {
  const std::uint64_t behind_jump = 4 + 2;
  EXPECT_TRUE(function("landtest_unseen").jumps_unseen);
  EXPECT_EQ(refusal("landtest_unseen"), Refusal::kNone);
  EXPECT_NE(at("landtest_unseen", behind_jump).spring, 0);
  EXPECT_EQ(refusal("landtest_unseen", behind_jump + 2 + 2 + 2), Refusal::kNone);
}

TEST_F(AnalysisTest, APlaceWithinAnInstructionIsRefused) {
  EXPECT_EQ(refusal("landtest_one_store", 1), Refusal::kNoCode);
  EXPECT_EQ(own().recipe(0).refusal, Refusal::kNoCode);
  EXPECT_EQ(own().recipe(~0ull).refusal, Refusal::kNoCode);
}

TEST_F(AnalysisTest, APlaceWithinAFunctionIsNoEntry) {
  const Recipe recipe = at("landtest_quiet", 1);
  EXPECT_EQ(recipe.way, Way::kQuiet);
  EXPECT_EQ(recipe.flags & agent::kAtEntry, 0);
  EXPECT_EQ(recipe.refusal, Refusal::kNotAnEntry);
}

TEST_F(AnalysisTest, SignalFramesAreRefusedThoughTheirRangeBeginsAByteEarly) {
  EXPECT_EQ(refusal("landtest_signal_frame"), Refusal::kSignalFrame);
  EXPECT_EQ(return_refusal("landtest_signal_frame"), Refusal::kSignalFrame);
}

TEST_F(AnalysisTest, ReturnsAreRefusedWhereThereIsNoReturnAddressOrItIsLookedAt) {
  EXPECT_EQ(return_refusal("landtest_quiet"), Refusal::kNone);
  EXPECT_EQ(return_refusal("landtest_bare"), Refusal::kNoReturnAddress);
  EXPECT_EQ(return_refusal("_start"), Refusal::kNoReturnAddress);
  EXPECT_EQ(return_refusal("landtest_looks_back"), Refusal::kSeesItsCaller);
  EXPECT_EQ(return_refusal("landtest_takes_arguments"), Refusal::kNone);
  EXPECT_EQ(at("landtest_looks_back").refusal, Refusal::kSeesItsCaller);
  EXPECT_EQ(refusal("landtest_looks_back"), Refusal::kNone);
}

TEST_F(AnalysisTest, TrapsStayWhereTheyAre) { EXPECT_EQ(refusal("landtest_traps"), Refusal::kUnknown); }

TEST_F(AnalysisTest, ACallDoesNotReturnIntoThePatch) {
  const Recipe recipe = at("landtest_short_call");
  EXPECT_NE(recipe.spring, 0);
  EXPECT_EQ(recipe.displaced, 2);
}

TEST_F(AnalysisTest, WhatIsOursIsRefused) {
  EXPECT_EQ(refusal("_ZN9landtrace4code4test7catchesEPFivE"), Refusal::kOwnCode);
}

TEST_F(AnalysisTest, FunctionsWithoutNamesCountWhenTheyAreCalled) {
  std::uint64_t called = 0, jumped_to = 0;
  for (const Function& one : own().functions()) {
    const bool is_here =
        one.begin > function("landtest_short_call").begin && one.begin < function("landtest_calls").begin;
    if (is_here) (called == 0 ? called : jumped_to) = one.begin;
  }
  ASSERT_NE(called, 0u);
  ASSERT_NE(jumped_to, 0u);
  EXPECT_FALSE(own().function_at(own().offset_of(called))->is_part);
  EXPECT_EQ(own().return_refusal(own().offset_of(called)), Refusal::kNone);
  EXPECT_TRUE(own().function_at(own().offset_of(jumped_to))->is_part);
  EXPECT_EQ(own().return_refusal(own().offset_of(jumped_to)), Refusal::kNotAnEntry);
  EXPECT_EQ(own().recipe(own().offset_of(jumped_to)).flags & agent::kAtEntry, 0);
}

TEST_F(AnalysisTest, RelativeOperandsAndBranchesAreFixedUp) {
  const Recipe recipe = at("landtest_relative");
  ASSERT_EQ(recipe.displaced, 7);
  ASSERT_EQ(recipe.fixup_count, 1);
  EXPECT_EQ(recipe.fixups[0].kind, agent::FixupKind::kRelative32);
  EXPECT_EQ(recipe.fixups[0].at, 2);
  EXPECT_EQ(recipe.fixups[0].next, 7);  // an immediate follows the distance
  const Recipe call = at("landtest_calls");
  ASSERT_EQ(call.fixup_count, 3);
  EXPECT_EQ(call.fixups[0].kind, agent::FixupKind::kLow32);
  EXPECT_EQ(call.fixups[0].target, 5);
  EXPECT_EQ(call.fixups[1].kind, agent::FixupKind::kHigh32);
  EXPECT_EQ(call.fixups[2].kind, agent::FixupKind::kRelative32);
  EXPECT_NE(call.flags & agent::kNeverComesBack, 0);
}

TEST_F(AnalysisTest, LandingPadsAreTargets) {
  const auto file = symbols::ElfFile::open("/proc/self/exe");
  const auto image = Image::open(*file);
  Reader reader(*file, *image);
  const std::uint64_t begin = frames_of_index(reader, image->frame_index());
  const auto names = file->section_names();
  std::vector<Frame> frames;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] != ".eh_frame") continue;
    EXPECT_EQ(begin, file->sections()[i].sh_addr);
    frames = read_frames(*file->contents(file->sections()[i], 1u << 30), begin);
  }
  const Function& with_pad = function("_ZN9landtrace4code4test7catchesEPFivE");
  std::vector<std::uint64_t> pads;
  std::size_t budget = 1'000'000;
  for (const Frame& frame : frames) {
    if (frame.begin == with_pad.begin) read_landing_pads(reader, frame, budget, pads);
  }
  ASSERT_EQ(pads.size(), 1u);
  EXPECT_TRUE(image->is_code(pads[0]));
  EXPECT_EQ(catches([]() -> int { throw 41; }), 42);
}

TEST_F(AnalysisTest, FilesThatAreNoX86ProgramsSayWhatTheyAre) {
  EXPECT_EQ(Analysis::open("/nonexistent/file").error().code, ENOENT);
  EXPECT_EQ(Analysis::open("/proc/self/cmdline").error().code, EBADMSG);
  EXPECT_EQ(Analysis::open("/dev/null").error().code, EINVAL);
}

// Of functions that are called, how many can be probed at their entry; the others by name.
double coverage(const std::string& path, std::string& refused) {
  auto analysis = Analysis::open(path);
  if (!analysis) return 0;
  double all = 0, probed = 0;
  for (const Function& function : analysis->functions()) {
    if (function.is_part) continue;
    const Recipe recipe = analysis->recipe(analysis->offset_of(function));
    ++all;
    if (recipe.way != Way::kRefused) {
      ++probed;
    } else {
      const auto names = analysis->names(function);
      refused += std::string(names.empty() ? "(no name)" : names[0]) + ": ";
      refused += std::string(refusal_text(recipe.refusal)) + '\n';
    }
  }
  return all == 0 ? 0 : 100 * probed / all;
}

std::string object_of(const void* function) {
  Dl_info info{};
  return ::dladdr(function, &info) != 0 ? info.dli_fname : "";
}

TEST_F(AnalysisTest, NearlyAllFunctionsOfTheCLibraryCanBeProbed) {
  std::string refused;
  EXPECT_GE(coverage(object_of(reinterpret_cast<const void*>(&::getppid)), refused), 99.0) << refused;
}

TEST_F(AnalysisTest, NearlyAllFunctionsOfTheCppLibraryCanBeProbed) {
  std::string refused;
  EXPECT_GE(coverage(object_of(reinterpret_cast<const void*>(static_cast<void (*)()>(&std::terminate))), refused), 99.0)
      << refused;
}

TEST(RefusalTest, EachHasATextAndAWordOfItsOwn) {
  std::set<std::string_view> texts, words;
  for (int i = 0; i <= static_cast<int>(Refusal::kMayBeJumpTarget); ++i) {
    texts.insert(refusal_text(static_cast<Refusal>(i)));
    words.insert(refusal_word(static_cast<Refusal>(i)));
  }
  EXPECT_EQ(texts.size(), static_cast<std::size_t>(Refusal::kMayBeJumpTarget) + 1);
  EXPECT_EQ(words.size(), texts.size());
}

TEST(CallerSensitiveTest, KnowsNamesWithUnderscoresAndVersions) {
  for (const char* const name :
       {"setjmp", "_setjmp", "__sigsetjmp", "vfork", "__vfork", "dlopen@@GLIBC_2.34", "clone3", "__clone", "getcontext",
        "swapcontext", "makecontext", "dlsym", "dlvsym", "dlmopen", "__x86_indirect_thunk_rax"})
    EXPECT_TRUE(sees_its_caller(name)) << name;
  for (const char* const name : {"malloc", "fork", "longjmp", "dlclose", "dlerror", "", "___"})
    EXPECT_FALSE(sees_its_caller(name)) << name;
  EXPECT_TRUE(has_no_return_address("_start"));
  EXPECT_TRUE(has_no_return_address("_dl_runtime_resolve_xsavec"));
  EXPECT_FALSE(has_no_return_address("main"));
}

}  // namespace
}  // namespace landtrace::code::test
