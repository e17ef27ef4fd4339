// What the writer wrote, the reader gives back.
#include "output/trace_dat/test_support.hpp"

namespace landtrace::output {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class RoundTripTest : public ::testing::Test {
 protected:
  void append(TraceDatWriter& writer, const Record& record) { EXPECT_EQ(message_of(writer.append(record)), ""); }
  void finish(TraceDatWriter& writer, std::span<const CpuStats> stats = {}) {
    EXPECT_EQ(message_of(writer.finish(stats)), "");
  }
  std::vector<KeptRecord> records() {
    ReadResult result = read_file_records(path_);
    EXPECT_FALSE(result.error) << result.error->message;
    return std::move(result.records);
  }
  TraceDatReader reader() {
    auto reader = TraceDatReader::open(path_);
    EXPECT_TRUE(reader) << reader.error().message;
    return *std::move(reader);
  }

  TempDir dir_;
  const std::string path_ = dir_.file("trace.dat");
};

TEST_F(RoundTripTest, FileWithoutEvents) {
  TraceDatWriter writer = create_writer(path_, 2);
  finish(writer);
  EXPECT_THAT(records(), IsEmpty());
  EXPECT_EQ(reader().cpus(), 2u);
  EXPECT_THAT(dir_.list(), ElementsAre("trace.dat"));
}

TEST_F(RoundTripTest, SpareStreamsAreThereWhenTheyAreUsed) {
  for (const std::uint32_t used : {0u, 3u}) {
    auto writer = TraceDatWriter::create(path_, {.cpus = 2, .spare = 4});
    ASSERT_TRUE(writer) << writer.error().message;
    writer->add_event(number_type());
    append(*writer, number_record(1000, used, 5, 4711));
    finish(*writer);
    EXPECT_EQ(reader().cpus(), std::max(2u, used + 1));
    EXPECT_EQ(records().size(), 1u);
  }
}

TEST_F(RoundTripTest, RecordKeepsEverything) {
  TraceDatWriter writer = create_writer(path_, 4);
  append(writer, number_record(123'456'789'012'345, 3, 77, 4711));
  finish(writer);
  const auto all = records();
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].time_ns, 123'456'789'012'345u);
  EXPECT_EQ(all[0].cpu, 3u);
  EXPECT_EQ(all[0].tid, 4711);
  EXPECT_EQ(all[0].event_id, kNumberId);
  EXPECT_EQ(all[0].number(), 77u);
  EXPECT_EQ(all[0].lost, 0u);
}

TEST_F(RoundTripTest, EventsTasksAndClock) {
  auto writer = TraceDatWriter::create(path_, {.cpus = 1, .clock = "boot"});
  ASSERT_TRUE(writer) << writer.error().message;
  writer->add_event(number_type());
  writer->add_event(make_type(60001, "text __rel_loc char[] s; s64 k"));
  writer->set_task(100, {"my app", 90});
  writer->set_task(101, {"other", 0});
  finish(*writer);
  const TraceDatReader file = reader();
  EXPECT_EQ(file.clock(), "boot");
  ASSERT_EQ(file.events().size(), 2u);
  EXPECT_EQ(file.events().at(60001).system, "user_events");
  EXPECT_EQ(file.events().at(60001).name, "text");
  EXPECT_EQ(file.events().at(60001).declaration.fields.size(), 2u);
  EXPECT_EQ(file.events().at(60001).declaration.fields[0].kind, event::FieldKind::kRelLocString);
  EXPECT_EQ(file.tasks().at(100).comm, "my app");
  EXPECT_EQ(file.tasks().at(100).tgid, 90u);
  EXPECT_EQ(file.tasks().at(101).tgid, 0u);
}

TEST_F(RoundTripTest, WhatIsSaidOfStructs) {
  EventType moved = make_type(60001, "moved struct position to 8");
  moved.description = "position 8{s32 x 0 4;s32 y 4 4}";
  EventType forged = make_type(60002, "forged struct position to 8");
  forged.description = "position 8{s32 x 0 4}\n60001 position 8{s32 z 0 4}";
  const auto check = [&] {
    const TraceDatReader file = reader();
    EXPECT_EQ(file.events().at(60001).description, moved.description);
    ASSERT_EQ(file.events().at(60001).declaration.fields[0].members.size(), 2u);
    EXPECT_EQ(file.events().at(60001).declaration.fields[0].members[1].name, "y");
    EXPECT_TRUE(file.events().at(60002).declaration.fields[0].members.empty());
    EXPECT_TRUE(file.events().at(kNumberId).description.empty());
  };
  {
    TraceDatWriter writer = create_writer(path_, 1);
    EventType before = moved;
    before.description.clear();
    writer.add_event(number_type());
    writer.add_event(before);
    writer.add_event(forged);
    writer.add_event(moved);
    append(writer, number_record(1, 0, 42));
  }
  check();
  ASSERT_TRUE(complete_recording(path_));
  check();
}

TEST_F(RoundTripTest, TaskNameCannotForgeAnotherLine) {
  TraceDatWriter writer = create_writer(path_, 1);
  writer.set_task(1, {"a\n2 b", 0});
  finish(writer);
  EXPECT_EQ(reader().tasks().size(), 1u);
  EXPECT_EQ(reader().tasks().at(1).comm, "a?2 b");
}

TEST_F(RoundTripTest, PayloadsOfEverySize) {
  const std::vector<std::size_t> sizes = {0, 1, 3, 4, 103, 104, 105, 111, 112, 113, 114, 4096, 65535, 65536};
  TraceDatWriter writer = create_writer(path_, 1);
  std::uint64_t time = 1000;
  for (const std::size_t size : sizes) {
    append(writer, {++time, 0, 1, 2, bytes_of(std::string(size, 'x'))});
  }
  finish(writer);
  const auto all = records();
  ASSERT_EQ(all.size(), sizes.size());
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    EXPECT_EQ(all[i].payload.size(), (sizes[i] + 3) / 4 * 4);
    EXPECT_EQ(all[i].payload.substr(0, sizes[i]), std::string(sizes[i], 'x'));
  }
}

TEST_F(RoundTripTest, TimesFarApartAndBackwards) {
  const std::vector<std::uint64_t> times = {1'000'000'000,      1'000'000'000,      1'134'217'727,     1'268'435'455,
                                            90'000'000'000'000, 80'000'000'000'000, 80'000'000'000'001};
  TraceDatWriter writer = create_writer(path_, 1);
  for (const std::uint64_t time : times) append(writer, number_record(time, 0, 1));
  finish(writer);
  std::vector<std::uint64_t> found;
  for (const KeptRecord& record : records()) found.push_back(record.time_ns);
  EXPECT_EQ(found, times);
}

TEST_F(RoundTripTest, TimesSinceTheEpochUseAllBits) {
  constexpr std::uint64_t kNow = 1'790'000'000'000'000'000;
  TraceDatWriter writer = create_writer(path_, 1);
  append(writer, number_record(kNow, 0, 1));
  append(writer, number_record(kNow - 5, 0, 1));
  finish(writer);
  EXPECT_EQ(records().at(1).time_ns, kNow - 5);
}

TEST_F(RoundTripTest, LostEventsStandBeforeTheNextRecordOfTheirCpu) {
  TraceDatWriter writer = create_writer(path_, 2);
  append(writer, number_record(10, 0, 1));
  writer.lost(0, 5);
  writer.lost(0, 2);
  append(writer, number_record(20, 1, 2));
  append(writer, number_record(30, 0, 3));
  writer.lost(1, kLostUnknown);
  append(writer, number_record(40, 1, 4));
  finish(writer);
  std::vector<std::uint64_t> lost;
  for (const KeptRecord& record : records()) lost.push_back(record.lost);
  EXPECT_THAT(lost, ElementsAre(0, 0, 7, kLostUnknown));
}

TEST_F(RoundTripTest, LostBeforeTheFirstRecord) {
  TraceDatWriter writer = create_writer(path_, 1);
  writer.lost(0, 3);
  append(writer, number_record(10, 0, 1));
  finish(writer);
  EXPECT_EQ(records().at(0).lost, 3u);
  EXPECT_EQ(reader().stats().at(0).overrun, 3u);
}

TEST_F(RoundTripTest, ManyRecordsOfManyCpusComeInTheOrderOfTime) {
  constexpr std::uint32_t kCount = 200'000;
  TraceDatWriter writer = create_writer(path_, 7);
  for (std::uint32_t i = 0; i < kCount; ++i) append(writer, number_record(1000 + i, i * 7 % 5 + 1, i));
  finish(writer);
  const auto all = records();
  ASSERT_EQ(all.size(), kCount);
  for (std::uint32_t i = 0; i < kCount; ++i) ASSERT_EQ(all[i].number(), i);
  EXPECT_THAT(dir_.list(), ElementsAre("trace.dat"));
}

TEST_F(RoundTripTest, StatisticsOfTheRings) {
  TraceDatWriter writer = create_writer(path_, 2);
  append(writer, number_record(5'000'000, 1, 1));
  CpuStats ring;
  ring.entries = 1;
  ring.overrun = 12;
  ring.dropped = 3;
  ring.now_ns = 9'000'000'000;
  finish(writer, std::span(&ring, 1));
  const TraceDatReader file = reader();
  ASSERT_EQ(file.stats().size(), 2u);
  EXPECT_EQ(file.stats()[0], ring);
  EXPECT_EQ(file.stats()[1].entries, 1u);
  EXPECT_EQ(file.stats()[1].bytes, 12u);
  EXPECT_EQ(file.stats()[1].oldest_event_ns, 5'000'000u);
}

TEST_F(RoundTripTest, UnusedRoomIsNotOnTheDisk) {
  TraceDatWriter writer = create_writer(path_, 64);
  for (std::uint32_t cpu = 0; cpu < 64; ++cpu) {
    append(writer, number_record(1000, cpu, cpu));
    writer.lost(cpu, 1);
    append(writer, number_record(2000, cpu, cpu));
  }
  finish(writer);
  EXPECT_EQ(records().size(), 128u);
  // Two pages a CPU, of which one block each is in use.
  EXPECT_LT(disk_bytes(path_), 2u * 1024 * 1024);
}

TEST_F(RoundTripTest, BytesWrittenCountsEntries) {
  TraceDatWriter writer = create_writer(path_, 2);
  append(writer, number_record(1, 0, 1));
  append(writer, number_record(1, 1, 1));
  EXPECT_EQ(writer.bytes_written(), 24u);
  finish(writer);
}

TEST_F(RoundTripTest, RecordsThatCannotBeAreRefused) {
  TraceDatWriter writer = create_writer(path_, 2);
  const auto too_large = writer.append({1, 0, 1, 2, bytes_of(std::string(kMaxPayload + 1, 'x'))});
  ASSERT_FALSE(too_large);
  EXPECT_EQ(too_large.error().code, E2BIG);
  EXPECT_THAT(too_large.error().message, HasSubstr("65537"));
  const auto no_cpu = writer.append(number_record(1, 2, 1));
  ASSERT_FALSE(no_cpu);
  EXPECT_EQ(no_cpu.error().code, EINVAL);
  finish(writer);
}

TEST_F(RoundTripTest, WriterReplacesAnOlderFileAndLeftStreams) {
  write_text(path_, std::string(5'000'000, 'x'));
  write_text(path_ + ".cpu0", std::string(trace_dat::kStreamStart, '\0'));  // without pages
  TraceDatWriter writer = create_writer(path_, 1);
  append(writer, number_record(1, 0, 42));
  finish(writer);
  ASSERT_EQ(records().size(), 1u);
  EXPECT_EQ(records()[0].number(), 42u);
  EXPECT_THAT(dir_.list(), ElementsAre("trace.dat", "trace.dat.old"));
  EXPECT_EQ(read_text(path_ + ".old").size(), 5'000'000u);
}

TEST_F(RoundTripTest, TwoWritersOfOneFileAreRefused) {
  TraceDatWriter writer = create_writer(path_, 1);
  const auto second = TraceDatWriter::create(path_, {});
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, EBUSY);
  finish(writer);
}

TEST_F(RoundTripTest, AbandonedWriterLeavesNothingWhenNothingWasRecorded) {
  {
    TraceDatWriter writer = create_writer(path_, 1);
    writer.add_event(number_type());
  }
  EXPECT_THAT(dir_.list(), IsEmpty());
}

TEST_F(RoundTripTest, AbandonedWriterLeavesAnUnfinishedRecording) {
  {
    TraceDatWriter writer = create_writer(path_, 2);
    append(writer, number_record(1, 1, 42));
  }
  ASSERT_EQ(records().size(), 1u);
  EXPECT_EQ(records()[0].number(), 42u);
  EXPECT_TRUE(reader().is_unfinished());
}

TEST_F(RoundTripTest, PlacesThatCannotBeWritten) {
  const auto missing = TraceDatWriter::create(dir_.file("no/such/trace.dat"), {});
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ENOENT);
  EXPECT_THAT(missing.error().message, HasSubstr("no/such/trace.dat"));
  const auto device = TraceDatWriter::create("/dev/null", {});
  ASSERT_FALSE(device);
  EXPECT_EQ(device.error().code, EINVAL);
  EXPECT_FALSE(TraceDatWriter::create("/proc/trace.dat", {}));
  EXPECT_FALSE(TraceDatWriter::create(path_, {.cpus = 0}));
}

}  // namespace
}  // namespace landtrace::output
