#include "cli/top/table.hpp"

#include <gtest/gtest.h>

namespace landtrace::cli {
namespace {

using ipc::HistogramTable;
using ipc::KeyKind;

class TopTableTest : public testing::Test {
 protected:
  TopTableTest() {
    set_.functions = {{"/usr/bin/app", 0x10, "slow"}, {"/usr/bin/app", 0x20, "_Z5oftenv"}, {"/usr/bin/app", 0x30, ""}};
    set_.refused = 2;
    calls_.keys = {{KeyKind::kUnsigned, "id"}};
    times_.keys = {{KeyKind::kUnsigned, "id"}, {KeyKind::kLog2, "ns"}};
    times_.values = {{"ns"}, {"max", false, false, true}};
    add_calls(1, 4);
    add_calls(0, 1);
    add_times(1, 7, 3, 300, 120);   // 65 to 128
    add_times(1, 10, 1, 900, 900);  // 513 to 1024
    add_times(0, 20, 1, 1'000'000, 1'000'000);
  }
  void add_calls(std::uint64_t id, std::uint64_t hits) {
    calls_.rows.push_back({{{id, "", {}}}, hits, {}});
    calls_.hits += hits;
  }
  void add_times(std::uint64_t id, std::uint64_t power, std::uint64_t hits, std::uint64_t sum, std::uint64_t max) {
    times_.rows.push_back({{{id, "", {}}, {power, "", {}}}, hits, {sum, max}});
    times_.hits += hits;
  }
  [[nodiscard]] TopView view(TopOrder order = TopOrder::kCalls) const {
    return *make_top_view(set_, &calls_, &times_, order);
  }

  FunctionSet set_;
  HistogramTable calls_;
  HistogramTable times_;
};

TEST_F(TopTableTest, CallsAndTimesOfAllPowersAreOneRow) {
  const TopView seen = view();
  ASSERT_EQ(seen.rows.size(), 2u);
  EXPECT_EQ(seen.rows[0].function->name, "_Z5oftenv");
  EXPECT_EQ(seen.rows[0].calls, 4u);
  EXPECT_EQ(seen.rows[0].times.count(), 4u);
  EXPECT_EQ(seen.rows[0].times.sum(), 1200u);
  EXPECT_EQ(seen.rows[0].max_ns, 900u);
  EXPECT_EQ(seen.calls, 5u);
  EXPECT_EQ(seen.measured, 5u);
}

TEST_F(TopTableTest, TheOrderIsTheOneThatWasAskedFor) {
  for (const TopOrder order : {TopOrder::kTotal, TopOrder::kMean, TopOrder::kMax}) {
    EXPECT_EQ(view(order).rows[0].function->name, "slow");
  }
}

TEST_F(TopTableTest, TextHasAColumnForEachFigureAndSaysWhatItDoesNotHave) {
  EXPECT_EQ(top_text(view(), 1),
            "5 calls of 2 of 3 functions, 2 more cannot be followed\n"
            "calls   total    mean     p50     p99     max  function\n"
            "    4  1.2 us  300 ns  107 ns  900 ns  900 ns  often()\n"
            "and 1 more\n");
}

TEST_F(TopTableTest, ANarrowScreenHasFewerColumnsAndShorterNames) {
  set_.functions[1].name = "a_function_with_a_long_name";
  EXPECT_EQ(top_text(view(), 1, 40),
            "5 calls of 2 of 3 functions, 2 more cannot be followed\n"
            "calls   total    mean  function\n"
            "    4  1.2 us  300 ns  a_function_with_…\n"
            "and 1 more\n");
}

TEST_F(TopTableTest, CallsWithoutATimeAreSaid) {
  add_calls(2, 5);
  calls_.dropped = 1;
  const std::string text = top_text(view(), 0);
  EXPECT_NE(text.find("  0x30\n"), std::string::npos) << text;
  EXPECT_NE(text.find("not returned or were missed: 5 calls\n"), std::string::npos) << text;
  EXPECT_NE(text.find("for want of room: 1 call\n"), std::string::npos) << text;
}

TEST_F(TopTableTest, FunctionsOfSeveralObjectsAreNamedWithThem) {
  set_.functions[0].path = "/usr/lib/libz.so.1";
  const std::string text = top_text(view(), 0);
  EXPECT_NE(text.find("  libz.so.1:slow\n"), std::string::npos) << text;
  EXPECT_NE(text.find("  app:often()\n"), std::string::npos) << text;
}

TEST_F(TopTableTest, JsonHasWholeNames) {
  const std::string text = top_json(view(), 1);
  EXPECT_EQ(text.find("slow"), std::string::npos) << "one row was asked for";
  EXPECT_NE(
      text.find(R"x({"calls":5,"measured":5,"uncounted":0,"watched":3,"refused":2,"functions":[{"function":"often()",)x"
                R"x("object":"/usr/bin/app","offset":"0x20","calls":4,"measured":4,"total_ns":1200,)x"),
      std::string::npos)
      << text;
  EXPECT_NE(text.find(R"("max_ns":900)"), std::string::npos) << text;
}

TEST_F(TopTableTest, NumbersThatNoFunctionHasAndOtherTablesArePassedOver) {
  add_calls(99, 5);
  add_times(99, 1, 1, 1, 1);
  EXPECT_EQ(view().rows.size(), 2u);
  times_.values.pop_back();
  EXPECT_FALSE(make_top_view(set_, &calls_, &times_, TopOrder::kCalls));
  EXPECT_EQ(make_top_view(set_, nullptr, nullptr, TopOrder::kCalls)->rows.size(), 0u);
}

}  // namespace
}  // namespace landtrace::cli
