// The files about a buffer, as a shell would use them. The transcripts say more (transcript_test.cc).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tracefs/test_session.hpp"

namespace landtrace::tracefs {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class TraceFilesTest : public ::testing::Test {
 protected:
  void emit(unsigned from, unsigned end) {
    for (unsigned i = from; i < end; ++i) ASSERT_EQ(session_("write a u32:" + std::to_string(i)), "ok 8");
  }
  void listen() {
    ASSERT_EQ(session_.run({"reg", "a", "e1 u32 n"}), "ok index=0");
    ASSERT_EQ(session_("put events/user_events/e1/enable 1"), "ok");
  }
  Result<std::unique_ptr<OpenFile>> open(const std::string& path, int flags = O_RDONLY) {
    LT_TRY(const auto node, session_.tree().find(path));
    return node->file()->open(session_.caller(), flags);
  }
  std::string read(OpenFile& file, std::size_t size, std::uint64_t offset = 0) {
    std::string text(size, '\0');
    const auto n = file.read(session_.caller(), text, offset);
    if (!n) return ::strerrorname_np(n.error().code);
    text.resize(*n);
    return text;
  }
  std::string put(const std::string& path, std::string_view text) { return session_.write(path, text, O_TRUNC); }

  TestSession session_;
};

TEST_F(TraceFilesTest, SizesAreDecimalAndRounded) {
  for (const char* const bad : {"0", "x", "-1", "0x10", " 12", "12 ", ""}) {
    EXPECT_EQ(put("buffer_size_kb", bad), "-EINVAL") << bad;
  }
  EXPECT_EQ(put("buffer_size_kb", "99999999999999"), "-ENOMEM");
  EXPECT_EQ(session_("cat buffer_size_kb"), "1410");
  EXPECT_EQ(session_("put buffer_size_kb 8"), "ok");
  EXPECT_EQ(session_("cat buffer_size_kb"), "11");
  const std::size_t cpus = session_.domain().instances().first_claimed();
  EXPECT_EQ(session_("cat buffer_total_size_kb"), std::to_string(11 * cpus));
  EXPECT_EQ(put("buffer_total_size_kb", "1"), "-EINVAL");
  if (cpus < 2) return;
  EXPECT_EQ(session_("put per_cpu/cpu0/buffer_size_kb 50"), "ok");
  EXPECT_EQ(session_("cat per_cpu/cpu0/buffer_size_kb"), "51");
  EXPECT_EQ(session_("cat buffer_size_kb"), "X");
}

TEST_F(TraceFilesTest, SubBuffersArePowersOfTwo) {
  for (const char* const bad : {"0", "513", "-1", "x", ""}) EXPECT_EQ(put("buffer_subbuf_size_kb", bad), "-EINVAL");
  for (const auto& [wanted, is] : {std::pair{"1", "4"}, {"5", "8"}, {"64", "64"}, {"100", "128"}, {"512", "512"}}) {
    EXPECT_EQ(put("buffer_subbuf_size_kb", wanted), "ok");
    EXPECT_EQ(session_("cat buffer_subbuf_size_kb"), is);
  }
}

TEST_F(TraceFilesTest, Percent) {
  for (const char* const bad : {"101", "-1", " 50", "0x20", ""}) EXPECT_EQ(put("buffer_percent", bad), "-EINVAL");
  EXPECT_EQ(put("buffer_percent", "050\n"), "ok");
  EXPECT_EQ(session_("cat buffer_percent"), "50");
}

TEST_F(TraceFilesTest, ClockEmptiesTheBuffer) {
  listen();
  emit(0, 2);
  EXPECT_EQ(put("trace_clock", "nosuch"), "-EINVAL");
  EXPECT_EQ(session_("trace"), "e1: n=0x0 (0)\ne1: n=0x1 (1)");
  EXPECT_EQ(put("trace_clock", " boot \n"), "ok");
  EXPECT_THAT(session_("cat trace_clock"), HasSubstr(" [boot] "));
  EXPECT_EQ(session_("trace"), "(empty)");
  EXPECT_EQ(put("trace_clock", "x86-tsc"), "ok");
  emit(2, 3);
  EXPECT_THAT(session_("cat per_cpu/cpu0/stats"), Not(HasSubstr(".")));
}

TEST_F(TraceFilesTest, OptionsAreKeptAndReadBack) {
  EXPECT_THAT(session_("cat trace_options"), AllOf(StartsWith("print-parent\nnosym-offset\n"),
                                                   HasSubstr("\nirq-info\n"), HasSubstr("\nnotest_nop_refuse")));
  EXPECT_EQ(put("trace_options", " nosym-addr\n"), "ok");
  EXPECT_EQ(put("trace_options", "sym-addr"), "ok");
  EXPECT_EQ(session_("cat options/sym-addr"), "1");
  EXPECT_EQ(put("trace_options", "norawx"), "-EINVAL");
  EXPECT_EQ(put("trace_options", "test_nop_refuse"), "-EINVAL");
  EXPECT_EQ(put("options/test_nop_refuse", "1"), "-EINVAL");
  EXPECT_EQ(put("options/hex", "1 "), "-EINVAL");
  EXPECT_EQ(session_("cat options/hex"), "0");
}

TEST_F(TraceFilesTest, InstanceTakesOverOptionsButNotAllOfThem) {
  EXPECT_EQ(put("trace_options", "noirq-info"), "ok");
  ASSERT_EQ(session_("mkdir instances/foo"), "ok");
  EXPECT_EQ(session_("cat instances/foo/options/irq-info"), "0");
  EXPECT_EQ(session_("cat options/trace_printk_dest"), "1");
  EXPECT_EQ(session_("cat instances/foo/options/trace_printk_dest"), "0");
  EXPECT_EQ(session_("exists options/record-cmd"), "yes");
  EXPECT_EQ(session_("exists instances/foo/options/record-cmd"), "no");
  EXPECT_EQ(session_("exists instances/foo/saved_cmdlines"), "no");
}

TEST_F(TraceFilesTest, MarkersHaveTheKernelsLimits) {
  const std::string text(5000, 'x');
  EXPECT_EQ(put("trace_marker", text), "short write 4054 of 5000");
  EXPECT_EQ(put("trace_marker", ""), "ok");
  EXPECT_EQ(put("trace_marker_raw", "abc"), "-EINVAL");
  EXPECT_EQ(put("trace_marker_raw", text.substr(0, 4064)), "ok");
  EXPECT_EQ(put("trace_marker_raw", text.substr(0, 4065)), "-EINVAL");
  EXPECT_EQ(session_("putn trace \"\""), "ok");
  EXPECT_EQ(put("trace_marker_raw", std::string("abcd\1\2\3", 7)), "ok");
  EXPECT_EQ(session_("trace"), "# 64636261 buf: 01 02 03 00");
  EXPECT_EQ(session_("put tracing_on 0"), "ok");
  EXPECT_EQ(put("trace_marker", "x"), "-EBADF");
  EXPECT_EQ(session_("put tracing_on 1"), "ok");
  EXPECT_EQ(put("trace_options", "nomarkers"), "ok");
  EXPECT_EQ(put("trace_marker", "x"), "-EINVAL");
  EXPECT_EQ(session_("cat trace_marker"), "-EINVAL");
}

TEST_F(TraceFilesTest, TracingOnTakesDecimalNumbers) {
  for (const char* const bad : {"x", "-1", "", " 1", "0x1"}) EXPECT_EQ(put("tracing_on", bad), "-EINVAL") << bad;
  EXPECT_EQ(put("tracing_on", "00"), "ok");
  EXPECT_EQ(session_("cat tracing_on"), "0");
  EXPECT_EQ(put("tracing_on", "2\n"), "ok");
  EXPECT_EQ(session_("cat tracing_on"), "1");
}

TEST_F(TraceFilesTest, WhatIsWrittenEndsAtANul) {
  using namespace std::string_literals;
  for (const auto& [path, bytes, is] : {std::tuple{"tracing_on", "0\0"s, "0"},
                                        {"options/hex", "1\0"s, "1"},
                                        {"trace_options", "bin\0"s, ""},
                                        {"trace_clock", "boot\0"s, ""},
                                        {"buffer_percent", "7\0\n"s, "7"},
                                        {"buffer_size_kb", "50\0x"s, "51"},
                                        {"buffer_subbuf_size_kb", "8\0"s, "8"},
                                        {"saved_cmdlines_size", "99\0"s, ""},
                                        {"snapshot", "1\0"s, ""}}) {
    EXPECT_EQ(put(path, bytes), "ok") << path;
    if (*is != '\0') {
      EXPECT_EQ(session_.cat(path), is);
    }
  }
  EXPECT_EQ(session_("cat options/bin"), "1");
  EXPECT_THAT(session_("cat trace_clock"), HasSubstr("[boot]"));
  EXPECT_EQ(put("tracing_on", "\0"s), "-EINVAL");
  EXPECT_EQ(put("trace_options", "\0bin"s), "-EINVAL");
}

TEST_F(TraceFilesTest, WhatAHistogramKeepsInTheSnapshotStaysThere) {
  listen();
  const std::string hist = "hist:keys=common_pid:m=n:onmax($m).snapshot()";
  ASSERT_EQ(session_.append("events/user_events/e1/trigger", hist), "ok");
  emit(1, 2);
  const std::string kept = session_("trace snapshot");
  EXPECT_THAT(kept, HasSubstr("n=0x1 (1)"));
  emit(0, 1);
  for (const char* const number : {"0", "1", "2"}) EXPECT_EQ(put("snapshot", number), "-EBUSY") << number;
  EXPECT_EQ(put("per_cpu/cpu0/snapshot", "2"), "-EBUSY");
  EXPECT_EQ(put("snapshot", "x"), "-EINVAL");
  EXPECT_EQ(session_("trace snapshot"), kept);
  ASSERT_EQ(session_.append("events/user_events/e1/trigger", "!" + hist), "ok");
  EXPECT_EQ(put("snapshot", "2"), "ok");
  EXPECT_EQ(session_("trace snapshot"), "(empty)");
}

TEST_F(TraceFilesTest, SnapshotWithoutRoomSaysSo) {
  EXPECT_THAT(session_("cat snapshot"), StartsWith("# tracer: nop\n#\n#\n# * Snapshot is freed *\n#\n"));
  EXPECT_EQ(put("snapshot", "1"), "ok");
  EXPECT_THAT(session_("cat snapshot"), StartsWith("# tracer: nop\n#\n#\n# * Snapshot is allocated *\n#\n"));
  EXPECT_EQ(put("per_cpu/cpu0/snapshot", "1"), "-EINVAL");
  EXPECT_EQ(put("per_cpu/cpu0/snapshot", "0"), "-EINVAL");
  EXPECT_EQ(put("per_cpu/cpu0/snapshot", "2"), "ok");
  EXPECT_EQ(put("snapshot", "x"), "-EINVAL");
}

TEST_F(TraceFilesTest, SnapshotIsReadAsPagesToo) {
  listen();
  emit(0, 5);
  ASSERT_EQ(put("snapshot", "1"), "ok");
  std::size_t pages = 0;
  for (std::uint32_t cpu = 0; cpu < session_.domain().instances().first_claimed(); ++cpu) {
    const auto raw = *open("per_cpu/cpu" + std::to_string(cpu) + "/snapshot_raw");
    for (std::uint64_t offset = 0; read(*raw, 4096, offset).size() == 4096; offset += 4096) ++pages;
  }
  EXPECT_GE(pages, 1u);
}

TEST_F(TraceFilesTest, OnlyTruncationClears) {
  listen();
  emit(0, 1);
  EXPECT_EQ(session_.append("trace", "x"), "ok");
  EXPECT_EQ(session_("trace"), "e1: n=0x0 (0)");
  ASSERT_TRUE(open("trace", O_RDONLY | O_TRUNC));
  EXPECT_EQ(session_("trace"), "e1: n=0x0 (0)");
  ASSERT_TRUE(open("trace", O_RDWR | O_TRUNC));
  EXPECT_EQ(session_("trace"), "(empty)");
}

TEST_F(TraceFilesTest, TraceIsTheSameInPiecesOfAnySize) {
  listen();
  emit(0, 50);
  const auto whole = *open("trace");
  const std::string text = read(*whole, 100'000);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 12 + 50);
  EXPECT_EQ(read(*whole, 100, text.size()), "");
  for (const std::size_t size : {1u, 7u, 80u, 1000u}) {
    const auto file = *open("trace");
    std::string pieces;
    for (std::string piece = read(*file, size); !piece.empty(); piece = read(*file, size, pieces.size()))
      pieces += piece;
    EXPECT_EQ(pieces, text);
    EXPECT_EQ(read(*file, 50, 1000), text.substr(1000, 50));  // back
    EXPECT_EQ(read(*file, 50, 2000), text.substr(2000, 50));  // and past some
  }
}

TEST_F(TraceFilesTest, PipeHasOneReader) {
  const auto cpu = open("per_cpu/cpu0/trace_pipe");
  ASSERT_TRUE(cpu);
  EXPECT_EQ(open("trace_pipe").error().code, EBUSY);
  EXPECT_EQ(open("per_cpu/cpu0/trace_pipe").error().code, EBUSY);
  EXPECT_TRUE(open("per_cpu/cpu0/trace_pipe_raw"));
}

TEST_F(TraceFilesTest, PipeGivesWholeLinesAndTheirRest) {
  listen();
  emit(0, 3);
  const auto pipe = *open("trace_pipe");
  EXPECT_EQ(pipe->ready(), POLLIN);
  std::string text;
  for (std::string piece = read(*pipe, 10); piece != "EAGAIN"; piece = read(*pipe, 10)) {
    ASSERT_LE(piece.size(), 10u);
    text += piece;
  }
  EXPECT_THAT(text, AllOf(HasSubstr("n=0x0"), HasSubstr("n=0x2"), ::testing::EndsWith("\n")));
  EXPECT_EQ(pipe->ready(), 0);
  emit(3, 4);
  EXPECT_EQ(pipe->ready(), POLLIN);
}

TEST_F(TraceFilesTest, PipeEndsWhenTracingIsOffAndSomethingWasRead) {
  listen();
  emit(0, 1);
  {
    const auto pipe = *open("trace_pipe", O_RDONLY);
    EXPECT_EQ(session_("put tracing_on 0"), "ok");
    EXPECT_FALSE(read(*pipe, 1000).empty());
    EXPECT_TRUE(pipe->has_input());
    EXPECT_EQ(pipe->ready(), 0);
    EXPECT_EQ(read(*pipe, 1000), "");
  }
  {
    const auto pipe = *open("trace_pipe", O_RDONLY);
    EXPECT_EQ(read(*pipe, 1000), "EAGAIN");
  }
  EXPECT_EQ(session_("put tracing_on 1"), "ok");
  emit(1, 2);
  EXPECT_EQ(session_("put tracing_on 0"), "ok");
  const auto pipe = *open("trace_pipe", O_RDONLY | O_NONBLOCK);
  EXPECT_FALSE(read(*pipe, 1000).empty());
  EXPECT_EQ(read(*pipe, 1000), "EAGAIN");
}

TEST_F(TraceFilesTest, WhetherAPipeEndsIsForWhoWaitsAtThatMoment) {
  listen();
  for (const int opened : {O_RDONLY, O_RDONLY | O_NONBLOCK}) {
    emit(0, 1);
    const auto pipe = *open("trace_pipe", opened);
    EXPECT_FALSE(read(*pipe, 1000).empty());
    Caller caller = TestSession::caller();
    char byte = 0;
    caller.waits = true;
    EXPECT_EQ(pipe->read(caller, {&byte, 1}, 0).error().code, EAGAIN);
    EXPECT_FALSE(pipe->has_input());
    ASSERT_EQ(session_("put tracing_on 0"), "ok");
    EXPECT_TRUE(pipe->has_input()) << "who waits is to be told";
    EXPECT_EQ(pipe->read(caller, {&byte, 1}, 0).value_or(1), 0u);
    caller.waits = false;
    EXPECT_EQ(pipe->read(caller, {&byte, 1}, 0).error().code, EAGAIN);
    ASSERT_EQ(session_("put tracing_on 1"), "ok");
  }
}

TEST_F(TraceFilesTest, WithTheOptionBlockPollDoesNotWait) {
  const auto pipe = *open("trace_pipe");
  const auto raw = *open("per_cpu/cpu0/trace_pipe_raw");
  for (OpenFile* const file : {pipe.get(), raw.get()}) {
    ASSERT_EQ(session_("put options/block 1"), "ok");
    EXPECT_EQ(file->ready(), POLLIN);
    EXPECT_FALSE(file->has_input());
    ASSERT_EQ(session_("put options/block 0"), "ok");
    EXPECT_EQ(file->ready(), 0);
  }
}

class RawPipeTest : public TraceFilesTest {
 protected:
  // The pages of CPUs, with this thread on one of them.
  void SetUp() override {
    ::sched_getaffinity(0, sizeof before_, &before_);
    const auto cpu = static_cast<std::size_t>(::sched_getcpu());
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    ::sched_setaffinity(0, sizeof one, &one);
    path_ = "per_cpu/cpu" + std::to_string(cpu) + "/";
    listen();
  }
  void TearDown() override { ::sched_setaffinity(0, sizeof before_, &before_); }

  cpu_set_t before_{};
  std::string path_;
};

TEST_F(RawPipeTest, PagesAreAddressedByOffsetAndKeptForAWhile) {
  const auto raw = *open(path_ + "trace_pipe_raw");
  EXPECT_EQ(read(*raw, 4096), "EAGAIN");
  emit(0, 1000);
  const std::string first = read(*raw, 65536);
  ASSERT_EQ(first.size(), 4096u);
  const std::string second = read(*raw, 4096, 4096);
  ASSERT_EQ(second.size(), 4096u);
  EXPECT_NE(first, second);
  EXPECT_EQ(read(*raw, 4096, 0), first);
  EXPECT_EQ(read(*raw, 100, 4096 + 10), second.substr(10, 100));
  std::uint64_t offset = 8192;
  for (; read(*raw, 4096, offset).size() == 4096; offset += 4096) {
  }
  EXPECT_EQ(read(*raw, 4096, offset), "EAGAIN");
  emit(1000, 1001);
  EXPECT_EQ(read(*raw, 4096, offset).size(), 4096u);
  EXPECT_THAT(session_("cat " + path_ + "stats"), HasSubstr("entries: 0\n"));
  EXPECT_THAT(session_("cat " + path_ + "stats"), HasSubstr("read events: 1001"));
}

TEST_F(RawPipeTest, PollWaitsForThePercentageAndReadForAnything) {
  const auto raw = *open(path_ + "trace_pipe_raw");
  EXPECT_FALSE(raw->has_input());
  emit(0, 1);
  EXPECT_TRUE(raw->has_input());
  EXPECT_EQ(raw->ready(), 0);
  EXPECT_EQ(session_("put buffer_percent 0"), "ok");
  EXPECT_EQ(raw->ready(), POLLIN);
  EXPECT_EQ(session_("put buffer_percent 1"), "ok");
  EXPECT_EQ(raw->ready(), 0);
  emit(1, 1000);
  EXPECT_EQ(raw->ready(), POLLIN);
}

TEST_F(RawPipeTest, WaitersCanBeWoken) {
  const auto raw = *open(path_ + "trace_pipe_raw");
  EXPECT_EQ(raw->ioctl(session_.caller(), 1, 0).error().code, ENOTTY);
  EXPECT_EQ(raw->wakes(), 0u);
  EXPECT_EQ(raw->ioctl(session_.caller(), 0, 0).value_or(-1), 0);
  EXPECT_EQ(raw->wakes(), 1u);
  EXPECT_EQ(read(*raw, 4096), "EAGAIN") << "who comes later was not woken";
}

TEST_F(TraceFilesTest, ClosingFreeBufferGivesItsMemoryBack) {
  listen();
  emit(0, 5);
  EXPECT_EQ(session_("put options/disable_on_free 1"), "ok");
  { const auto file = *open("free_buffer", O_WRONLY); }
  EXPECT_EQ(session_("cat buffer_size_kb"), "7");
  EXPECT_EQ(session_("trace"), "(empty)");
  EXPECT_EQ(session_("cat tracing_on"), "0");
}

TEST_F(TraceFilesTest, SavedTasksNameTheWriters) {
  listen();
  emit(0, 1);
  const std::string tid = std::to_string(::gettid());
  EXPECT_THAT(session_("cat saved_cmdlines"), StartsWith(tid + " "));
  EXPECT_EQ(session_("cat saved_tgids"), "(empty)");
  EXPECT_EQ(session_("put options/record-tgid 1"), "ok");
  EXPECT_EQ(session_("cat saved_tgids"), tid + " " + std::to_string(::getpid()));
  EXPECT_EQ(session_("cat saved_cmdlines_size"), "6552");
  EXPECT_EQ(put("saved_cmdlines_size", "0"), "-EINVAL");
}

TEST_F(TraceFilesTest, FilesOfAnInstanceThatIsGoneSaySo) {
  ASSERT_EQ(session_("mkdir instances/foo"), "ok");
  auto* const instance = session_.domain().instances().find("foo");
  const auto trace = *open("instances/foo/trace");
  const auto pipe = *open("instances/foo/trace_pipe");
  const auto raw = *open("instances/foo/per_cpu/cpu0/trace_pipe_raw");
  const auto size = *open("instances/foo/buffer_size_kb");
  domain::destroy_instance(instance->index, session_.domain().listening(), session_.domain().instances());
  EXPECT_EQ(read(*trace, 100), "ENODEV");
  EXPECT_EQ(read(*pipe, 100), "ENODEV");
  EXPECT_EQ(read(*raw, 100), "ENODEV");
  EXPECT_EQ(read(*size, 100), "ENODEV");
  EXPECT_TRUE(pipe->has_input());
  EXPECT_TRUE(raw->has_input());
}

}  // namespace
}  // namespace landtrace::tracefs
