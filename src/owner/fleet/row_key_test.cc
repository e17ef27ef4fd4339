#include "fleet/row_key.hpp"

#include <gtest/gtest.h>

namespace landtrace::fleet {
namespace {

using ipc::KeyKind;

ipc::HistogramTable shape_of(std::vector<ipc::HistogramKey> keys) {
  ipc::HistogramTable shape;
  shape.keys = std::move(keys);
  return shape;
}

TEST(RowKeyTest, ABucketIsApart) {
  const auto shape = shape_of({{KeyKind::kText, "route", 0, 0}, {KeyKind::kSteps, "took", 32, 0}});
  const ipc::HistogramRow row{{{0, "/login", {}}, {4096, "", {}}}, 1, {}};
  EXPECT_EQ(key_text(shape, row), "/login");
  EXPECT_EQ(step_of(shape, row), 4096u);
}

TEST(RowKeyTest, WhatIsWrittenIsReadAgain) {
  const auto shape = shape_of({{KeyKind::kText, "a", 0, 0},
                               {KeyKind::kSigned, "b", 0, 32},
                               {KeyKind::kText, "c", 0, 0},
                               {KeyKind::kHex, "d", 0, 0},
                               {KeyKind::kLog2, "e", 0, 0}});
  for (const std::string& text :
       std::vector<std::string>{"", "x", "a\tb", "\\", "\\t\t\\\\", std::string("a\0b", 3)}) {
    const ipc::HistogramRow row{
        {{0, text, {}}, {static_cast<std::uint64_t>(-5), "", {}}, {0, text + "z", {}}, {~0ull, "", {}}, {7, "", {}}},
        0,
        {}};
    ipc::HistogramRow again;
    ASSERT_TRUE(read_keys(shape, key_text(shape, row), step_of(shape, row), again)) << text;
    EXPECT_EQ(again, row) << text;
  }
}

TEST(RowKeyTest, OneKeyMayBeAnEmptyText) {
  const auto shape = shape_of({{KeyKind::kText, "a", 0, 0}});
  ipc::HistogramRow row;
  ASSERT_TRUE(read_keys(shape, "", 0, row));
  EXPECT_EQ(row.keys.size(), 1u);
}

TEST(RowKeyTest, OtherKeysAreNotRead) {
  const auto shape = shape_of({{KeyKind::kUnsigned, "a", 0, 0}, {KeyKind::kText, "b", 0, 0}});
  for (const char* const text : {"", "1", "x\ty", "-1\ty", "1 \ty"}) {
    ipc::HistogramRow row;
    EXPECT_FALSE(read_keys(shape, text, 0, row)) << text;
  }
  ipc::HistogramRow row;
  EXPECT_FALSE(read_keys(shape_of({}), "x", 0, row));
}

}  // namespace
}  // namespace landtrace::fleet
