#include "ipc/histogram_table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

namespace landtrace::ipc {
namespace {

using testing::HasSubstr;

// One of every kind of key, and rows that have what it can hold.
HistogramTable table_of_all_kinds() {
  HistogramTable table;
  table.trigger = "hist:keys=all:vals=hitcount,n,m.hex:sort=hitcount:size=2048 [active]";
  for (int kind = 0; kind <= static_cast<int>(kLastKeyKind); ++kind) {
    table.keys.push_back({static_cast<KeyKind>(kind), "key" + std::to_string(kind), 0});
  }
  table.keys[static_cast<std::size_t>(KeyKind::kRange)].width = 10;
  table.keys[static_cast<std::size_t>(KeyKind::kSteps)].width = 32;
  table.keys[static_cast<std::size_t>(KeyKind::kLog2)].signed_bits = 32;
  table.values = {{"n", false}, {"m", true}, {"k", false, true}, {"j", true, true}, {"l", false, false, true}};
  HistogramRow row{std::vector<HistogramKeyValue>(table.keys.size()), 7, {1, ~0ull, 2, 3, 4}};
  const auto value = [&](KeyKind kind) -> HistogramKeyValue& { return row.keys[static_cast<std::size_t>(kind)]; };
  value(KeyKind::kUnsigned).number = ~0ull;
  value(KeyKind::kSigned).number = static_cast<std::uint64_t>(-1);
  value(KeyKind::kHex).number = 0xabc;
  value(KeyKind::kText).text = std::string("a } hitcount: 7\n\0, key1: 3", 27);
  value(KeyKind::kStack).frames = {{0x10, "f+0x1 [p]"}, {0x20, ""}};
  value(KeyKind::kSymbol) = {0x1000, "main", {}};
  value(KeyKind::kSymbolOffset) = {0x1001, "main+0x1", {}};
  value(KeyKind::kExecName) = {42, "sh", {}};
  value(KeyKind::kSyscall) = {0, "read", {}};
  value(KeyKind::kLog2).number = 64;
  value(KeyKind::kRange).number = 20;
  value(KeyKind::kFloat).number = 0x3f800000;
  value(KeyKind::kDouble).number = 0x3ff0000000000000;
  table.rows = {row, row};
  table.rows[1].keys[0].number = 1;
  table.hits = 14;
  table.dropped = 3;
  return table;
}

std::string refusal(std::string_view bytes) {
  const auto decoded = decode_histograms(bytes);
  if (decoded) return "";
  EXPECT_EQ(decoded.error().code, EPROTO);
  return decoded.error().message;
}

TEST(HistogramTableTest, WhatWasEncodedIsDecoded) {
  const std::vector<HistogramTable> tables{table_of_all_kinds(), {}, table_of_all_kinds()};
  const auto decoded = decode_histograms(encode(tables));
  ASSERT_TRUE(decoded);
  EXPECT_EQ(*decoded, tables);
}

TEST(HistogramTableTest, NoHistogramIsAnAnswer) {
  const auto decoded = decode_histograms(encode({}));
  ASSERT_TRUE(decoded);
  EXPECT_TRUE(decoded->empty());
}

TEST(HistogramTableTest, WhatIsCutOffAnywhereIsRefused) {
  const std::string bytes = encode({table_of_all_kinds()});
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    ASSERT_THAT(refusal({bytes.data(), size}), HasSubstr("make no sense")) << size;
  }
  EXPECT_THAT(refusal(bytes + '\0'), HasSubstr("make no sense"));
}

TEST(HistogramTableTest, AnotherVersionIsNamed) {
  std::string bytes = encode({table_of_all_kinds()});
  bytes[0] = 9;
  EXPECT_THAT(refusal(bytes), HasSubstr("version 9"));
}

TEST(HistogramTableTest, AKindThatThereIsNotIsRefused) {
  HistogramTable table;
  table.keys = {{kLastKeyKind, "k", 1}};
  std::string bytes = encode({table});
  const std::size_t kind = 4 + 4 + 4 + 2;  // behind version, number of tables, trigger, number of keys
  ASSERT_EQ(bytes[kind], static_cast<char>(kLastKeyKind));
  ++bytes[kind];
  EXPECT_NE(refusal(bytes), "");
}

TEST(HistogramTableTest, NoNumberHasMoreThan64Bits) {
  HistogramTable table;
  table.keys = {{KeyKind::kLog2, "k", 0, 64}};
  EXPECT_EQ(refusal(encode({table})), "");
  table.keys[0].signed_bits = 65;
  EXPECT_NE(refusal(encode({table})), "");
}

TEST(HistogramTableTest, CountsAreNotTrustedWithMemory) {
  HistogramTable table;  // no keys and no values: a row of it is eight bytes
  std::string bytes = encode({table});
  const std::uint32_t rows = ~0u;
  std::memcpy(bytes.data() + bytes.size() - sizeof rows, &rows, sizeof rows);
  EXPECT_NE(refusal(bytes), "");
  std::string many = encode({});
  std::memcpy(many.data() + 4, &rows, sizeof rows);
  EXPECT_NE(refusal(many), "");
  table.keys = {{KeyKind::kText, std::string(100, 'k'), 0}};
  std::string name = encode({table});
  std::memcpy(name.data() + 4 + 4 + 4 + 2 + 1, &rows, sizeof rows);
  EXPECT_NE(refusal(name), "");
}

// Whatever a byte becomes, the bytes are read as something or refused: sanitizers see to it that nothing else is read.
TEST(HistogramTableTest, AnyByteMayBeWrong) {
  const std::string bytes = encode({table_of_all_kinds()});
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    for (const char wrong : {'\0', '\x01', '\x7f', '\xff'}) {
      std::string changed = bytes;
      changed[i] = wrong;
      const auto decoded = decode_histograms(changed);
      if (!decoded) continue;
      ASSERT_EQ(encode(*decoded).size(), bytes.size()) << i;
    }
  }
}

}  // namespace
}  // namespace landtrace::ipc
