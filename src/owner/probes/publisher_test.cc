#include "probes/publisher.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>

#include "agent/site.hpp"
#include "rules/rules.hpp"
#include "symbols/usdt_notes.hpp"

// Their bytes are what matters: one that has room for a jump, and one that has not, and no padding near by.
asm(R"(
  .text
  .p2align 4
  .globl lt_publisher_function
  .type lt_publisher_function, @function
lt_publisher_function:
  .cfi_startproc
  movl $0x12345678, %eax
  addl %edi, %eax
  ret
  .cfi_endproc
  .size lt_publisher_function, . - lt_publisher_function
  .globl lt_publisher_long
  .type lt_publisher_long, @function
lt_publisher_long:
  .cfi_startproc
  .rept 50
  movl $0x12345678, %eax
  .endr
  ret
  .cfi_endproc
  .size lt_publisher_long, . - lt_publisher_long
  .globl lt_publisher_tiny
  .type lt_publisher_tiny, @function
lt_publisher_tiny:
  .cfi_startproc
  ret
  .cfi_endproc
  .size lt_publisher_tiny, . - lt_publisher_tiny
  .globl lt_publisher_behind
  .type lt_publisher_behind, @function
lt_publisher_behind:
  .cfi_startproc
  .rept 50
  movl $0x12345678, %eax
  .endr
  ret
  .cfi_endproc
  .size lt_publisher_behind, . - lt_publisher_behind

  # Two USDT places of one name, and their semaphore.
  .macro USDT_NOTE place, arguments
    .pushsection .note.stapsdt, "", @note
    .balign 4
    .4byte 8, 2f - 1f, 3
    .asciz "stapsdt"
1:  .8byte \place, 0, lt_publisher_semaphore
    .asciz "publisher"
    .asciz "both"
    .asciz "\arguments"
2:  .balign 4
    .popsection
  .endm
  .p2align 4
  .globl lt_publisher_usdt
  .type lt_publisher_usdt, @function
lt_publisher_usdt:
  .cfi_startproc
  movl $0x12345678, %eax
  .globl lt_publisher_first
lt_publisher_first:
  nop
  movl $0x12345678, %eax
  movl $0x12345678, %eax
  .globl lt_publisher_second
lt_publisher_second:
  nop
  movl $0x12345678, %eax
  ret
  .cfi_endproc
  .size lt_publisher_usdt, . - lt_publisher_usdt
  USDT_NOTE lt_publisher_first, "-4@%edi"
  USDT_NOTE lt_publisher_second, "-4@%esi"
  .pushsection .probes, "aw", @progbits
  .globl lt_publisher_semaphore
lt_publisher_semaphore:
  .short 0
  .popsection
  .text
)");
extern "C" const char lt_publisher_first[], lt_publisher_second[];
extern "C" std::uint16_t lt_publisher_semaphore;

namespace landtrace::probes {
namespace {

class PublisherTest : public testing::Test {
 protected:
  PublisherTest() : domain_(*domain::Domain::create({.ring_bytes = 1 << 18})) {
    std::ignore = domain_->join(::geteuid());
    rules_.probes().observe(&publisher_);
  }
  ~PublisherTest() override { rules_.probes().observe(nullptr); }

  void define(const std::string& line) {
    ASSERT_TRUE(rules_.probes().define(language::ProbeFamily::kUprobe, line, {{::geteuid(), ::getegid()}, 0})) << line;
  }
  domain::Event& event(const char* name) { return *domain_->events().find("g", name); }
  Result<void> enable(const char* name, bool on = true) {
    return domain_->listening().set(domain_->top(), {&event(name)}, on);
  }
  const plan::ProbeSlot& slot(std::uint32_t index) { return domain_->control().segment().probes[index]; }
  const agent::ProbeSite* site(std::uint32_t index) {
    const std::uint32_t at = slot(index).site;
    return at == 0 ? nullptr : reinterpret_cast<const agent::ProbeSite*>(domain_->control().at(at));
  }
  const plan::ProbeHook& hook(std::uint32_t index, std::uint32_t i) {
    return reinterpret_cast<const plan::ProbeHooks*>(domain_->control().at(slot(index).hooks))->hooks()[i];
  }
  // The events that a hit makes, by their names, the first one first.
  std::string hooks(std::uint32_t index) {
    const std::uint32_t at = slot(index).hooks;
    if (at == 0) return "none";
    const auto& hooks = *reinterpret_cast<const plan::ProbeHooks*>(domain_->control().at(at));
    std::string names;
    for (std::uint32_t i = 0; i < hooks.count; ++i) {
      const plan::ProbeHook& hook = this->hook(index, i);
      const auto& plan = *reinterpret_cast<const plan::EventProbePlan*>(domain_->control().at(hook.plan));
      names += domain_->events().at(plan.event)->name + (hook.side == plan::ProbeSide::kReturn ? "<" : ">");
    }
    return names;
  }

  const std::string self_ = std::filesystem::read_symlink("/proc/self/exe");
  const std::string mark_ = testing::TempDir() + "publisher_test." + std::to_string(::getpid());
  std::unique_ptr<domain::Domain> domain_;
  rules::Rules rules_{*domain_};
  Publisher publisher_{*domain_, mark_};
};

TEST_F(PublisherTest, TheFirstProbeIsToldOfOnceAlsoWhereItWasThereBefore) {
  unsigned told = 0;
  publisher_.set_on_first([&] { ++told; });
  EXPECT_EQ(told, 0u);
  define("p:g/e " + self_ + ":lt_publisher_function");
  define("p:g/e2 " + self_ + ":lt_publisher_function");
  EXPECT_EQ(told, 1u);
  publisher_.set_on_first([&] { told += 10; });
  EXPECT_EQ(told, 11u);
}

TEST_F(PublisherTest, APlaceIsThereAsLongAsItsEventIsListenedTo) {
  define("p:g/e " + self_ + ":lt_publisher_function a=%di");
  EXPECT_EQ(domain_->control().segment().probe_high, 0u);
  ASSERT_TRUE(enable("e"));
  ASSERT_NE(site(0), nullptr);
  EXPECT_EQ(site(0)->recipe.way, agent::Way::kOneStore);
  EXPECT_EQ(site(0)->recipe.expected[0], 0xb8);
  EXPECT_EQ(site(0)->sides, agent::kWantsEntry);
  EXPECT_NE(site(0)->inode, 0u);
  EXPECT_EQ(hooks(0), "e>");
  ASSERT_TRUE(enable("e", false));
  EXPECT_EQ(site(0), nullptr);
  EXPECT_EQ(hooks(0), "none");
  EXPECT_FALSE(domain_->probe_slots().any());
}

TEST_F(PublisherTest, AllPlacesOfAUsdtNameAreOneDefinitionAndEachHasTheSemaphore) {
  define("p:g/e " + self_ + ":usdt:publisher:both $arg*");
  EXPECT_EQ(rules_.probes().lines(language::ProbeFamily::kUprobe).size(), 1u);
  ASSERT_TRUE(enable("e"));
  ASSERT_NE(site(0), nullptr);
  ASSERT_NE(site(1), nullptr);
  EXPECT_EQ(hooks(0) + hooks(1), "e>e>");
  const auto semaphore = reinterpret_cast<std::uint64_t>(&lt_publisher_semaphore);
  const auto first = reinterpret_cast<std::uint64_t>(lt_publisher_first);
  const auto second = reinterpret_cast<std::uint64_t>(lt_publisher_second);
  const std::uint32_t one = site(0)->offset < site(1)->offset ? 0 : 1, other = 1 - one;
  EXPECT_EQ(site(other)->offset - site(one)->offset, second - first);
  EXPECT_EQ(site(one)->counter, static_cast<std::int64_t>(semaphore - first));
  EXPECT_EQ(site(other)->counter, static_cast<std::int64_t>(semaphore - second));
  // Who names the place alone leaves the counter to those who named it.
  define(fmt::format("p:g/plain {}:{:#x}", self_, site(one)->offset));
  ASSERT_TRUE(enable("plain"));
  EXPECT_EQ(hooks(one), "plain>e>");
  EXPECT_NE(site(one)->counter, 0);
  ASSERT_TRUE(enable("e", false));
  EXPECT_EQ(site(one)->counter, 0);
  EXPECT_EQ(site(other), nullptr);
}

TEST_F(PublisherTest, ACounterByItsOffsetIsFoundAmongWritableData) {
  define("p:g/e " + self_ + ":usdt:publisher:both");
  ASSERT_TRUE(enable("e"));
  const agent::ProbeSite usdt = *site(0);
  const auto analysis = code::Analysis::open(self_);
  ASSERT_TRUE(analysis);
  std::uint64_t counter = 0;
  const auto elf = symbols::ElfFile::open(self_);
  for (const auto& note : symbols::read_usdt_notes(*elf)) counter = note.counter_offset;
  define(fmt::format("p:g/f {}:{:#x}({:#x})", self_, usdt.offset, counter));
  ASSERT_TRUE(enable("f"));
  ASSERT_TRUE(enable("e", false));
  ASSERT_NE(site(0), nullptr);
  EXPECT_EQ(hooks(0), "f>");
  EXPECT_EQ(site(0)->counter, usdt.counter);
}

TEST_F(PublisherTest, WhereThereIsNoRoomForAShorterListTheOldOneStaysWithAllThatItNames) {
  define("p:g/e " + self_ + ":lt_publisher_function a=%di");
  define("p:g/f " + self_ + ":lt_publisher_function a=%si");
  define("p:g/other " + self_ + ":lt_publisher_long");
  ASSERT_TRUE(enable("e"));
  ASSERT_TRUE(enable("f"));
  ASSERT_EQ(hooks(0), "f>e>");
  ASSERT_TRUE(domain_->grace().drain(std::chrono::minutes(1)));
  const std::uint32_t plan = hook(0, 1).plan;
  segments::ControlMemory& control = domain_->control();
  std::vector<std::uint32_t> filling;
  bool is_plan_taken = false;
  const auto fill = [&] {
    for (std::uint64_t size = 1 << 26; size >= 1; size /= 2) {
      while (const auto taken = control.allocate(size, 1)) {
        filling.push_back(*taken);
        is_plan_taken = is_plan_taken || (plan >= *taken && plan < *taken + size);
      }
    }
  };
  fill();
  ASSERT_TRUE(enable("e", false));
  ASSERT_TRUE(domain_->grace().drain(std::chrono::minutes(1)));
  fill();
  EXPECT_EQ(hooks(0), "f>e>");
  EXPECT_FALSE(is_plan_taken) << "the list names it";
  for (const std::uint32_t taken : filling) control.free(taken);
  ASSERT_TRUE(enable("other"));
  EXPECT_EQ(hooks(0), "f>");
  EXPECT_EQ(hooks(1), "other>");
}

TEST_F(PublisherTest, ProgramsSayWhereTheyCouldNotBeProbed) {
  define("p:g/e " + self_ + ":lt_publisher_function");
  define("p:g/f " + self_ + ":lt_publisher_long");
  define("p:g/both " + self_ + ":lt_publisher_function");
  for (const char* const name : {"e", "f", "both"}) ASSERT_TRUE(enable(name));
  const auto pid = static_cast<std::uint32_t>(::getpid());
  const auto why = [](agent::Reason reason) { return static_cast<std::uint8_t>(reason); };
  const auto say = [&](std::uint32_t of, std::uint32_t number, std::uint8_t reason) {
    publisher_.refused(of, number, slot(number).generation, reason);
  };
  EXPECT_TRUE(publisher_.refusals(event("e")).empty());
  say(pid, 0, why(agent::Reason::kOverlaps));
  say(999'999'999, 0, why(agent::Reason::kBusy));
  say(pid, 1, why(agent::Reason::kBytesDiffer));
  const auto refusals = publisher_.refusals(event("e"));
  ASSERT_EQ(refusals.size(), 2u);
  EXPECT_EQ(refusals[0].pid, pid);
  EXPECT_EQ(refusals[0].program, "probes_test");
  EXPECT_EQ(refusals[0].object, self_);
  EXPECT_EQ(refusals[0].offset, site(0)->offset);
  EXPECT_EQ(refusals[0].why, agent::text_of(agent::Reason::kOverlaps));
  EXPECT_EQ(refusals[1].pid, 999'999'999u);
  EXPECT_EQ(refusals[1].program, "?");
  EXPECT_EQ(refusals[1].why, agent::text_of(agent::Reason::kBusy));
  ASSERT_EQ(publisher_.refusals(event("f")).size(), 1u);
  EXPECT_EQ(publisher_.refusals(event("f"))[0].offset, site(1)->offset);
  EXPECT_EQ(publisher_.refusals(event("both")).size(), 2u);
  // Patched after all.
  say(pid, 0, 0);
  ASSERT_EQ(publisher_.refusals(event("e")).size(), 1u);
  EXPECT_EQ(publisher_.refusals(event("e"))[0].pid, 999'999'999u);
  ASSERT_TRUE(enable("f", false));
  EXPECT_TRUE(publisher_.refusals(event("f")).empty());
}

TEST_F(PublisherTest, WhatProgramsSayOfNothingThatIsThereIsPassedOver) {
  define("p:g/e " + self_ + ":lt_publisher_function");
  ASSERT_TRUE(enable("e"));
  const std::uint32_t generation = slot(0).generation;
  const auto last = static_cast<std::uint8_t>(agent::Reason::kBusy);
  publisher_.refused(1, 0, generation + 1, last);
  publisher_.refused(1, 1, generation, last);
  publisher_.refused(1, 0xffffffff, generation, last);
  publisher_.refused(1, 0, generation, last + 1);
  EXPECT_TRUE(publisher_.refusals(event("e")).empty());
  publisher_.refused(1, 0, generation, last);
  EXPECT_EQ(publisher_.refusals(event("e")).size(), 1u);
}

TEST_F(PublisherTest, ProgramsLookAgainOnlyWhereSomethingElseIsWanted) {
  define("p:g/e " + self_ + ":lt_publisher_function a=%di");
  define("p:g/f " + self_ + ":lt_publisher_function");
  define("r:g/r " + self_ + ":lt_publisher_function x=$retval");
  ASSERT_TRUE(enable("e"));
  const std::uint32_t version = slot(0).version;
  ASSERT_TRUE(enable("f"));
  EXPECT_EQ(slot(0).version, version);
  ASSERT_TRUE(enable("r"));
  EXPECT_NE(slot(0).version, version);
}

TEST_F(PublisherTest, EventsAtOnePlaceShareIt) {
  define("p:g/e " + self_ + ":lt_publisher_function a=%di");
  define("p:g/f " + self_ + ":lt_publisher_function");
  define("r:g/r " + self_ + ":lt_publisher_function x=$retval");
  ASSERT_TRUE(enable("e"));
  ASSERT_TRUE(enable("f"));
  EXPECT_EQ(hooks(0), "f>e>") << "as in the kernel, who came last is the first";
  const plan::ProbeSlot before = slot(0);
  ASSERT_TRUE(enable("r"));
  EXPECT_EQ(hooks(0), "r<f>e>");
  EXPECT_EQ(site(0)->sides, agent::kWantsEntry | agent::kWantsReturn);
  EXPECT_EQ(slot(0).generation, before.generation);
  EXPECT_NE(slot(0).version, before.version);
  EXPECT_EQ(domain_->control().segment().probe_high, 1u);
  ASSERT_TRUE(enable("r", false));
  ASSERT_TRUE(enable("f", false));
  EXPECT_EQ(hooks(0), "e>");
  EXPECT_EQ(site(0)->sides, agent::kWantsEntry);
}

TEST_F(PublisherTest, CallsLeaveWhatReturnsWantAndNoMore) {
  const auto needs = [&] {
    return reinterpret_cast<const plan::ProbeHooks*>(domain_->control().at(slot(0).hooks))->needs;
  };
  define("p:g/e " + self_ + ":lt_publisher_function a=$arg1");
  define("r:g/r " + self_ + ":lt_publisher_function x=$retval");
  define("r:g/a " + self_ + ":lt_publisher_function x=$retval b=$arg1");
  define("r:g/t " + self_ + ":lt_publisher_function t=$elapsed");
  ASSERT_TRUE(enable("e"));
  ASSERT_TRUE(enable("r"));
  EXPECT_EQ(needs(), 0u);
  ASSERT_TRUE(enable("a"));
  EXPECT_EQ(needs(), plan::kNeedsArguments);
  ASSERT_TRUE(enable("t"));
  EXPECT_EQ(needs(), plan::kNeedsArguments | plan::kNeedsTime);
  ASSERT_TRUE(enable("a", false));
  EXPECT_EQ(needs(), plan::kNeedsTime);
}

TEST_F(PublisherTest, AnEventMayHaveSeveralPlaces) {
  define("p:g/e " + self_ + ":lt_publisher_function");
  define("p:g/e " + self_ + ":lt_publisher_long");
  ASSERT_TRUE(enable("e"));
  EXPECT_EQ(hooks(0), "e>");
  EXPECT_EQ(hooks(1), "e>");
  EXPECT_NE(site(0)->offset, site(1)->offset);
  define("p:g/e " + self_ + ":lt_publisher_behind");  // while it is listened to
  EXPECT_EQ(hooks(2), "e>");
  ASSERT_TRUE(enable("e", false));
  EXPECT_FALSE(domain_->probe_slots().any());
}

TEST_F(PublisherTest, APlaceThatCannotBeProbedSaysWhy) {
  define("p:g/e " + self_ + ":lt_publisher_tiny");
  const auto enabled = enable("e");
  ASSERT_FALSE(enabled);
  EXPECT_EQ(enabled.error().code, EOPNOTSUPP);
  EXPECT_NE(enabled.error().message.find("lt_publisher_tiny cannot be probed: "), std::string::npos)
      << enabled.error().message;
  EXPECT_FALSE(event("e").listeners.any());
  EXPECT_FALSE(domain_->probe_slots().any());
  // Of several places all, or none.
  define("p:g/f " + self_ + ":lt_publisher_function");
  define("p:g/f " + self_ + ":lt_publisher_tiny");
  EXPECT_FALSE(enable("f"));
  EXPECT_FALSE(domain_->probe_slots().any());
}

TEST_F(PublisherTest, NothingHappensInAFileThatNoProgramRuns) {
  define("p:g/e /etc/passwd:0x10");
  EXPECT_TRUE(enable("e"));
  EXPECT_TRUE(event("e").listeners.any());
  EXPECT_FALSE(domain_->probe_slots().any());
  EXPECT_TRUE(enable("e", false));
  define("p:g/made_when_read /proc/version:0x0");
  EXPECT_EQ(enable("made_when_read").error().code, EIO);
  define("p:g/behind_it /proc/version:0x1");
  EXPECT_EQ(enable("behind_it").error().code, EIO);
}

TEST_F(PublisherTest, NothingHappensWhereNoThreadComes) {
  define("p:g/e " + self_ + ":lt_publisher_function+2");  // within an instruction
  define("p:g/d " + self_ + ":0x8");                      // the file's header
  EXPECT_TRUE(enable("e"));
  EXPECT_TRUE(enable("d"));
  EXPECT_FALSE(domain_->probe_slots().any());
  EXPECT_TRUE(enable("e", false));
}

TEST_F(PublisherTest, CountsAreOfPlacesAndOutliveTheirBeingListenedTo) {
  define("p:g/e " + self_ + ":lt_publisher_function");
  const auto& place = rules::find_probe(event("e"))->places[0];
  EXPECT_EQ(rules_.probes().counts(event("e"), place).hits, 0u);
  ASSERT_TRUE(enable("e"));
  const auto& hooks = *reinterpret_cast<const plan::ProbeHooks*>(domain_->control().at(slot(0).hooks));
  domain_->users().all()[0].data().probe_figures[0][hooks.hooks()[0].figure] = {7, 2};
  EXPECT_EQ(rules_.probes().counts(event("e"), place).hits, 7u);
  EXPECT_EQ(rules_.probes().counts(event("e"), place).missed, 2u);
  ASSERT_TRUE(enable("e", false));
  EXPECT_EQ(rules_.probes().counts(event("e"), place).hits, 7u);
}

TEST_F(PublisherTest, WhatIsDefinedAndRemovedForEverLeavesRoom) {
  for (std::uint32_t i = 0; i <= plan::kMaxProbeFigures; ++i) {
    define("p:g/e " + self_ + ":lt_publisher_function");
    ASSERT_TRUE(enable("e")) << i;
    ASSERT_TRUE(enable("e", false));
    ASSERT_TRUE(rules_.remove(event("e"), ::geteuid()));
    if (i % 256 == 0) {
      ASSERT_TRUE(domain_->grace().drain(std::chrono::milliseconds(1000)));
    }
  }
}

TEST_F(PublisherTest, AFileSaysThatThereAreProbesUntilTheOwnerEnds) {
  {
    Publisher publisher(*domain_, mark_);
    rules_.probes().observe(&publisher);
    EXPECT_FALSE(std::filesystem::exists(mark_));
    define("p:g/e " + self_ + ":lt_publisher_function");
    EXPECT_TRUE(std::filesystem::exists(mark_));
    rules_.probes().observe(nullptr);
    EXPECT_TRUE(std::filesystem::exists(mark_));
  }
  EXPECT_FALSE(std::filesystem::exists(mark_));
}

}  // namespace
}  // namespace landtrace::probes
