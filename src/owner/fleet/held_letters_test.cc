#include "fleet/held_letters.hpp"

#include <gtest/gtest.h>

namespace landtrace::fleet {
namespace {

// Takes those of these subjects, as an Outbox does.
std::function<bool(Outbox::Letter&)> taking(std::string subjects, std::string& taken) {
  return [subjects, &taken](Outbox::Letter& letter) {
    if (subjects.find(letter.subject) == std::string::npos) return false;
    const Outbox::Letter gone = std::move(letter);
    taken += gone.subject;
    return true;
  };
}

TEST(HeldLettersTest, AnOrderIsDoneWhenAllOfItsLettersAreTaken) {
  HeldLetters held(100);
  EXPECT_TRUE(held.hold("o", {"a", "1"}));
  EXPECT_TRUE(held.hold("o", {"b", "2"}));
  EXPECT_TRUE(held.hold("p", {"c", "3"}));
  std::string taken;
  EXPECT_FALSE(held.give(taking("b", taken)));
  EXPECT_FALSE(held.give(taking("b", taken)));
  EXPECT_TRUE(held.contains("o"));
  EXPECT_TRUE(held.give(taking("ab", taken)));
  EXPECT_FALSE(held.contains("o"));
  EXPECT_TRUE(held.contains("p"));
  EXPECT_EQ(taken, "ba");
}

TEST(HeldLettersTest, HaveAnEnd) {
  HeldLetters held(10);
  EXPECT_FALSE(held.hold("o", {"a", "1234567890"}));
  EXPECT_FALSE(held.contains("o"));
  EXPECT_TRUE(held.hold("o", {"a", "1234"}));
  EXPECT_TRUE(held.hold("p", {"b", "1234"}));
  EXPECT_FALSE(held.hold("p", {"c", ""}));
  std::string taken;
  held.give(taking("a", taken));
  EXPECT_TRUE(held.hold("p", {"c", "1234"}));
  EXPECT_EQ(held.forget("p"), 2u);
  EXPECT_EQ(held.forget("p"), 0u);
  EXPECT_TRUE(held.is_empty());
  EXPECT_TRUE(held.hold("o", {"a", "123456789"}));
}

}  // namespace
}  // namespace landtrace::fleet
