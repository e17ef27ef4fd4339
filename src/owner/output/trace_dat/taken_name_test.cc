// A follower whose recording's name is another file's by now.
#include <cstring>
#include <filesystem>
#include <limits>

#include "output/trace_dat/file_format.hpp"
#include "output/trace_dat/test_support.hpp"

namespace landtrace::output {
namespace {

namespace fs = std::filesystem;
using Growth = TraceDatReader::Growth;

class TakenNameTest : public ::testing::Test {
 protected:
  static constexpr std::uint32_t kEvents = 60'000;  // many pages
  static constexpr std::int64_t kOffset_ns = 1'000'000'000'000;

  static TraceDatWriter create(const std::string& path, std::int64_t offset_ns = kOffset_ns) {
    return TraceDatWriter::create(path, {.cpus = 2, .wall_offset_ns = offset_ns}).value();
  }
  static void append(TraceDatWriter& writer, std::uint32_t first, std::uint32_t count, std::uint32_t cpu) {
    for (std::uint32_t n = first; n < first + count; ++n) {
      ASSERT_EQ(message_of(writer.append(number_record(1000 + n, cpu, n))), "");
    }
  }
  static void set_page_size(const std::string& path, std::uint32_t size) {
    std::string bytes = read_text(path);
    std::memcpy(bytes.data() + trace_dat::kMagic.size() + sizeof "6" + 2, &size, sizeof size);
    write_text(path, bytes);
  }

  // A reader of a recording with twice kEvents, of which it has read some; finished, it is PATH.old. The next one, of
  // kNextEvents, has its name.
  void replace(bool follows, bool is_finished, std::int64_t next_offset_ns) {
    TraceDatWriter writer = create(path_);
    append(writer, 0, kEvents, 0);
    ASSERT_EQ(message_of(writer.publish(kEvents / 2)), "");
    reader_ = TraceDatReader::open(path_).value();
    if (follows) {
      reader_->follow();
      EXPECT_LT(read_all(*reader_).records.size(), kEvents / 2);
    } else {
      ASSERT_TRUE(reader_->next());
    }
    append(writer, kEvents, kEvents, 1);
    ASSERT_EQ(message_of(writer.finish()), "");
    next_.emplace(create(path_, next_offset_ns));
    append(*next_, kFirstOfNext, kEvents, 0);
    append(*next_, kFirstOfNext + kEvents, kEvents, 1);
    ASSERT_EQ(message_of(next_->publish(0)), "");
    if (is_finished) {
      ASSERT_EQ(message_of(next_->finish()), "");
    }
  }
  static void expect_up_to(const ReadResult& read, std::uint32_t end) {
    ASSERT_FALSE(read.error) << read.error->message;
    ASSERT_FALSE(read.records.empty());
    std::uint32_t next = read.records.front().number();
    for (const KeptRecord& record : read.records) ASSERT_EQ(record.number(), next++);
    EXPECT_EQ(next, end);
  }
  static constexpr std::uint32_t kFirstOfNext = 1'000'000;

  std::optional<TraceDatReader> reader_;
  std::optional<TraceDatWriter> next_;
  TempDir dir_ = TempDir::in_memory();
  const std::string path_ = dir_.file("trace.dat");
};

// Its pages are read into memory for pages of the recording that had the name.
TEST_F(TakenNameTest, AFileOfLargerPagesIsRefused) {
  TraceDatWriter writer = create(path_);
  append(writer, 0, kEvents, 0);
  ASSERT_EQ(message_of(writer.publish(std::numeric_limits<std::uint64_t>::max())), "");
  auto reader = TraceDatReader::open(path_);
  ASSERT_TRUE(reader);
  reader->follow();
  TraceDatReader::Block block;
  for (bool has_more = true; has_more;) {
    const auto filled = reader->next(block, 4096);
    ASSERT_TRUE(filled);
    has_more = *filled;
  }
  append(writer, kEvents, 10 * kEvents, 1);
  ASSERT_EQ(message_of(writer.finish()), "");
  set_page_size(path_, 1024 * 1024);
  const auto growth = reader->look_again();
  EXPECT_FALSE(growth);
  ASSERT_TRUE(reader->next(block, 4096));
  EXPECT_TRUE(block.items().empty());
}

TEST_F(TakenNameTest, AFollowerReadsOnInWhatHasBecomeTheOlderOne) {
  for (const bool is_finished : {false, true}) {
    replace(true, is_finished, kOffset_ns + 1);
    const auto growth = reader_->look_again();
    ASSERT_TRUE(growth) << growth.error().message;
    EXPECT_EQ(*growth, Growth::kComplete);
    expect_up_to(read_all(*reader_), 2 * kEvents);
    next_.reset();
    for (const std::string& name : dir_.list()) fs::remove(dir_.file(name));
  }
}

// Beside an older one a journal waits at PATH.new until there is something to keep.
TEST_F(TakenNameTest, AFollowerOfOneThatWaitedReadsOnInItsPlace) {
  for (const int last : {0, 1, 2}) {
    write_text(path_, "older");
    TraceDatWriter writer = create(path_);
    auto reader = TraceDatReader::open(path_ + ".new");
    ASSERT_TRUE(reader) << reader.error().message;
    reader->follow();
    append(writer, 0, kEvents, 0);
    ASSERT_EQ(message_of(writer.publish(std::numeric_limits<std::uint64_t>::max())), "");
    std::uint32_t read = 0;
    if (last == 0) {
      ASSERT_EQ(reader->look_again().value(), Growth::kGrows);
      read = static_cast<std::uint32_t>(read_all(*reader).records.size());
      EXPECT_EQ(read, kEvents);
    }
    append(writer, kEvents, kEvents, 1);
    ASSERT_EQ(message_of(writer.finish()), "");
    if (last == 2) {
      next_.emplace(create(path_, kOffset_ns + 1));
      append(*next_, kFirstOfNext, kEvents, 0);
      ASSERT_EQ(message_of(next_->finish()), "");
    }
    const auto growth = reader->look_again();
    ASSERT_TRUE(growth) << growth.error().message;
    EXPECT_EQ(*growth, Growth::kComplete);
    EXPECT_EQ(read + read_all(*reader).records.size(), 2 * kEvents) << last;
    next_.reset();
    for (const std::string& name : dir_.list()) fs::remove(dir_.file(name));
  }
}

TEST_F(TakenNameTest, OneThatWasBegunAtTheSameOffsetIsAnother) {
  replace(true, true, kOffset_ns);
  ASSERT_EQ(reader_->look_again().value(), Growth::kComplete);
  expect_up_to(read_all(*reader_), 2 * kEvents);
}

TEST_F(TakenNameTest, WhereItIsNotTheOlderOneEitherThatIsSaid) {
  for (const bool is_finished : {false, true}) {
    replace(true, is_finished, kOffset_ns + 1);
    fs::remove(path_ + ".old");
    const auto growth = reader_->look_again();
    ASSERT_FALSE(growth);
    EXPECT_EQ(growth.error().code, ESTALE);
    EXPECT_THAT(growth.error().message, testing::HasSubstr(path_ + " is another recording by now"));
    for (const KeptRecord& record : read_all(*reader_).records) EXPECT_LT(record.number(), kEvents);
    next_.reset();
    for (const std::string& name : dir_.list()) fs::remove(dir_.file(name));
  }
}

TEST_F(TakenNameTest, AReaderHasAllThatHadCome) {
  for (const bool is_finished : {false, true}) {
    replace(false, is_finished, kOffset_ns + 1);
    expect_up_to(read_all(*reader_), kEvents);
    next_.reset();
    for (const std::string& name : dir_.list()) fs::remove(dir_.file(name));
  }
}

}  // namespace
}  // namespace landtrace::output
