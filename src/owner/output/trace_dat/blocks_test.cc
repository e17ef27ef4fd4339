// Blocks of events: the same events, losses and errors, in the same order, as one by one.
#include <fmt/core.h>

#include <deque>
#include <random>

#include "output/trace_dat/test_support.hpp"

namespace landtrace::output {
namespace {

using Item = TraceDatReader::Item;

std::string text_of(const Item& item) {
  const Record& record = item.record;
  const std::string_view payload(reinterpret_cast<const char*>(record.payload.data()), record.payload.size());
  return fmt::format("{} {} {} {} {} {}", item.lost, record.time_ns, record.cpu, record.tid, record.event_id, payload);
}

std::vector<std::string> one_by_one(const std::string& path) {
  auto reader = TraceDatReader::open(path);
  if (!reader) return {reader.error().message};
  std::vector<std::string> all;
  while (true) {
    const auto item = reader->next();
    if (item && !*item) return all;
    all.push_back(item ? text_of(**item) : item.error().message);
  }
}

// All blocks are kept to the end, as other threads may keep some of them.
std::vector<std::string> in_blocks(const std::string& path, std::size_t most) {
  auto reader = TraceDatReader::open(path);
  if (!reader) return {reader.error().message};
  std::deque<std::pair<TraceDatReader::Block, std::string>> blocks;
  bool has_more = true;
  while (has_more) {
    auto& [block, error] = blocks.emplace_back();
    const auto filled = reader->next(block, most);
    if (!filled) error = filled.error().message;
    has_more = !filled || *filled;
  }
  std::vector<std::string> all;
  for (const auto& [block, error] : blocks) {
    EXPECT_LE(block.items().size(), most);
    for (const Item& item : block.items()) all.push_back(text_of(item));
    if (!error.empty()) all.push_back(error);
  }
  return all;
}

class BlocksTest : public testing::Test {
 protected:
  // Three CPUs, of which two have events at the same times; pages, losses, long entries and long pauses.
  void SetUp() override {
    TraceDatWriter writer = create_writer(path_, 3);
    auto random = [generator = std::mt19937(3)]() mutable { return static_cast<std::uint32_t>(generator()); };
    std::uint64_t time_ns = 1'000;
    for (std::uint32_t i = 0; i < 20'000; ++i) {
      const std::uint32_t cpu = random() % 3;
      if (random() % 4 != 0) time_ns += random() % 500 == 0 ? 1'000'000'000 : 100;
      if (random() % 1000 == 0) writer.lost(cpu, random() % 9 + 1);
      const std::string payload(random() % 100 == 0 ? random() % 2000 : random() % 50, static_cast<char>('a' + i % 26));
      ASSERT_TRUE(writer.append({time_ns, cpu, static_cast<std::int32_t>(i), 7, bytes_of(payload)}));
    }
    ASSERT_TRUE(writer.finish());
  }
  void compare(const std::string& path) {
    const auto expected = one_by_one(path);
    for (const std::size_t most : {1u, 2u, 61u, 4096u, 1'000'000u}) EXPECT_EQ(in_blocks(path, most), expected) << most;
  }

  TempDir dir_ = TempDir::in_memory();
  const std::string path_ = dir_.file("t.dat");
};

TEST_F(BlocksTest, HaveTheSameEventsAsOneByOne) {
  EXPECT_EQ(one_by_one(path_).size(), 20'000u);
  compare(path_);
}

TEST_F(BlocksTest, AnErrorComesBehindTheEventsBeforeIt) {
  const std::string sound = read_text(path_);
  const std::string damaged = dir_.file("damaged.dat");
  auto random = [generator = std::mt19937(4)]() mutable { return static_cast<std::uint32_t>(generator()); };
  std::size_t errors = 0;
  for (int i = 0; i < 60; ++i) {
    std::string bytes = sound;
    for (int j = 0; j < 5; ++j) bytes[bytes.size() / 4 + random() % (bytes.size() * 3 / 4)] ^= static_cast<char>(0xff);
    if (i % 10 == 0) bytes.resize(bytes.size() - random() % (bytes.size() / 2));
    write_text(damaged, bytes);
    compare(damaged);
    for (const std::string& line : one_by_one(damaged)) errors += line.starts_with("CPU ") ? 1 : 0;
  }
  EXPECT_GT(errors, 0u);
}

TEST_F(BlocksTest, AreValidBehindTheReader) {
  TraceDatReader::Block block;
  {
    auto reader = TraceDatReader::open(path_);
    ASSERT_TRUE(reader);
    ASSERT_TRUE(reader->next(block, 100));
  }
  const auto expected = one_by_one(path_);
  for (std::size_t i = 0; i < block.items().size(); ++i) EXPECT_EQ(text_of(block.items()[i]), expected[i]);
}

}  // namespace
}  // namespace landtrace::output
