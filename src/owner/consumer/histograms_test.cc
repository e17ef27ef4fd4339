#include "consumer/histograms.hpp"

#include <gtest/gtest.h>

namespace landtrace::consumer {
namespace {

// An owner that gives `bytes` in pieces of `piece`, and says that there are `announced`.
struct Owner {
  std::string bytes;
  std::size_t piece;
  std::uint64_t announced;
  int asked = 0;

  Result<std::vector<ipc::HistogramTable>> gather() {
    return gather_histograms([this](std::uint64_t at) -> Result<ipc::Answer> {
      ++asked;
      ipc::Answer answer;
      answer.reply.a = announced;
      if (at < bytes.size()) answer.text = bytes.substr(at, piece);
      return answer;
    });
  }
};

Owner owner_of(const std::vector<ipc::HistogramTable>& tables, std::size_t piece) {
  const std::string bytes = ipc::encode(tables);
  return {bytes, piece, bytes.size()};
}

std::vector<ipc::HistogramTable> one_table() {
  ipc::HistogramTable table;
  table.trigger = "hist:keys=n";
  table.keys = {{ipc::KeyKind::kUnsigned, "n", 0}};
  table.rows = {{{{7, "", {}}}, 1, {}}};
  table.hits = 1;
  return {table};
}

TEST(GatherHistogramsTest, PiecesArePutTogether) {
  for (const std::size_t piece : {1, 10, 100000}) {
    Owner owner = owner_of(one_table(), piece);
    const auto tables = owner.gather();
    ASSERT_TRUE(tables);
    EXPECT_EQ(*tables, one_table());
    EXPECT_EQ(owner.asked, static_cast<int>((owner.bytes.size() + piece - 1) / piece));
  }
}

TEST(GatherHistogramsTest, AnOwnerThatSaysLessThanItAnnouncedIsRefused) {
  Owner owner = owner_of(one_table(), 10);
  ++owner.announced;
  EXPECT_EQ(owner.gather().error().code, EPROTO);
}

TEST(GatherHistogramsTest, AnOwnerThatSaysMoreThanItAnnouncedIsRefused) {
  Owner owner = owner_of(one_table(), 100000);
  --owner.announced;
  EXPECT_EQ(owner.gather().error().code, EPROTO);
}

TEST(GatherHistogramsTest, AnOwnerWithoutAnEndIsNotListenedTo) {
  Owner owner = owner_of(one_table(), 10);
  owner.announced = kMaxHistogramBytes + 1;
  EXPECT_EQ(owner.gather().error().code, EPROTO);
  EXPECT_EQ(owner.asked, 1);
}

TEST(GatherHistogramsTest, BytesThatMakeNoSenseAreRefused) {
  Owner owner = owner_of(one_table(), 10);
  owner.bytes[0] = 'x';
  EXPECT_EQ(owner.gather().error().code, EPROTO);
}

TEST(GatherHistogramsTest, WhatTheOwnerRefusesIsHandedOn) {
  const auto tables =
      gather_histograms([](std::uint64_t) -> Result<ipc::Answer> { return fail(ENOENT, "there is no such event"); });
  ASSERT_FALSE(tables);
  EXPECT_EQ(tables.error().code, ENOENT);
  EXPECT_EQ(tables.error().message, "there is no such event");
}

}  // namespace
}  // namespace landtrace::consumer
