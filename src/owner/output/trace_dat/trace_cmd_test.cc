// Our files as the real trace-cmd sees them.
#include <algorithm>

#include "output/trace_dat/test_support.hpp"

namespace landtrace::output {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;

class TraceCmdTest : public ::testing::Test {
 protected:
  void SetUp() override { LT_NEEDS_TRACE_CMD(); }

  void append(TraceDatWriter& writer, const Record& record) { ASSERT_EQ(message_of(writer.append(record)), ""); }
  // Finishes and reports.
  std::string report(TraceDatWriter& writer) {
    EXPECT_EQ(message_of(writer.finish()), "");
    return run("trace-cmd report -i " + path_);
  }
  // As root, `trace-cmd convert` mounts tracefs where there is none; a mount namespace keeps that from the
  // machine.
  void convert(const std::string& arguments) {
    const std::string command = "trace-cmd convert -i " + path_ + " " + arguments;
    run("if unshare -m true; then unshare -m " + command + "; else " + command + "; fi");
  }

  TempDir dir_;
  const std::string path_ = dir_.file("trace.dat");
};

TEST_F(TraceCmdTest, FileWithoutEvents) {
  TraceDatWriter writer = create_writer(path_, 2);
  EXPECT_EQ(report(writer), "cpus=2\n");
  EXPECT_THAT(run("trace-cmd dump --validate -i " + path_), HasSubstr("is a valid trace-cmd file"));
}

TEST_F(TraceCmdTest, LineOfAnEvent) {
  TraceDatWriter writer = create_writer(path_, 6);
  writer.add_event(number_type());
  writer.set_task(4711, {"my app", 4700});
  append(writer, number_record(5'000'123'000, 4, 77, 4711));
  EXPECT_EQ(report(writer), "cpus=6\n          my app-4711  [004]     5.000123: number:               n=77\n");
}

TEST_F(TraceCmdTest, FieldsOfEveryKind) {
  TraceDatWriter writer = create_writer(path_, 1);
  writer.add_event(make_type(60001, "kinds u8 a;s32 b;s64 c;u64 d;char[8] e;__rel_loc char[] f;__data_loc char[] g"));
  struct [[gnu::packed]] {
    std::uint8_t a = 200;
    // Of 8 and 16 bits trace-cmd 3.1.6 prints negative numbers as unsigned.
    std::int32_t b = -2;
    std::int64_t c = -300;
    std::uint64_t d = 18'000'000'000'000'000'000u;
    char e[8] = "eight";
    std::uint32_t f = 6u << 16 | 4;
    std::uint32_t g = 5u << 16 | (8 + 43);
    char f_text[6] = "hello";
    char g_text[5] = "data";
  } payload;
  append(writer, {1'000, 0, 1, 60001, bytes_of(payload)});
  EXPECT_THAT(report(writer),
              HasSubstr("kinds:                a=200 b=-2 c=-300 d=18000000000000000000 e=eight f=hello g=data"));
}

TEST_F(TraceCmdTest, PayloadsOfEverySize) {
  TraceDatWriter writer = create_writer(path_, 1);
  writer.add_event(make_type(60001, "text __rel_loc char[] s"));
  const std::vector<std::size_t> sizes = {1, 111, 112, 113, 114, 4096, 65532};
  for (const std::size_t size : sizes) {
    const auto location = static_cast<std::uint32_t>(size << 16);
    std::string payload(reinterpret_cast<const char*>(&location), sizeof location);
    payload += std::string(size - 1, 'x') + '\0';
    append(writer, {size * 1'000'000, 0, 1, 60001, bytes_of(payload)});
  }
  const std::string text = report(writer);
  for (const std::size_t size : sizes) {
    EXPECT_THAT(text, HasSubstr("text:                 s=" + std::string(size - 1, 'x') + "\n")) << size;
  }
}

TEST_F(TraceCmdTest, EventWithoutFieldsAndLargestPayload) {
  TraceDatWriter writer = create_writer(path_, 1);
  writer.add_event(make_type(60001, "empty"));
  writer.add_event(number_type());
  append(writer, {1'000'000, 0, 1, 60001, {}});
  append(writer, {2'000'000, 0, 1, kNumberId, bytes_of(std::string(kMaxPayload, '\1'))});
  append(writer, {3'000'000, 0, 1, 60001, {}});
  const std::string text = report(writer);
  EXPECT_THAT(text, HasSubstr("0.001000: empty:"));
  EXPECT_THAT(text, HasSubstr("0.002000: number:               n=16843009\n"));
  EXPECT_THAT(text, HasSubstr("0.003000: empty:"));
}

TEST_F(TraceCmdTest, LostEvents) {
  TraceDatWriter writer = create_writer(path_, 2);
  writer.add_event(number_type());
  append(writer, number_record(1'000'000, 1, 1));
  writer.lost(1, 12);
  append(writer, number_record(2'000'000, 1, 2));
  writer.lost(1, kLostUnknown);
  append(writer, number_record(3'000'000, 1, 3));
  const std::string text = report(writer);
  EXPECT_THAT(text, HasSubstr("n=1\nCPU:1 [12 EVENTS DROPPED]\n"));
  EXPECT_THAT(text, HasSubstr("n=2\nCPU:1 [EVENTS DROPPED]\n"));
}

TEST_F(TraceCmdTest, TimesFarApartAndBackwards) {
  TraceDatWriter writer = create_writer(path_, 1);
  writer.add_event(number_type());
  append(writer, number_record(1'000'000'000, 0, 1));
  append(writer, number_record(90'000'000'000'000, 0, 2));
  append(writer, number_record(80'000'000'000'000, 0, 3));
  append(writer, number_record(80'000'000'001'000, 0, 4));
  const std::string text = report(writer);
  EXPECT_THAT(text, HasSubstr("    1.000000: number:               n=1\n"));
  EXPECT_THAT(text, HasSubstr("90000.000000: number:               n=2\n"));
  EXPECT_THAT(text, HasSubstr("80000.000000: number:               n=3\n"));
  EXPECT_THAT(text, HasSubstr("80000.000001: number:               n=4\n"));
}

TEST_F(TraceCmdTest, TimesSinceTheEpochUseAllBits) {
  TraceDatWriter writer = create_writer(path_, 1);
  writer.add_event(number_type());
  append(writer, number_record(1'790'000'000'000'005'000, 0, 1));
  append(writer, number_record(1'790'000'000'000'004'000, 0, 2));
  EXPECT_THAT(report(writer), HasSubstr("1790000000.000004: number:               n=2\n"));
}

TEST_F(TraceCmdTest, ManyRecords) {
  constexpr std::uint32_t kCount = 200'000;
  TraceDatWriter writer = create_writer(path_, 5);
  writer.add_event(number_type());
  for (std::uint32_t i = 0; i < kCount; ++i) append(writer, number_record(1000 * i, i % 3 + 1, i));
  const std::string text = report(writer);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), kCount + 1);
  EXPECT_THAT(text, HasSubstr("n=123456\n"));
  EXPECT_THAT(text, Not(HasSubstr("DROPPED")));
}

TEST_F(TraceCmdTest, StatisticsAndTheirNames) {
  TraceDatWriter writer = create_writer(path_, 1);
  CpuStats stats;
  stats.overrun = 4;
  stats.dropped = 5;
  ASSERT_EQ(message_of(writer.finish(std::span(&stats, 1))), "");
  const std::string text = run("trace-cmd report --stat -i " + path_);
  EXPECT_THAT(text, HasSubstr("overrun: 4\n"));
  EXPECT_THAT(text, HasSubstr("dropped events: 5\n"));
}

TEST_F(TraceCmdTest, MarkerIsAnFtraceEvent) {
  auto writer = TraceDatWriter::create(path_, {.kallsyms = "0000000000001000 T tracing_mark_write\n"});
  ASSERT_TRUE(writer);
  EventType print = number_type();
  print.id = 5;
  print.system = "ftrace";
  print.format =
      "name: print\nID: 5\nformat:\n"
      "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
      "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
      "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
      "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
      "\tfield:unsigned long ip;\toffset:8;\tsize:8;\tsigned:0;\n"
      "\tfield:char buf[];\toffset:16;\tsize:0;\tsigned:0;\n\n"
      "print fmt: \"%ps: %s\", (void *)REC->ip, REC->buf\n";
  writer->add_event(print);
  append(*writer, {1'000'000, 0, 1, 5, bytes_of(std::string("\0\x10\0\0\0\0\0\0hi there\n\0", 18))});
  EXPECT_THAT(report(*writer), HasSubstr("print:                tracing_mark_write: hi there"));
}

TEST_F(TraceCmdTest, ReaderReadsTraceCmdsOwnFiles) {
  TraceDatWriter writer = create_writer(path_, 4);
  writer.add_event(number_type());
  writer.set_task(100, {"app", 99});
  append(writer, number_record(1'000, 3, 1));
  writer.lost(3, 8);
  append(writer, number_record(2'000, 3, 2));
  append(writer, number_record(1'500, 1, 3));
  EXPECT_EQ(message_of(writer.finish()), "");
  for (const std::string version : {"6", "7"}) {
    const std::string copy = dir_.file("copy" + version);
    convert("--file-version " + version + " --compression none -o " + copy);
    auto reader = TraceDatReader::open(copy);
    ASSERT_TRUE(reader) << reader.error().message;
    EXPECT_EQ(reader->cpus(), 4u) << version;
    EXPECT_EQ(reader->clock(), "mono");
    EXPECT_EQ(reader->tasks().at(100).comm, "app");
    EXPECT_EQ(reader->events().at(kNumberId).name, "number");
    EXPECT_EQ(reader->stats().at(3).entries, 2u);
    const ReadResult all = read_all(*reader);
    EXPECT_FALSE(all.error) << all.error->message;
    ASSERT_EQ(all.records.size(), 3u);
    EXPECT_EQ(all.records[1].cpu, 1u);
    EXPECT_EQ(all.records[2].lost, 8u);
    EXPECT_EQ(all.records[2].number(), 2u);
  }
}

TEST_F(TraceCmdTest, CompressedFileSaysWhatToDo) {
  TraceDatWriter writer = create_writer(path_, 1);
  EXPECT_EQ(message_of(writer.finish()), "");
  const std::string copy = dir_.file("compressed");
  convert("--file-version 7 --compression any -o " + copy);
  const auto reader = TraceDatReader::open(copy);
  if (reader) GTEST_SKIP() << "this trace-cmd has no compression";
  EXPECT_EQ(reader.error().code, ENOTSUP);
  EXPECT_THAT(reader.error().message, HasSubstr("trace-cmd convert --file-version 6 --compression none"));
}

}  // namespace
}  // namespace landtrace::output
