#include "cli/histogram/view.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/histogram/test_table.hpp"

namespace landtrace::cli {
namespace {

using ipc::KeyKind;
using ::testing::ElementsAre;
using ::testing::SizeIs;

// The text of a key of this kind, by way of a table that has it alone.
std::string key_text(const ipc::HistogramKey& key, const ipc::HistogramKeyValue& value) {
  ipc::HistogramTable table;
  table.keys = {key};
  table.rows = {{{value}, 1, {}}};
  const auto view = make_view({"t", {key.name}, {}, {}, false}, table);
  EXPECT_TRUE(view);
  return view ? view->groups.at(0).keys.at(0).text : "";
}

TEST(HistViewTest, GroupsWithMoreEventsComeFirst) {
  const auto view = make_view(kSpread, spread_by_route());
  ASSERT_TRUE(view);
  ASSERT_THAT(view->groups, SizeIs(2));
  EXPECT_THAT(view->groups[0].keys, ElementsAre("/a"));
  EXPECT_EQ(view->groups[0].count, 4u);
  EXPECT_DOUBLE_EQ(view->groups[0].spread.mean(), 400);
  EXPECT_THAT(view->groups[1].keys, ElementsAre("/b"));
  EXPECT_EQ(view->hits, 5u);
  EXPECT_EQ(view->dropped, 2u);
}

TEST(HistViewTest, GroupsWithAsManyEventsAreInTheOrderOfTheirKeys) {
  ipc::HistogramTable table;
  table.keys = {{KeyKind::kText, "k", 0}};
  table.rows = {{{{0, "b", {}}}, 2, {}}, {{{0, "a", {}}}, 2, {}}, {{{0, "c", {}}}, 3, {}}};
  const auto view = make_view({"t", {"k"}, {}, {}, false}, table);
  ASSERT_TRUE(view);
  ASSERT_THAT(view->groups, SizeIs(3));
  EXPECT_THAT(view->groups[0].keys, ElementsAre("c"));
  EXPECT_THAT(view->groups[1].keys, ElementsAre("a"));
  EXPECT_THAT(view->groups[2].keys, ElementsAre("b"));
}

TEST(HistViewTest, SumsStandInTheOrderThatWasAskedFor) {
  ipc::HistogramTable table;
  table.keys = {{KeyKind::kUnsigned, "id", 0}};
  table.values = {{"bytes", false}, {"ms", false}};
  table.rows = {{{{7, "", {}}}, 1, {10, 20}}};
  const auto view = make_view({"t", {"id"}, {"bytes", "ms"}, {}, false}, table);
  ASSERT_TRUE(view);
  EXPECT_THAT(view->groups.at(0).sums, ElementsAre(10, 20));
}

TEST(HistViewTest, SumsOfAGroupAreThoseOfAllItsRows) {
  ipc::HistogramTable table = spread_by_route();
  table.values = {{"bytes", false}, {"took_ns", false}};
  for (ipc::HistogramRow& row : table.rows) row.values = {10 * row.hits, row.values[0]};
  const auto view = make_view({"done", {"route"}, {"bytes"}, "took_ns", true}, table);
  ASSERT_TRUE(view);
  EXPECT_THAT(view->groups.at(0).sums, ElementsAre(40));
  EXPECT_THAT(view->groups.at(1).sums, ElementsAre(10));
  EXPECT_EQ(view->groups.at(0).spread.sum(), 1600u);
}

TEST(HistViewTest, GroupsWithAsManyEventsAreInTheOrderOfNumbers) {
  ipc::HistogramTable table;
  table.keys = {{KeyKind::kSigned, "k", 0, 32}};
  for (const std::int64_t key : {10, -1, 9, -20}) {
    table.rows.push_back({{{static_cast<std::uint64_t>(key), "", {}}}, 1, {}});
  }
  const auto view = make_view({"t", {"k"}, {}, {}, false}, table);
  ASSERT_TRUE(view);
  std::vector<std::string> texts;
  for (const HistGroup& group : view->groups) texts.push_back(group.keys.at(0).text);
  EXPECT_THAT(texts, ElementsAre("-20", "-1", "9", "10"));
}

TEST(HistViewTest, ASpreadOfSignedNumbersHasNegativeOnes) {
  ipc::HistogramTable table;
  table.keys = {{KeyKind::kLog2, "change", 0, 32}};
  table.values = {{"change", false, true}};
  table.rows = {{{{0, "", {}}}, 2, {static_cast<std::uint64_t>(-30)}}, {{{3, "", {}}}, 1, {6}}};
  const auto view = make_view({"t", {}, {}, "change", false}, table);
  ASSERT_TRUE(view);
  const measure::Distribution& spread = view->groups.at(0).spread;
  EXPECT_TRUE(spread.has_negative());
  EXPECT_DOUBLE_EQ(spread.mean(), -8);
}

TEST(HistViewTest, OfNothingIsEmpty) {
  const auto view = make_view({"t", {}, {}, {}, false}, {});
  ASSERT_TRUE(view);
  EXPECT_THAT(view->groups, SizeIs(0));
}

TEST(HistViewTest, OtherKeysOrValuesAreRefused) {
  const auto refused = [](const HistShape& shape, const ipc::HistogramTable& table) {
    const auto view = make_view(shape, table);
    return !view && view.error().code == EINVAL;
  };
  EXPECT_TRUE(refused({"t", {"route", "more"}, {}, "took_ns", true}, spread_by_route()));
  EXPECT_TRUE(refused({"t", {"route"}, {"sum"}, "took_ns", true}, spread_by_route()));
  EXPECT_TRUE(refused({"t", {"route"}, {}, {}, false}, spread_by_route()));
  ipc::HistogramTable no_powers = spread_by_route();
  no_powers.keys[1].kind = KeyKind::kUnsigned;
  EXPECT_TRUE(refused(kSpread, no_powers));
  ipc::HistogramTable beyond = spread_by_route();
  beyond.rows[0].keys[1].number = 65;
  EXPECT_TRUE(refused(kSpread, beyond));
  beyond.rows[0].keys[1].number = 64;
  EXPECT_FALSE(refused(kSpread, beyond));
}

TEST(HistViewTest, KeysReadAsInTheHistFileWithoutItsPadding) {
  EXPECT_EQ(key_text({KeyKind::kUnsigned, "k", 0}, {3, "", {}}), "3");
  EXPECT_EQ(key_text({KeyKind::kHex, "k", 0}, {0xabc, "", {}}), "abc");
  EXPECT_EQ(key_text({KeyKind::kText, "k", 0}, {0, "x, n: 1 } hitcount: 7", {}}), "x, n: 1 } hitcount: 7");
  EXPECT_EQ(key_text({KeyKind::kSymbol, "k", 0}, {0x10, "main", {}}), "[10] main");
  EXPECT_EQ(key_text({KeyKind::kSymbolOffset, "k", 0}, {0x11, "main+0x1", {}}), "[11] main+0x1");
  EXPECT_EQ(key_text({KeyKind::kExecName, "k", 0}, {42, "sh", {}}), "sh              [        42]");
  EXPECT_EQ(key_text({KeyKind::kSyscall, "k", 0}, {0, "sys_read", {}}), "sys_read                      [  0]");
  EXPECT_EQ(key_text({KeyKind::kLog2, "k", 0}, {3, "", {}}), "~ 2^3");
  EXPECT_EQ(key_text({KeyKind::kRange, "k", 10}, {20, "", {}}), "~ 20-29");
  EXPECT_EQ(key_text({KeyKind::kStack, "k", 0}, {0, "", {{1, "f+0x1 [p]"}, {2, "main+0x2 [p]"}}}),
            "f+0x1 [p]\n         main+0x2 [p]");
}

}  // namespace
}  // namespace landtrace::cli
