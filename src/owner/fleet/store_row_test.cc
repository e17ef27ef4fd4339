#include "fleet/store_row.hpp"

#include <gtest/gtest.h>

#include "fleet/row_binary.hpp"
#include "fleet/store_sql.hpp"

namespace landtrace::fleet {
namespace {

using ipc::KeyKind;

Frame some_frame() {
  Frame frame;
  frame.host = "h";
  frame.boot = "b";
  frame.domain = "d";
  frame.labels = "x=y";
  frame.order = "o";
  frame.event = "e";
  frame.generation = 5;
  frame.sequence = 6;
  frame.time_ns = 1ull << 60;
  frame.is_last = true;
  frame.unpaired = {1, 2, 3};
  frame.table.keys = {{KeyKind::kText, "route", 0, 0}, {KeyKind::kSteps, "took", 32, 0}};
  frame.table.values = {{"took"}, {"bytes"}};
  frame.table.hits = 9;
  frame.table.dropped = 8;
  frame.table.rows = {{{{0, "/", {}}, {64, "", {}}}, 4, {256, 1}},
                      {{{0, "/x", {}}, {64, "", {}}}, 3, {192, 2}},
                      {{{0, "/", {}}, {128, "", {}}}, 2, {256, 3}}};
  return frame;
}

using Lists = std::vector<std::vector<std::uint64_t>>;

std::uint64_t size_of(RowReader& reader) { return reader.number<std::uint8_t>(); }

Lists read_lists(RowReader& reader) {
  Lists lists(size_of(reader));
  for (auto& list : lists) {
    list.resize(size_of(reader));
    for (std::uint64_t& number : list) number = reader.number<std::uint64_t>();
  }
  return lists;
}

TEST(StoreRowTest, HasAllOfTheFrame) {
  std::string bytes;
  append_row(bytes, some_frame(), 77);
  RowReader reader(bytes);
  EXPECT_EQ(reader.number<std::uint16_t>(), kSchema);
  EXPECT_EQ(reader.number<std::uint32_t>(), 77u);
  EXPECT_EQ(reader.text(), "o");
  EXPECT_EQ(reader.text(), "e");
  EXPECT_EQ(reader.number<std::uint64_t>(), 1ull << 60);
  for (const char* const text : {"h", "d", "b"}) EXPECT_EQ(reader.text(), text);
  for (const std::uint64_t number : {5, 6}) EXPECT_EQ(reader.number<std::uint64_t>(), number);
  EXPECT_EQ(reader.number<std::uint8_t>(), 1);
  EXPECT_EQ(reader.text(), "x=y");
  const auto shape = shape_of_bytes(reader.text());
  ASSERT_TRUE(shape);
  EXPECT_EQ(shape->keys, some_frame().table.keys);
  EXPECT_EQ(shape->values, some_frame().table.values);
  EXPECT_TRUE(shape->rows.empty());
  for (const std::uint64_t number : {9, 8, 1, 2, 3}) EXPECT_EQ(reader.number<std::uint64_t>(), number);
  ASSERT_EQ(size_of(reader), 2u);
  EXPECT_EQ(reader.text(), "/");
  EXPECT_EQ(reader.text(), "/x");
  EXPECT_EQ(read_lists(reader), (Lists{{64, 128}, {64}}));
  EXPECT_EQ(read_lists(reader), (Lists{{4, 2}, {3}}));
  ASSERT_EQ(size_of(reader), 2u);
  EXPECT_EQ(read_lists(reader), (Lists{{256, 256}, {192}}));
  EXPECT_EQ(read_lists(reader), (Lists{{1, 3}, {2}}));
  EXPECT_TRUE(reader.is_good());
  EXPECT_TRUE(reader.is_at_end());
}

TEST(StoreRowTest, WhatIsCutOffIsNotRead) {
  std::string bytes;
  RowWriter writer(bytes);
  writer.text(std::string(300, 'x'));
  writer.number(std::uint64_t{7});
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    RowReader reader(std::string_view(bytes).substr(0, size));
    reader.text();
    reader.number<std::uint64_t>();
    EXPECT_FALSE(reader.is_good()) << size;
  }
  RowReader reader(bytes);
  EXPECT_EQ(reader.text().size(), 300u);
  EXPECT_EQ(reader.number<std::uint64_t>(), 7u);
  EXPECT_TRUE(reader.is_good());
}

TEST(StoreSqlTest, TextsCannotEndTheirQuotes) {
  EXPECT_EQ(sql_text("a'b\\c"), "'a\\'b\\\\c'");
  EXPECT_EQ(sql_name("a`b"), "`a\\`b`");
  EXPECT_NE(seen_sql({"o'", "e"}, {1, 2, 0, false}, 0, 2).find("order_id = 'o\\''"), std::string::npos);
}

}  // namespace
}  // namespace landtrace::fleet
