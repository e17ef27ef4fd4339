#include "fleet/portable.hpp"

#include <gtest/gtest.h>

namespace landtrace::fleet {
namespace {

using ipc::HistogramKeyValue;
using ipc::HistogramTable;
using ipc::KeyKind;

HistogramTable by(KeyKind kind, std::vector<HistogramKeyValue> keys) {
  HistogramTable table;
  table.keys = {{kind, "k", kind == KeyKind::kSteps ? 32u : 0u, 0}};
  table.values = {{"sum", false}};
  for (HistogramKeyValue& key : keys) table.rows.push_back({{std::move(key)}, 2, {10}});
  table.hits = 2 * table.rows.size();
  table.dropped = 5;
  return table;
}

TEST(PortableTest, AddressesAndProcessesAreTexts) {
  for (const KeyKind kind : {KeyKind::kSymbol, KeyKind::kSymbolOffset, KeyKind::kExecName, KeyKind::kSyscall}) {
    const auto table = portable(by(kind, {{0x1000, "main", {}}, {0x2000, "main", {}}, {0x10, "", {}}}));
    EXPECT_EQ(table.keys.at(0).kind, KeyKind::kText);
    ASSERT_EQ(table.rows.size(), 2u) << "the first two are alike now";
    EXPECT_EQ(table.rows[0].keys.at(0), (HistogramKeyValue{0, "main", {}}));
    EXPECT_EQ(table.rows[0].hits, 4u);
    EXPECT_EQ(table.rows[0].values, std::vector<std::uint64_t>{20});
    EXPECT_EQ(table.rows[1].keys.at(0).text, "0x10");
    EXPECT_EQ(table.hits, 6u);
    EXPECT_EQ(table.dropped, 5u);
  }
}

TEST(PortableTest, AStackIsItsFunctions) {
  const auto table = portable(by(KeyKind::kStack, {{0, "", {{1, "f"}, {2, ""}, {3, "main"}}}}));
  EXPECT_EQ(table.rows.at(0).keys.at(0), (HistogramKeyValue{0, "f;0x2;main", {}}));
}

TEST(PortableTest, NumbersStay) {
  for (const KeyKind kind : {KeyKind::kUnsigned, KeyKind::kSigned, KeyKind::kHex, KeyKind::kLog2, KeyKind::kSteps,
                             KeyKind::kFloat, KeyKind::kDouble, KeyKind::kRange}) {
    const HistogramTable table = by(kind, {{7, "", {}}, {9, "", {}}});
    EXPECT_EQ(portable(table), table);
  }
  const HistogramTable texts = by(KeyKind::kText, {{0, "", {}}, {0, "a", {}}});
  EXPECT_EQ(portable(texts), texts) << "an empty text is one";
}

TEST(PortableTest, AFieldThatIsLeftOutIsNoKey) {
  const auto table = portable(by(KeyKind::kUnsigned, {{7, "", {}}, {9, "", {}}}), {"other", "k"});
  ASSERT_EQ(table.rows.size(), 1u);
  EXPECT_EQ(table.rows[0].keys.at(0).text, "(left out)");
  EXPECT_EQ(table.rows[0].hits, 4u);
  EXPECT_EQ(portable(by(KeyKind::kText, {{0, "secret", {}}}), {"k"}).rows.at(0).keys.at(0).text, "(left out)");
}

TEST(PortableTest, SpreadsAndSumsNeedTheirField) {
  EXPECT_EQ(needs_left_out(by(KeyKind::kSteps, {}), {"k"}), "k");
  EXPECT_EQ(needs_left_out(by(KeyKind::kText, {}), {"sum"}), "sum");
  EXPECT_EQ(needs_left_out(by(KeyKind::kText, {}), {"k"}), "");
  EXPECT_EQ(needs_left_out(by(KeyKind::kSteps, {}), {}), "");
}

}  // namespace
}  // namespace landtrace::fleet
