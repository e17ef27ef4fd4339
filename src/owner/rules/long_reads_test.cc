#include "rules/long_reads.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <new>
#include <optional>

#include "rules/test_long_reads.hpp"
#include "rules/test_rules.hpp"

namespace landtrace::rules {
namespace {

// Counts itself while it is there.
class Quick final : public LongReads::Source {
 public:
  explicit Quick(std::atomic<int>& alive, std::string text = "made") : alive_(alive), text_(std::move(text)) {
    ++alive_;
  }
  ~Quick() override { --alive_; }
  std::string make(const std::stop_token&) override {
    if (text_ == "too long") throw std::bad_alloc();
    return text_;
  }

 private:
  std::atomic<int>& alive_;
  std::string text_;
};

class LongReadsTest : public RulesFixture {
 protected:
  LongReads& reads() { return rules_.long_reads(); }
  std::unique_ptr<LongReads::Awaited> begin(std::string text = "made") {
    return reads().begin(std::make_unique<Quick>(alive_, std::move(text)));
  }
  std::atomic<int> alive_ = 0;
};

TEST_F(LongReadsTest, OthersHaveTheDomainWhileATextIsMade) {
  HeldUp held(reads());
  held.wait_until_begun();
  {
    const auto access = domain_->enter();
    EXPECT_FALSE(held.text().is_there());
  }
  held.let_go_on();
  EXPECT_EQ(*wait_for(*domain_, held.text()), "held up");
  EXPECT_FALSE(held.text().is_there()) << "it has been taken";
}

TEST_F(LongReadsTest, OneIsMadeAfterTheOther) {
  HeldUp held(reads());
  held.wait_until_begun();
  const auto one = begin("one");
  const auto two = begin("two");
  EXPECT_EQ(alive_, 2);
  EXPECT_FALSE(one->is_there() || two->is_there());
  held.let_go_on();
  EXPECT_EQ(*wait_for(*domain_, *two), "two");
  EXPECT_EQ(*wait_for(*domain_, *one), "one");
  EXPECT_EQ(alive_, 0) << "what they are made of goes when they are there";
}

TEST_F(LongReadsTest, WhatIsGivenUpBeforeItsTurnGoesAtOnce) {
  HeldUp held(reads());
  held.wait_until_begun();
  auto one = begin();
  const auto two = begin();
  one.reset();
  EXPECT_EQ(alive_, 1);
  held.let_go_on();
  EXPECT_EQ(*wait_for(*domain_, *two), "made");
}

TEST_F(LongReadsTest, WhatIsGivenUpInTheMiddleLetsTheNextOneBegin) {
  HeldUp held(reads());
  held.wait_until_begun();
  const auto next = begin();
  {
    const auto access = domain_->enter();
    held.give_up();
  }
  EXPECT_EQ(*wait_for(*domain_, *next), "made");
}

TEST_F(LongReadsTest, WhatDoesNotFitIntoMemoryIsRefused) {
  EXPECT_EQ(wait_for(*domain_, *begin("too long")).error().code, ENOMEM);
  EXPECT_EQ(*wait_for(*domain_, *begin()), "made");
  EXPECT_EQ(alive_, 0);
}

TEST_F(LongReadsTest, TheEndOfTheDomainIsTheEndOfAllTexts) {
  std::optional<LongReads> reads(std::in_place, *domain_);
  HeldUp held(*reads);
  held.wait_until_begun();
  const auto text = reads->begin(std::make_unique<Quick>(alive_));
  reads.reset();  // nobody has let the first one go on
  ASSERT_TRUE(text->is_there());
  EXPECT_EQ(text->take().error().code, ESHUTDOWN);
  EXPECT_EQ(alive_, 0);
}

}  // namespace
}  // namespace landtrace::rules
