#include "fleet/snapshot_merge.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "output/stack/user_stack.hpp"
#include "output/text/own_events.hpp"
#include "output/trace_dat/test_support.hpp"

namespace landtrace::fleet {
namespace {

using output::KeptRecord;
using output::number_record;
using output::TempDir;
using output::TraceDatReader;
using output::TraceDatWriter;

struct Merged {
  TempDir folder;
  std::optional<TraceDatWriter> writer;
  std::optional<SnapshotMerge> merge;
  std::vector<SnapshotMerge::Taken> taken;
  std::optional<TraceDatReader> reader;
  std::uint32_t most_cpus = ~0u;  // of each host

  explicit Merged(std::uint64_t until_ns, std::uint32_t cpus = 16) {
    writer.emplace(TraceDatWriter::create(folder.file("all.dat"), {.cpus = 1, .spare = cpus - 1}).value());
    merge.emplace(*writer, cpus, until_ns);
  }

  // A host with one file that `fill` writes.
  template <typename Fill>
  Result<void> add(const std::string& host, std::int64_t to_file_ns, Fill fill, std::uint32_t cpus = 2) {
    const std::string path = folder.file(host + ".dat");
    auto own = output::create_writer(path, cpus);
    fill(own);
    LT_CHECK(own.finish());
    LT_TRY(TraceDatReader one, TraceDatReader::open(path));
    LT_TRY(SnapshotMerge::Taken now,
           merge->add({.host = host, .domain = "d", .to_file_ns = to_file_ns, .bound_ns = 10, .most_cpus = most_cpus},
                      one));
    taken.push_back(now);
    return {};
  }

  // Without the events of hosts.
  std::vector<KeptRecord> records() {
    EXPECT_TRUE(writer->finish());
    reader.emplace(TraceDatReader::open(folder.file("all.dat")).value());
    auto read = output::read_all(*reader);
    EXPECT_FALSE(read.error);
    std::erase_if(read.records,
                  [&](const KeptRecord& one) { return reader->events().at(one.event_id).name == "fleet_host"; });
    return read.records;
  }
  std::string comm(std::int32_t tid) { return reader->tasks().at(tid).comm; }
};

void one_event(TraceDatWriter& writer, std::uint64_t time_ns, std::uint32_t n, std::int32_t tid, std::string comm,
               std::uint32_t tgid = 0) {
  writer.add_event(output::number_type());
  writer.set_task(tid, {std::move(comm), tgid});
  ASSERT_TRUE(writer.append(number_record(time_ns, 1, n, tid)));
}

TEST(SnapshotMergeTest, TimesAreAligned) {
  Merged merged(10'000);
  EXPECT_TRUE(merged.add("a", 0, [](auto& writer) { one_event(writer, 2000, 1, 7, "x"); }));
  EXPECT_TRUE(merged.add("b", -5'000'000, [](auto& writer) { one_event(writer, 5'001'000, 2, 8, "y"); }));
  EXPECT_TRUE(merged.add("c", 2500, [](auto& writer) { one_event(writer, 500, 3, 9, "z"); }));
  std::vector<std::pair<std::uint64_t, std::uint32_t>> read;
  for (const KeptRecord& one : merged.records()) read.emplace_back(one.time_ns, one.number());
  EXPECT_THAT(read, testing::ElementsAre(testing::Pair(1000, 2), testing::Pair(2000, 1), testing::Pair(3000, 3)));
}

TEST(SnapshotMergeTest, TasksWithTheSameNumberAreToldApart) {
  Merged merged(10'000);
  EXPECT_TRUE(merged.add("a", 0, [](auto& writer) { one_event(writer, 1000, 1, 7, "x", 6); }));
  EXPECT_TRUE(merged.add("b", 0, [](auto& writer) { one_event(writer, 2000, 2, 7, "y", 6); }));
  EXPECT_TRUE(merged.add("c", 0, [](auto& writer) { one_event(writer, 3000, 3, 8, "z", 8); }));
  const auto records = merged.records();
  ASSERT_EQ(records.size(), 3u);
  EXPECT_EQ(records[0].tid, 7);
  EXPECT_GE(records[1].tid, 1 << 22);
  EXPECT_EQ(records[2].tid, 8) << "nobody else has it";
  EXPECT_EQ(merged.comm(records[0].tid), "a:x");
  EXPECT_EQ(merged.comm(records[1].tid), "b:y");
  const auto& tasks = merged.reader->tasks();
  EXPECT_EQ(tasks.at(7).tgid, 6u);
  EXPECT_GE(tasks.at(records[1].tid).tgid, 1u << 22);
  EXPECT_NE(tasks.at(records[1].tid).tgid, static_cast<std::uint32_t>(records[1].tid));
  EXPECT_EQ(tasks.at(8).tgid, 8u);
}

TEST(SnapshotMergeTest, EachHostHasItsCpus) {
  Merged merged(10'000);
  const auto fill = [](auto& writer) {
    one_event(writer, 1000, 1, 7, "x");
    ASSERT_TRUE(writer.append(number_record(2000, 0, 2, 7)));
  };
  EXPECT_TRUE(merged.add("a", 0, fill));
  EXPECT_TRUE(merged.add("b", 0, fill));
  std::set<std::uint32_t> cpus;
  for (const KeptRecord& one : merged.records()) cpus.insert(one.cpu);
  EXPECT_THAT(cpus, testing::ElementsAre(0, 1, 2, 3));
}

TEST(SnapshotMergeTest, OfMoreCpusThanAFileHoldsTheRestIsLeftOutAndSaid) {
  Merged merged(10'000, 1);
  EXPECT_TRUE(merged.add("a", 0, [](auto& writer) { one_event(writer, 1000, 1, 7, "x"); }));
  EXPECT_TRUE(merged.add("b", 0, [](auto& writer) { one_event(writer, 1000, 1, 7, "x"); }));
  EXPECT_EQ(merged.taken[0].without_room, 0u);
  EXPECT_EQ(merged.taken[1].events, 0u);
  EXPECT_EQ(merged.taken[1].without_room, 1u);
  EXPECT_THAT(merged.taken[1].no_room, testing::HasSubstr("--where"));
  EXPECT_EQ(merged.records().size(), 1u);
}

TEST(SnapshotMergeTest, OneHostTakesNotTheCpusOfOthers) {
  Merged merged(10'000, 4);
  const auto fill = [](auto& writer) {
    one_event(writer, 1000, 1, 7, "x");
    for (std::uint32_t cpu : {0, 2, 3}) ASSERT_TRUE(writer.append(number_record(2000, cpu, 2, 7)));
  };
  merged.most_cpus = 2;
  EXPECT_TRUE(merged.add("a", 0, fill, 4));
  EXPECT_TRUE(merged.add("b", 0, [](auto& writer) { one_event(writer, 1000, 1, 7, "x"); }));
  EXPECT_EQ(merged.taken[0].without_room, 2u);
  EXPECT_EQ(merged.taken[1].without_room, 0u);
  EXPECT_EQ(merged.taken[1].events, 1u);
}

TEST(SnapshotMergeTest, OneHostTakesNotTheNumbersOfAllTypes) {
  constexpr std::uint16_t kFirst = 2000;
  Merged merged(~0ull);
  const auto fill = [](auto& writer) {
    for (std::uint16_t i = 0; i < SnapshotMerge::kMostHostTypes + 10; ++i) {
      output::EventType type = output::number_type();
      type.id = static_cast<std::uint16_t>(kFirst + i);
      type.name += std::to_string(i);
      type.declaration.name = type.name;
      type.format.clear();
      writer.add_event(type);
      const std::uint32_t number = i;
      output::Record record = number_record(1000 + i, 0, number, 7);
      record.event_id = type.id;
      ASSERT_TRUE(writer.append(record));
    }
  };
  EXPECT_TRUE(merged.add("a", 0, fill));
  EXPECT_TRUE(merged.add("b", 0, [](auto& writer) { one_event(writer, 1000, 1, 7, "x"); }));
  EXPECT_EQ(merged.taken[0].events, SnapshotMerge::kMostHostTypes);
  EXPECT_EQ(merged.taken[0].without_room, 10u);
  EXPECT_THAT(merged.taken[0].no_room, testing::HasSubstr("-e"));
  EXPECT_EQ(merged.taken[1].events, 1u);
}

// Each is of the process that is the next one: by recursion the stack ended.
TEST(SnapshotMergeTest, AChainOfProcessesIsOneStep) {
  constexpr std::int32_t kLength = 400'000;
  Merged merged(10'000);
  EXPECT_TRUE(merged.add("a", 0, [](auto& writer) {
    for (std::int32_t tid = 2; tid < kLength; ++tid) writer.set_task(tid, {"x", static_cast<std::uint32_t>(tid + 1)});
    one_event(writer, 1000, 1, 1, "x", 2);
  }));
  const auto records = merged.records();
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(merged.reader->tasks().at(records[0].tid).tgid, 2u);
  EXPECT_EQ(merged.reader->tasks().at(2).tgid, 2u);
}

TEST(SnapshotMergeTest, AnEventIsOneTypeWhereItsFieldsAreTheSame) {
  Merged merged(10'000);
  const auto with_type = [](std::uint16_t id, const char* declaration) {
    return [=](TraceDatWriter& writer) {
      writer.add_event(output::make_type(id, declaration));
      const std::uint64_t number = 5;
      ASSERT_TRUE(
          writer.append({.time_ns = 1000, .cpu = 0, .tid = 7, .event_id = id, .payload = output::bytes_of(number)}));
    };
  };
  EXPECT_TRUE(merged.add("a", 0, with_type(2000, "e u64 n")));
  EXPECT_TRUE(merged.add("b", 0, with_type(3000, "e u64 n")));
  EXPECT_TRUE(merged.add("c", 0, with_type(2000, "e u32 n; u32 m")));
  EXPECT_TRUE(merged.add("d", 0, with_type(2000, "f u64 n")));
  const auto records = merged.records();
  ASSERT_EQ(records.size(), 4u);
  std::map<std::string, int> fields;
  for (const KeptRecord& one : records) {
    const output::EventType& type = merged.reader->events().at(one.event_id);
    ++fields[type.name + " " + event::fields_text(type.declaration)];
  }
  EXPECT_THAT(fields, testing::ElementsAre(testing::Pair("e u32 n; u32 m", 1), testing::Pair("e u64 n", 2),
                                           testing::Pair("f u64 n", 1)));
}

TEST(SnapshotMergeTest, WhatIsBehindTheMomentIsLeftOut) {
  Merged merged(2500);
  EXPECT_TRUE(merged.add("a", 1000, [](auto& writer) {
    one_event(writer, 1000, 1, 7, "x");
    one_event(writer, 1500, 2, 7, "x");
    one_event(writer, 1501, 3, 7, "x");
  }));
  EXPECT_EQ(merged.taken[0].events, 2u);
  EXPECT_EQ(merged.taken[0].later, 1u);
  EXPECT_EQ(merged.taken[0].oldest_ns, 2000u);
  EXPECT_EQ(merged.records().size(), 2u);
}

TEST(SnapshotMergeTest, LossesAreTold) {
  Merged merged(10'000);
  EXPECT_TRUE(merged.add("a", 0, [](auto& writer) {
    writer.lost(1, 5);
    one_event(writer, 1000, 1, 7, "x");
    writer.lost(1, 4);
    writer.lost(0, 3);
  }));
  EXPECT_EQ(merged.taken[0].lost, 12u);
  const auto records = merged.records();
  EXPECT_EQ(records.at(0).lost, 5u);
  std::uint64_t all = 0;
  for (const output::CpuStats& stats : merged.reader->stats()) all += stats.overrun + stats.dropped;
  EXPECT_EQ(all, 12u);
}

TEST(SnapshotMergeTest, StacksFindTheirHostsObjects) {
  Merged merged(10'000);
  const auto fill = [](TraceDatWriter& writer) {
    one_event(writer, 1000, 1, 7, "x", 7);
    writer.add_event(output::user_stack_type());
    const std::string payload = std::string("\7\0\0\0\0\0\0\0", 8) + std::string("\x10\x20\0\0\0\0\0\0", 8);
    ASSERT_TRUE(writer.append({.time_ns = 1001,
                               .cpu = 1,
                               .tid = 7,
                               .event_id = output::user_stack_type().id,
                               .payload = output::bytes_of(payload)}));
    writer.add_object(
        {.pid = 7, .start = 0x2000, .end = 0x3000, .bias = 0, .first_seen = 500, .path = "/bin/x", .build_id = ""});
    writer.add_object(
        {.pid = 99, .start = 0x2000, .end = 0x3000, .bias = 0, .first_seen = 500, .path = "/bin/y", .build_id = ""});
  };
  EXPECT_TRUE(merged.add("a", 0, fill));
  EXPECT_TRUE(merged.add("b", 3000, fill));
  const auto records = merged.records();
  std::set<std::uint32_t> processes;
  for (const KeptRecord& one : records) {
    if (!output::is_user_stack(merged.reader->events().at(one.event_id))) continue;
    const auto stack = output::parse_user_stack(output::bytes_of(one.payload));
    processes.insert(stack.tgid);
    output::ObjectMap objects;
    for (const auto& object : merged.reader->objects()) objects.add(object);
    EXPECT_NE(objects.find(stack.tgid, 0x2010, one.time_ns), nullptr);
    EXPECT_EQ(merged.reader->tasks().at(one.tid).tgid, stack.tgid);
  }
  EXPECT_EQ(processes.size(), 2u);
  EXPECT_EQ(merged.reader->objects().size(), 2u) << "processes without events are left out";
}

TEST(SnapshotMergeTest, TimesThatMakeNoSenseDoNoHarm) {
  Merged merged(10'000);
  EXPECT_TRUE(merged.add("a", std::numeric_limits<std::int64_t>::min(),
                         [](auto& writer) { one_event(writer, 1000, 1, 7, "x"); }));
  EXPECT_TRUE(merged.add("b", std::numeric_limits<std::int64_t>::max(),
                         [](auto& writer) { one_event(writer, 1000, 2, 7, "x"); }));
  const auto records = merged.records();
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(records[0].time_ns, 0u);
  EXPECT_EQ(merged.taken[1].later, 1u);
}

TEST(SnapshotMergeTest, TheFileSaysWhatIsKnownOfEachHost) {
  Merged merged(10'000);
  EXPECT_TRUE(merged.add("a", -77, [](auto& writer) { one_event(writer, 1000, 1, 7, "x"); }));
  EXPECT_TRUE(merged.writer->finish());
  auto reader = TraceDatReader::open(merged.folder.file("all.dat"));
  ASSERT_TRUE(reader);
  const auto read = output::read_all(*reader);
  ASSERT_EQ(read.records.size(), 2u);
  const KeptRecord& last = read.records[1];
  EXPECT_EQ(reader->events().at(last.event_id).system, "landtrace");
  EXPECT_EQ(last.time_ns, 10'000u);
  EXPECT_EQ(reader->tasks().at(last.tid).comm, "a");
  const auto& fields = reader->events().at(last.event_id).declaration.fields;
  std::int64_t numbers[2];
  std::memcpy(numbers, last.payload.data(), sizeof numbers);
  EXPECT_EQ(fields.at(0).name, "clock_ns");
  EXPECT_THAT(numbers, testing::ElementsAre(-77, 10));
}

}  // namespace
}  // namespace landtrace::fleet
