#include "domain/probe_slots.hpp"

#include <gmock/gmock.h>

#include "domain/domain.hpp"

namespace landtrace::domain {
namespace {

class ProbeSlotsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    domain_ = Domain::create({}).value();
    user_ = domain_->join(::geteuid()).value();
  }
  [[nodiscard]] ProbeSlots& slots() { return domain_->probe_slots(); }
  [[nodiscard]] const plan::ProbeSlot& shared(std::uint32_t slot) {
    return domain_->control().segment().probes[slot];
  }
  [[nodiscard]] const plan::ProbeHooks* hooks(std::uint32_t slot) {
    const std::uint32_t at = shared(slot).hooks;
    return at == 0 ? nullptr : reinterpret_cast<const plan::ProbeHooks*>(domain_->control().at(at));
  }
  [[nodiscard]] plan::ProbeFigure& counted(std::uint32_t row, std::uint16_t figure) {
    return domain_->users().all()[user_].data().probe_figures[row][figure];
  }
  static agent::ProbeSite site_at(std::uint64_t offset) {
    agent::ProbeSite site{};
    site.inode = 7;
    site.offset = offset;
    return site;
  }
  void finish_grace() { ASSERT_TRUE(domain_->grace().drain(std::chrono::milliseconds(1000))); }

  std::unique_ptr<Domain> domain_;
  std::uint32_t user_ = 0;
};

TEST_F(ProbeSlotsTest, APlaceIsPublishedWithoutHooks) {
  const std::uint32_t changes = slots().changes();
  const std::uint32_t slot = slots().take(site_at(0x1234)).value();
  EXPECT_TRUE(slots().any());
  EXPECT_NE(slots().changes(), changes);
  EXPECT_EQ(domain_->control().segment().probe_high, slot + 1);
  EXPECT_NE(shared(slot).generation, 0u);
  EXPECT_EQ(hooks(slot), nullptr);
  const auto* const site = reinterpret_cast<const agent::ProbeSite*>(domain_->control().at(shared(slot).site));
  EXPECT_EQ(site->offset, 0x1234u);
  EXPECT_EQ(site->inode, 7u);
}

TEST_F(ProbeSlotsTest, APlaceMayWantMoreAndStaysWhatItIs) {
  const std::uint32_t slot = slots().take(site_at(0x1234)).value();
  const plan::ProbeSlot before = shared(slot);
  const std::uint64_t used = domain_->control().bytes_in_use();
  const std::uint32_t changes = slots().changes();
  agent::ProbeSite more = site_at(0x1234);
  more.sides = 3;
  ASSERT_TRUE(slots().replace(slot, more));
  EXPECT_EQ(shared(slot).generation, before.generation);
  EXPECT_NE(shared(slot).version, before.version);
  EXPECT_NE(slots().changes(), changes);
  EXPECT_EQ(reinterpret_cast<const agent::ProbeSite*>(domain_->control().at(shared(slot).site))->sides, 3);
  finish_grace();
  EXPECT_EQ(domain_->control().bytes_in_use(), used);
}

TEST_F(ProbeSlotsTest, HooksReplaceThoseBeforeThem) {
  const std::uint32_t slot = slots().take(site_at(1)).value();
  const plan::ProbeHook both[] = {{8, 1, plan::ProbeSide::kEntry, plan::ProbeSide::kEntry},
                                 {16, 2, plan::ProbeSide::kReturn, plan::ProbeSide::kReturn}};
  ASSERT_TRUE(slots().set_hooks(slot, both));
  ASSERT_NE(hooks(slot), nullptr);
  ASSERT_EQ(hooks(slot)->count, 2u);
  EXPECT_EQ(hooks(slot)->hooks()[1].plan, 16u);
  EXPECT_EQ(hooks(slot)->hooks()[1].side, plan::ProbeSide::kReturn);
  const std::uint64_t used = domain_->control().bytes_in_use();
  ASSERT_TRUE(slots().set_hooks(slot, std::span(both, 1)));
  EXPECT_EQ(hooks(slot)->count, 1u);
  ASSERT_TRUE(slots().set_hooks(slot, {}));
  EXPECT_EQ(hooks(slot), nullptr);
  finish_grace();
  EXPECT_LT(domain_->control().bytes_in_use(), used);
}

TEST_F(ProbeSlotsTest, ASlotThatIsTakenAgainIsOfAnotherGenerationAndItsMemoryComesBack) {
  const std::uint64_t used = domain_->control().bytes_in_use();
  std::vector<std::uint32_t> generations;
  for (std::uint32_t i = 0; i < plan::kMaxProbes; ++i) {
    const auto slot = slots().take(site_at(i));
    ASSERT_TRUE(slot);
    generations.push_back(shared(*slot).generation);
  }
  EXPECT_EQ(slots().take(site_at(1)).error().code, ENOSPC);
  const plan::ProbeHook hook{8, 1, plan::ProbeSide::kEntry, plan::ProbeSide::kEntry};
  ASSERT_TRUE(slots().set_hooks(5, std::span(&hook, 1)));
  slots().give_back(5);
  EXPECT_EQ(hooks(5), nullptr);
  EXPECT_EQ(shared(5).site, 0u);
  finish_grace();
  EXPECT_EQ(slots().take(site_at(77)).value(), 5u);
  EXPECT_NE(shared(5).generation, generations[5]);
  for (std::uint32_t i = 0; i < plan::kMaxProbes; ++i) slots().give_back(i);
  finish_grace();
  EXPECT_FALSE(slots().any());
  EXPECT_EQ(domain_->control().bytes_in_use(), used);
}

TEST_F(ProbeSlotsTest, FiguresAreSumsOfAllCpusSinceTheyWereTaken) {
  const std::uint16_t figure = slots().take_figure().value();
  EXPECT_EQ(slots().figure(figure).hits, 0u);
  counted(0, figure).hits = 3;
  const std::uint32_t last = std::min(domain_->control().segment().cpus, plan::kProbeFigureRows) - 1;
  counted(last, figure).missed += 2;
  EXPECT_EQ(slots().figure(figure).hits, 3u);
  EXPECT_EQ(slots().figure(figure).missed, 2u);
  EXPECT_NE(slots().take_figure().value(), figure);
}

TEST_F(ProbeSlotsTest, AFigureThatIsTakenAgainBeginsAtZero) {
  for (std::uint32_t i = 0; i < plan::kMaxProbeFigures; ++i) ASSERT_TRUE(slots().take_figure());
  EXPECT_EQ(slots().take_figure().error().code, ENOSPC);
  counted(0, 9).hits = 100;
  slots().give_back_figure(9);
  ASSERT_EQ(slots().take_figure().value(), 9);
  EXPECT_EQ(slots().figure(9).hits, 0u);
  counted(0, 9).hits = 101;
  EXPECT_EQ(slots().figure(9).hits, 1u);
}

}  // namespace
}  // namespace landtrace::domain
