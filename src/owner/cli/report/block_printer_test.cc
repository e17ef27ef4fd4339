// What several threads print is what one prints, also where something is damaged or nobody reads on.
#include "cli/report/block_printer.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>

#include "cli/report_printer.hpp"
#include "output/text/own_events.hpp"
#include "output/trace_dat/test_support.hpp"

namespace landtrace::cli {
namespace {

// The two streams lead to one file for as long as it lives: what was said stands where it was said.
class BothStreams {
 public:
  explicit BothStreams(int fd) : out_(::dup(STDOUT_FILENO)), error_(::dup(STDERR_FILENO)) {
    ::dup2(fd, STDOUT_FILENO);
    ::dup2(fd, STDERR_FILENO);
  }
  ~BothStreams() {
    ::dup2(out_.get(), STDOUT_FILENO);
    ::dup2(error_.get(), STDERR_FILENO);
  }
  BothStreams(const BothStreams&) = delete;
  BothStreams& operator=(const BothStreams&) = delete;

 private:
  Fd out_;
  Fd error_;
};

class BlockPrinterTest : public testing::Test {
 protected:
  static constexpr std::uint32_t kEvents = 60'000;

  // Of four threads on three CPUs: several blocks, pages and losses, and stacks behind some of the events.
  void SetUp() override {
    auto writer = output::TraceDatWriter::create(path_, {.cpus = 3});
    ASSERT_TRUE(writer);
    writer->add_event(output::number_type());
    writer->add_event(output::make_type(7, "other u32 n"));
    if (has_stacks_) writer->add_event(output::user_stack_type());
    for (std::int32_t tid = 100; tid < 104; ++tid) writer->set_task(tid, {"app-" + std::to_string(tid), 100});
    for (std::uint32_t i = 0; i < kEvents; ++i) add(*writer, i);
    ASSERT_TRUE(writer->finish());
  }
  void add(output::TraceDatWriter& writer, std::uint32_t i) const {
    const std::uint32_t cpu = i * i % 3;
    const std::uint64_t time_ns = std::uint64_t{1'000} * i;
    if (i % 5000 == 7) writer.lost(cpu, i % 10 + 1);
    output::Record record = output::number_record(time_ns, cpu, i, 100 + static_cast<std::int32_t>(i % 4));
    if (i % 3 == 0) record.event_id = 7;
    ASSERT_TRUE(writer.append(record));
    if (!has_stacks_ || i % 10 != 0) return;
    const std::uint64_t frames[] = {90, 0xabc0 + i};
    record.event_id = output::user_stack_type().id;
    record.payload = std::as_bytes(std::span(frames));
    ASSERT_TRUE(writer.append(record));
  }

  // Both streams in one.
  std::string print(std::size_t threads) {
    const std::string file = dir_.file("printed");
    auto reader = output::TraceDatReader::open(path_);
    EXPECT_TRUE(reader);
    options_.threads = threads;
    {
      const Fd fd(::open(file.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_APPEND | O_CLOEXEC, 0600));
      const BothStreams streams(fd.get());
      status_ = ReportPrinter(options_, "recording", *std::move(reader)).print();
    }
    return output::read_text(file);
  }
  // The lines are compared at once: a test that fails would print all of them.
  void compare() {
    const std::string one = print(1);
    const int status = status_;
    for (const std::size_t threads : {2u, 5u}) {
      EXPECT_TRUE(print(threads) == one) << threads;
      EXPECT_EQ(status_, status);
    }
  }
  void compare_styles() {
    compare();
    options_.style.json = true;
    compare();
    options_.style.fields = {"n"};
    compare();
    options_.style = {};
    options_.style.is_relative = true;
    compare();
    options_.style = {};
    options_.style.is_delta = true;
    compare();
    options_.style = {};
    options_.style.for_terminal = options_.style.has_colors = true;
    compare();
    options_.style = {};
    options_.count_only = true;
    compare();
    options_.count_only = false;
  }
  void select(const Selection::Texts& texts) { options_.selection = *Selection::parse(texts); }

  bool has_stacks_ = false;
  output::TempDir dir_ = output::TempDir::in_memory();
  std::string path_ = dir_.file("t.dat");
  ReportPrinter::Options options_;
  int status_ = -1;
};

TEST_F(BlockPrinterTest, LinesComeInTheOrderOfTheEvents) {
  const std::string text = print(4);
  std::size_t at = 0;
  for (std::uint32_t i = 0; i < kEvents; ++i) {
    at = text.find('(' + std::to_string(i) + ")\n", at);
    ASSERT_NE(at, std::string::npos) << i;
  }
  compare_styles();
}

TEST_F(BlockPrinterTest, WhatIsNotWantedIsNotPrinted) {
  select({.events = {"other"}, .filter = "n > 1000", .cpus = "0-1"});
  compare_styles();
  select({.from = "0.02", .to = "0.05", .tids = {"101", "103"}});
  compare_styles();
}

TEST_F(BlockPrinterTest, TheLimitIsReachedAtTheSameEvent) {
  for (const std::uint64_t limit : {1u, 4095u, 4096u, 4097u, 30'000u, 60'000u, 60'001u}) {
    options_.limit = limit;
    compare();
  }
  select({.events = {"other"}});
  options_.limit = 10'000;
  compare_styles();
}

TEST_F(BlockPrinterTest, DamageIsToldWhereItIs) {
  const std::string sound = output::read_text(path_);
  for (const std::uint32_t i : {20'002u, 40'000u}) {
    // What stands before the event says how long it is: 4 bytes, which is too short.
    const std::uint32_t entry[] = {output::kNumberId, 100 + i % 4, i};
    const std::size_t at = sound.find(std::string(reinterpret_cast<const char*>(entry), sizeof entry));
    ASSERT_NE(at, std::string::npos);
    std::string bytes = sound;
    bytes.replace(at - 4, 4, std::string("\1\0\0\0", 4));
    output::write_text(path_, bytes);
    const std::string text = print(4);
    EXPECT_EQ(status_, 1);
    const std::size_t told = text.find("landtrace: recording: CPU ");
    ASSERT_NE(told, std::string::npos);
    // Behind the event before it of its CPU, and before that of another one.
    const std::size_t before = text.find('(' + std::to_string(i - 2) + ")\n");
    const std::size_t behind = text.find('(' + std::to_string(i - 1) + ")\n");
    EXPECT_LT(before, told);
    EXPECT_GT(behind, told);
    EXPECT_NE(behind, std::string::npos);
    EXPECT_EQ(text.find('(' + std::to_string(i) + ")\n"), std::string::npos);
    compare_styles();
  }
}

TEST_F(BlockPrinterTest, AReaderThatGoesAwayEndsItQuietly) {
  ::signal(SIGPIPE, SIG_IGN);
  const std::string complaints = dir_.file("complaints");
  for (const std::size_t threads : {1u, 4u}) {
    int ends[2];
    ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    Fd from(ends[0]);
    Fd to(ends[1]);
    // It reads a little of what is much more than the pipe holds.
    std::thread reader([&from] {
      char text[100];
      EXPECT_GT(::read(from.get(), text, sizeof text), 0);
      from = Fd();
    });
    auto recording = output::TraceDatReader::open(path_);
    options_.threads = threads;
    const Fd error(::open(complaints.c_str(), O_CREAT | O_TRUNC | O_RDWR | O_CLOEXEC, 0600));
    {
      const BothStreams streams(error.get());
      ::dup2(to.get(), STDOUT_FILENO);
      status_ = ReportPrinter(options_, path_, *std::move(recording)).print();
    }
    reader.join();
    EXPECT_EQ(status_, 0);
    EXPECT_EQ(output::read_text(complaints), "");
  }
}

class BlockPrinterStackTest : public BlockPrinterTest {
 protected:
  BlockPrinterStackTest() { has_stacks_ = true; }
};

TEST_F(BlockPrinterStackTest, StacksGoWithTheirEventsAcrossBlocks) {
  compare_styles();
  select({.events = {"other"}});
  compare_styles();
  EXPECT_THAT(print(4), testing::HasSubstr("<user stack trace>"));
}

// Many fields that all name the same long bytes: a line is some hundred times as long as its event.
TEST_F(BlockPrinterTest, MoreTextThanIsKeptIsWrittenMeanwhile) {
  std::string fields = "many";
  for (char name = 'a'; name <= 'p'; ++name) fields.append(name == 'a' ? " " : "; ").append("__data_loc u8[] ") += name;
  auto writer = output::TraceDatWriter::create(path_, {.cpus = 1});
  ASSERT_TRUE(writer);
  writer->add_event(output::make_type(8, fields));
  std::vector<std::uint32_t> payload(500);
  for (std::size_t i = 0; i < 16; ++i) payload[i] = 2000u << 16 | 8;
  for (std::uint32_t i = 0; i < 300; ++i) {
    payload.back() = i;
    ASSERT_TRUE(writer->append({i, 0, 100, 8, std::as_bytes(std::span(payload))}));
  }
  ASSERT_TRUE(writer->finish());
  EXPECT_GT(print(1).size(), 20u * 1024 * 1024);
  compare();
}

}  // namespace
}  // namespace landtrace::cli
