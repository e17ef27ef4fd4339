// Recordings that are being written, and those whose recorder was killed.
#include <fcntl.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <filesystem>
#include <functional>
#include <map>
#include <random>
#include <thread>

#include "output/trace_dat/contents.hpp"
#include "output/trace_dat/journal.hpp"
#include "output/trace_dat/page_format.hpp"
#include "output/trace_dat/place.hpp"
#include "output/trace_dat/test_support.hpp"

namespace landtrace::output {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<std::uint32_t> numbers_of(const ReadResult& result) {
  EXPECT_FALSE(result.error) << result.error->message;
  std::vector<std::uint32_t> numbers;
  for (const KeptRecord& record : result.records) numbers.push_back(record.number());
  return numbers;
}

class UnfinishedTest : public ::testing::Test {
 protected:
  void append(TraceDatWriter& writer, std::uint32_t n, std::uint32_t cpu = 0) {
    EXPECT_EQ(message_of(writer.append(number_record(1000 + n, cpu, n))), "");
  }
  std::vector<std::uint32_t> numbers() { return numbers_of(read_file_records(path_)); }
  std::vector<std::uint32_t> more(TraceDatReader& reader) { return numbers_of(read_all(reader)); }
  TraceDatReader reader() {
    auto reader = TraceDatReader::open(path_);
    EXPECT_TRUE(reader) << reader.error().message;
    return *std::move(reader);
  }
  std::string message_of_create() {
    const auto writer = TraceDatWriter::create(path_, {});
    return writer ? "" : writer.error().message;
  }
  // What a killed recorder leaves: nothing in this process cleans up.
  template <typename Work>
  void in_killed_process(Work work) {
    const pid_t child = ::fork();
    if (child == 0) {
      work();
      ::raise(SIGKILL);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << status;
  }

  TempDir dir_ = TempDir::in_memory();
  const std::string path_ = dir_.file("trace.dat");
};

TEST_F(UnfinishedTest, ARecordingIsReadWhileItIsWritten) {
  TraceDatWriter writer = create_writer(path_, 2);
  EXPECT_THAT(numbers(), IsEmpty());
  writer.add_event(number_type());
  writer.set_task(100, {"app", 99});
  append(writer, 1);
  append(writer, 2, 1);
  EXPECT_THAT(numbers(), IsEmpty());
  EXPECT_EQ(message_of(writer.publish(1002)), "");
  EXPECT_THAT(numbers(), ElementsAre(1, 2));
  const TraceDatReader live = reader();
  EXPECT_TRUE(live.is_unfinished());
  EXPECT_EQ(live.cpus(), 2u);
  EXPECT_EQ(live.clock(), "mono");
  EXPECT_EQ(live.events().at(kNumberId).name, "number");
  EXPECT_EQ(live.tasks().at(100).comm, "app");
  EXPECT_EQ(live.tasks().at(100).tgid, 99u);
  EXPECT_EQ(live.stats().at(1).entries, 1u);
  append(writer, 3);
  EXPECT_EQ(message_of(writer.finish()), "");
  EXPECT_THAT(numbers(), ElementsAre(1, 2, 3));
  EXPECT_FALSE(reader().is_unfinished());
  EXPECT_THAT(dir_.list(), ElementsAre("trace.dat"));
}

TEST_F(UnfinishedTest, PagesFillUpWhileTheyAreRead) {
  TraceDatWriter writer = create_writer(path_, 1);
  std::uint32_t n = 0;
  for (int round = 0; round < 40; ++round) {
    for (int i = 0; i < 999; ++i) append(writer, n++);
    ASSERT_EQ(message_of(writer.publish(0)), "");
    const auto all = numbers();
    ASSERT_EQ(all.size(), n);
    EXPECT_EQ(all.back(), n - 1);
  }
}

TEST_F(UnfinishedTest, MissedEventsAreToldExactlyBeforeAndAfterCompletion) {
  in_killed_process([&] {
    TraceDatWriter writer = create_writer(path_, 2);
    append(writer, 1);
    writer.lost(0, 7);
    append(writer, 2);
    append(writer, 3);
    std::ignore = writer.publish(0);
    append(writer, 4);
    writer.lost(1, 5);  // no record follows
    std::ignore = writer.publish(0);
  });
  for (const bool completed : {false, true}) {
    if (completed) {
      ASSERT_EQ(message_of(complete_recording(path_)), "");
    }
    TraceDatReader left = reader();
    EXPECT_EQ(left.is_unfinished(), !completed);
    const ReadResult result = read_all(left);
    EXPECT_THAT(numbers_of(result), ElementsAre(1, 2, 3, 4));
    EXPECT_EQ(result.records[1].lost, 7u);
    EXPECT_EQ(result.records[0].lost + result.records[2].lost + result.records[3].lost, 0u);
    EXPECT_EQ(left.stats().at(0).overrun, 7u);
    EXPECT_EQ(left.stats().at(1).overrun, 5u);
    EXPECT_EQ(left.stats().at(0).entries, 4u);
  }
  EXPECT_THAT(dir_.list(), ElementsAre("trace.dat"));
}

TEST_F(UnfinishedTest, WhatIsMissingIsToldBeforeEventsOfOtherCpus) {
  in_killed_process([&] {
    TraceDatWriter writer = create_writer(path_, 2);
    writer.add_event(number_type());
    std::ignore = writer.set_outstanding(1, {.missing = 9});
    append(writer, 0);
    std::ignore = writer.publish(0);
    writer.lost(1, 4);
    std::ignore = writer.set_outstanding(1, {.missing = 6});
    for (std::uint32_t n = 1; n < 1000; ++n) append(writer, n);  // pages that are written because they are full
  });
  const TraceDatReader left = reader();
  EXPECT_EQ(left.stats().at(1).overrun, 10u);
  EXPECT_EQ(left.events().at(kNumberId).name, "number");
  EXPECT_GT(numbers().size(), 200u);
  ASSERT_EQ(message_of(complete_recording(path_)), "");
  EXPECT_EQ(reader().stats().at(1).overrun, 10u);
}

TEST_F(UnfinishedTest, MissingEventsThatAreToldAsLostCountOnce) {
  TraceDatWriter writer = create_writer(path_, 1);
  std::ignore = writer.set_outstanding(0, {.missing = 9});
  writer.lost(0, 4);
  append(writer, 1);
  ASSERT_EQ(message_of(writer.publish(0)), "");
  EXPECT_EQ(reader().stats().at(0).overrun, 9u);
  writer.lost(0, 5);
  append(writer, 2);
  ASSERT_EQ(message_of(writer.finish()), "");
  EXPECT_EQ(reader().stats().at(0).overrun, 9u);
}

TEST_F(UnfinishedTest, WhatWasAboutToBeWrittenIsLostWithItsWriter) {
  in_killed_process([&] {
    TraceDatWriter writer = create_writer(path_, 3);
    writer.add_event(number_type());
    std::ignore = writer.set_outstanding(0, {.waiting = 4});
    std::ignore = writer.set_outstanding(1, {.missing = 2, .waiting = 7});
    append(writer, 1);
    std::ignore = writer.publish(0);
    append(writer, 2);  // of those that waited, but it never comes into the file
    ::raise(SIGKILL);
  });
  EXPECT_EQ(reader().stats().at(0).entries + reader().stats().at(0).waiting, 4u);
  ASSERT_EQ(message_of(complete_recording(path_)), "");
  const TraceDatReader left = reader();
  EXPECT_EQ(left.stats().at(0).entries, 1u);
  EXPECT_EQ(left.stats().at(0).overrun, 3u);
  EXPECT_EQ(left.stats().at(1).overrun, 9u);
}

TEST_F(UnfinishedTest, NothingIsLostOfWhatWaitedAndCame) {
  in_killed_process([&] {
    TraceDatWriter writer = create_writer(path_, 1);
    writer.add_event(number_type());
    std::ignore = writer.set_outstanding(0, {.waiting = 2});
    for (std::uint32_t n = 1; n <= 3; ++n) append(writer, n);  // one more has come meanwhile
    std::ignore = writer.publish(0);
  });
  ASSERT_EQ(message_of(complete_recording(path_)), "");
  EXPECT_EQ(reader().stats().at(0).overrun, 0u);
  EXPECT_THAT(numbers(), ElementsAre(1, 2, 3));
}

TEST_F(UnfinishedTest, AFullPageNeverComesBeforeTheDescriptionOfItsEvents) {
  in_killed_process([&] {
    TraceDatWriter writer = create_writer(path_, 1);
    writer.add_event(number_type());
    for (std::uint32_t n = 0; n < 1000; ++n) append(writer, n);
  });
  ASSERT_EQ(reader().events().count(kNumberId), 1u);
  EXPECT_GT(numbers().size(), 200u);
}

TEST_F(UnfinishedTest, AnUnknownNumberOfMissedEventsStaysUnknown) {
  in_killed_process([&] {
    TraceDatWriter writer = create_writer(path_, 1);
    append(writer, 1);
    writer.lost(0, kLostUnknown);
    append(writer, 2);
    std::ignore = writer.publish(0);
  });
  EXPECT_EQ(read_file_records(path_).records.at(1).lost, kLostUnknown);
  ASSERT_EQ(message_of(complete_recording(path_)), "");
  EXPECT_EQ(read_file_records(path_).records.at(1).lost, kLostUnknown);
}

TEST_F(UnfinishedTest, ACompletedRecordingIsReadByTraceCmd) {
  LT_NEEDS_TRACE_CMD();
  in_killed_process([&] {
    TraceDatWriter writer = create_writer(path_, 2);
    writer.add_event(number_type());
    writer.set_task(100, {"app", 99});
    for (std::uint32_t n = 0; n < 30'000; ++n) append(writer, n, n % 2);
    std::ignore = writer.publish(0);
  });
  ASSERT_EQ(message_of(complete_recording(path_)), "");
  const std::string report = run("trace-cmd report -q " + path_);
  EXPECT_EQ(std::count(report.begin(), report.end(), '\n'), 30'001) << report.substr(0, 300);
  EXPECT_NE(report.find("app-100"), report.npos);
  EXPECT_NE(report.find("n=29999"), report.npos);
}

TEST_F(UnfinishedTest, AnOlderRecordingStaysUntilThereIsAnEventToKeep) {
  write_text(path_, "older");
  {
    TraceDatWriter writer = create_writer(path_, 1);
    writer.add_event(number_type());
    EXPECT_EQ(message_of(writer.publish(0)), "");
    EXPECT_EQ(read_text(path_), "older");
    EXPECT_EQ(message_of(writer.finish()), "");
    EXPECT_FALSE(writer.has_replaced());
  }
  EXPECT_EQ(read_text(path_), "older");
  EXPECT_THAT(dir_.list(), ElementsAre("trace.dat"));

  TraceDatWriter writer = create_writer(path_, 1);
  append(writer, 1);
  EXPECT_EQ(read_text(path_), "older");
  EXPECT_EQ(message_of(writer.publish(0)), "");
  EXPECT_TRUE(writer.has_replaced());
  EXPECT_EQ(read_text(path_ + ".old"), "older");
  EXPECT_THAT(numbers(), ElementsAre(1));
  EXPECT_EQ(message_of(writer.finish()), "");
  EXPECT_THAT(dir_.list(), ElementsAre("trace.dat", "trace.dat.old"));
  EXPECT_EQ(read_text(path_ + ".old"), "older");
}

TEST_F(UnfinishedTest, AnOlderRecordingStaysWhenTheWriterGoesWithoutEvents) {
  write_text(path_, "older");
  { const TraceDatWriter writer = create_writer(path_, 1); }
  EXPECT_EQ(read_text(path_), "older");
  EXPECT_THAT(dir_.list(), ElementsAre("trace.dat"));
}

TEST_F(UnfinishedTest, EventsThatNobodyPublishedReplaceAnOlderRecordingAtTheEnd) {
  write_text(path_, "older");
  TraceDatWriter writer = create_writer(path_, 1);
  append(writer, 5);
  EXPECT_EQ(message_of(writer.finish()), "");
  EXPECT_THAT(numbers(), ElementsAre(5));
  EXPECT_EQ(read_text(path_ + ".old"), "older");
}

TEST_F(UnfinishedTest, WhatCannotBecomeTheOlderRecordingIsSaidBeforeAnythingIsRecorded) {
  write_text(path_, "older");
  fs::create_directory(path_ + ".old");
  const auto writer = TraceDatWriter::create(path_, {});
  ASSERT_FALSE(writer);
  EXPECT_EQ(writer.error().code, EISDIR);
  EXPECT_THAT(writer.error().message, HasSubstr("trace.dat.old is a folder"));
  EXPECT_EQ(read_text(path_), "older");
  EXPECT_THAT(dir_.list(), ElementsAre("trace.dat", "trace.dat.old"));
}

TEST_F(UnfinishedTest, SomebodyElsesFileInASharedFolderIsSaidBeforeAnythingIsRecorded) {
  if (::geteuid() != 0) GTEST_SKIP() << "has to be root, to become others";
  constexpr uid_t kOne = 1001, kOther = 1002;
  write_text(path_, "older");
  ASSERT_EQ(::chown(path_.c_str(), kOne, kOne), 0);
  write_text(path_ + ".old", "somebody's");
  ASSERT_EQ(::chown((path_ + ".old").c_str(), kOther, kOther), 0);
  fs::permissions(dir_.file(""), fs::perms::all | fs::perms::sticky_bit);
  std::string said;
  ASSERT_EQ(::seteuid(kOne), 0);
  said = message_of_create();
  ASSERT_EQ(::seteuid(0), 0);
  EXPECT_THAT(said, HasSubstr("trace.dat.old cannot be moved away: Operation not permitted"));
  EXPECT_THAT(dir_.list(), ElementsAre("trace.dat", "trace.dat.old"));

  fs::permissions(path_, fs::perms::all);
  ASSERT_EQ(::seteuid(kOther), 0);
  said = message_of_create();
  ASSERT_EQ(::seteuid(0), 0);
  EXPECT_THAT(said, HasSubstr("trace.dat cannot be moved away: Operation not permitted"));
  EXPECT_THAT(dir_.list(), ElementsAre("trace.dat", "trace.dat.old"));
}

TEST_F(UnfinishedTest, AnOlderRecordingThatCannotBeMovedStaysAndTheNewOneIsBesideIt) {
  write_text(path_, "older");
  for (const bool publishes : {true, false}) {
    TraceDatWriter writer = create_writer(path_, 1);
    writer.add_event(number_type());
    fs::create_directory(path_ + ".old");
    append(writer, 1);
    if (publishes) {
      EXPECT_THAT(message_of(writer.publish(0)), HasSubstr("trace.dat.old"));
      EXPECT_EQ(read_text(path_), "older");
    }
    append(writer, 2);
    EXPECT_THAT(message_of(writer.finish()), HasSubstr("what was recorded is " + path_ + ".new"));
    EXPECT_TRUE(writer.kept_older());
    EXPECT_FALSE(writer.has_replaced());
    EXPECT_EQ(read_text(path_), "older");
    EXPECT_THAT(numbers_of(read_file_records(writer.place())), ElementsAre(1, 2));
    EXPECT_FALSE(TraceDatReader::open(writer.place())->is_unfinished());
    EXPECT_THAT(dir_.list(), ElementsAre("trace.dat", "trace.dat.new", "trace.dat.old"));
    fs::remove(path_ + ".old");
    // Nor does the next one destroy that.
    const auto next = TraceDatWriter::create(path_, {});
    ASSERT_FALSE(next);
    EXPECT_EQ(next.error().code, EEXIST);
    fs::remove(writer.place());
  }
}

TEST_F(UnfinishedTest, AnOlderRecordingThatCanBeMovedAtLastIsReplaced) {
  write_text(path_, "older");
  TraceDatWriter writer = create_writer(path_, 1);
  fs::create_directory(path_ + ".old");
  append(writer, 1);
  EXPECT_NE(message_of(writer.publish(0)), "");
  fs::remove(path_ + ".old");
  EXPECT_EQ(message_of(writer.finish()), "");
  EXPECT_TRUE(writer.has_replaced());
  EXPECT_THAT(numbers(), ElementsAre(1));
  EXPECT_EQ(read_text(path_ + ".old"), "older");
}

TEST_F(UnfinishedTest, ASecondRecorderIsRefusedAlsoWhileAnOlderRecordingHasThePlace) {
  write_text(path_, "older");
  TraceDatWriter writer = create_writer(path_, 1);
  for (int published = 0; published < 2; ++published) {
    const auto second = TraceDatWriter::create(path_, {});
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code, EBUSY) << second.error().message;
    append(writer, 1);
    EXPECT_EQ(message_of(writer.publish(0)), "");
  }
  EXPECT_EQ(complete_recording(path_).error().code, EBUSY);
  EXPECT_EQ(message_of(writer.finish()), "");
}

TEST_F(UnfinishedTest, AnUnfinishedRecordingIsNotOverwritten) {
  in_killed_process([&] {
    TraceDatWriter writer = create_writer(path_, 1);
    append(writer, 1);
    std::ignore = writer.publish(0);
  });
  const auto next = TraceDatWriter::create(path_, {});
  ASSERT_FALSE(next);
  EXPECT_EQ(next.error().code, EEXIST);
  EXPECT_THAT(next.error().message, HasSubstr("landtrace recover"));
  EXPECT_THAT(numbers(), ElementsAre(1));
}

TEST_F(UnfinishedTest, AFileThatIsNotOursIsNotTakenForAJournal) {
  write_text(path_, "older");
  write_text(path_ + ".new", "somebody's");
  const auto writer = TraceDatWriter::create(path_, {});
  ASSERT_FALSE(writer);
  EXPECT_EQ(writer.error().code, EEXIST);
  EXPECT_EQ(read_text(path_ + ".new"), "somebody's");
  EXPECT_EQ(read_text(path_), "older");
}

TEST_F(UnfinishedTest, WhatAKilledRecorderLeftBesideAnOlderRecordingIsTakenOver) {
  write_text(path_, "older");
  in_killed_process([&] {
    const TraceDatWriter* const writer = new TraceDatWriter(create_writer(path_, 1));
    (void)writer;
  });
  EXPECT_THAT(dir_.list(), ElementsAre("trace.dat", "trace.dat.new", "trace.dat.partial"));
  TraceDatWriter writer = create_writer(path_, 1);
  append(writer, 1);
  EXPECT_EQ(message_of(writer.finish()), "");
  EXPECT_THAT(dir_.list(), ElementsAre("trace.dat", "trace.dat.old"));
}

// Killed before it published anything: pages that got full are in its streams.
class LeftBesideTest : public UnfinishedTest {
 protected:
  static constexpr std::uint32_t kEvents = 30'000;

  void SetUp() override { leave(); }
  void leave() {
    for (const std::string& name : dir_.list()) fs::remove(dir_.file(name));
    write_text(path_, "older");
    in_killed_process([&] {
      TraceDatWriter writer = create_writer(path_, 2);
      writer.add_event(number_type());
      for (std::uint32_t n = 0; n < kEvents; ++n) append(writer, n, n % 2);
      ::raise(SIGKILL);
    });
    ASSERT_THAT(dir_.list(),
                ElementsAre("trace.dat", "trace.dat.cpu0", "trace.dat.cpu1", "trace.dat.new", "trace.dat.partial"));
    left_ = numbers_of(read_file_records(path_ + ".new"));
    ASSERT_GT(left_.size(), kEvents / 2);
  }
  std::map<std::string, std::string> contents() {
    std::map<std::string, std::string> contents;
    for (const std::string& name : dir_.list()) contents[name] = read_text(dir_.file(name));
    return contents;
  }
  std::vector<std::uint32_t> left_;
};

TEST_F(LeftBesideTest, TheNextRecorderDestroysNothingOfIt) {
  for (const bool is_older_removed : {false, true}) {
    if (is_older_removed) fs::remove(path_);
    const auto before = contents();
    const auto next = TraceDatWriter::create(path_, {});
    ASSERT_FALSE(next);
    EXPECT_EQ(next.error().code, EEXIST);
    EXPECT_THAT(next.error().message, HasSubstr(path_ + ".new is a recording that was not finished"));
    EXPECT_THAT(next.error().message, HasSubstr("`landtrace recover " + path_ + "`"));
    EXPECT_TRUE(contents() == before);
  }
}

TEST_F(LeftBesideTest, ItIsReadUnderItsJournalsName) {
  const auto left = TraceDatReader::open(path_ + ".new");
  ASSERT_TRUE(left) << left.error().message;
  EXPECT_TRUE(left->was_left());
  EXPECT_EQ(left->events().at(kNumberId).name, "number");
}

TEST_F(LeftBesideTest, WhoCompletesItGivesItThePlace) {
  for (const std::string& named : {path_, path_ + ".new"}) {
    leave();
    const auto completed = complete_recording(named);
    ASSERT_TRUE(completed) << completed.error().message;
    EXPECT_EQ(completed->path, path_);
    EXPECT_TRUE(completed->has_replaced);
    EXPECT_EQ(numbers(), left_);
    EXPECT_EQ(read_text(path_ + ".old"), "older");
    EXPECT_THAT(dir_.list(), ElementsAre("trace.dat", "trace.dat.old"));
    EXPECT_EQ(complete_recording(path_).error().code, EALREADY);
  }
}

TEST_F(LeftBesideTest, WhoCompletesItHasNoNeedOfTheOlderOne) {
  fs::remove(path_);
  const auto completed = complete_recording(path_);
  ASSERT_TRUE(completed) << completed.error().message;
  EXPECT_FALSE(completed->has_replaced);
  EXPECT_EQ(numbers(), left_);
  EXPECT_THAT(dir_.list(), ElementsAre("trace.dat"));
}

TEST_F(LeftBesideTest, WhereTheOlderOneCannotBeMovedItIsCompletedBesideThat) {
  fs::create_directory(path_ + ".old");
  EXPECT_THAT(message_of(complete_recording(path_)), HasSubstr("what was recorded is " + path_ + ".new, complete"));
  EXPECT_EQ(read_text(path_), "older");
  EXPECT_EQ(numbers_of(read_file_records(path_ + ".new")), left_);
  EXPECT_FALSE(TraceDatReader::open(path_ + ".new")->is_unfinished());
  EXPECT_THAT(dir_.list(), ElementsAre("trace.dat", "trace.dat.new", "trace.dat.old"));
}

TEST_F(LeftBesideTest, WhoWasKilledWhileItWasCompletedLeavesItToTheNext) {
  fs::create_directory(path_ + ".old");
  in_killed_process([&] {
    // The first page arrives in PATH.partial, and the next one finds no room.
    rlimit limit{};
    ::getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = trace_dat::kPageSize * 5 / 2;  // what stands before the events has one
    std::signal(SIGXFSZ, SIG_IGN);
    ::setrlimit(RLIMIT_FSIZE, &limit);
    std::ignore = complete_recording(path_);
  });
  ASSERT_FALSE(trace_dat::regions_begun(path_).value().empty());
  EXPECT_EQ(numbers_of(read_file_records(path_ + ".new")), left_);
  EXPECT_EQ(TraceDatWriter::create(path_, {}).error().code, EISDIR);
  fs::remove(path_ + ".old");
  EXPECT_EQ(TraceDatWriter::create(path_, {}).error().code, EEXIST);
  EXPECT_EQ(message_of(complete_recording(path_)), "");
  EXPECT_EQ(numbers(), left_);
}

TEST_F(UnfinishedTest, WhatNobodyHasPublishedStaysBesideAnOlderRecordingThatCannotBeMoved) {
  write_text(path_, "older");
  {
    TraceDatWriter writer = create_writer(path_, 1);
    writer.add_event(number_type());
    fs::create_directory(path_ + ".old");
    append(writer, 1);
  }
  EXPECT_THAT(numbers_of(read_file_records(path_ + ".new")), ElementsAre(1));
}

TEST_F(UnfinishedTest, WhatALiveRecorderHasBesideAnOlderRecordingIsNotCompleted) {
  {
    TraceDatWriter older = create_writer(path_, 1);
    append(older, 1);
    ASSERT_EQ(message_of(older.finish()), "");
  }
  TraceDatWriter writer = create_writer(path_, 1);
  append(writer, 2);
  for (const std::string& named : {path_, path_ + ".new"}) {
    EXPECT_EQ(complete_recording(named).error().code, EBUSY) << named;
  }
  fs::remove(path_);
  EXPECT_EQ(complete_recording(path_).error().code, EBUSY);
  EXPECT_EQ(TraceDatWriter::create(path_, {}).error().code, EBUSY);
  EXPECT_FALSE(fs::exists(path_));
  ASSERT_EQ(message_of(writer.finish()), "");
  EXPECT_THAT(numbers(), ElementsAre(2));
}

TEST_F(UnfinishedTest, WithoutEventsNothingTakesThePlaceOfAnOlderRecording) {
  {
    TraceDatWriter older = create_writer(path_, 1);
    append(older, 1);
    ASSERT_EQ(message_of(older.finish()), "");
  }
  in_killed_process([&] {
    TraceDatWriter writer = create_writer(path_, 1);
    std::ignore = writer.set_outstanding(0, {.waiting = 3});
    ::raise(SIGKILL);
  });
  EXPECT_EQ(complete_recording(path_).error().code, EALREADY);
  EXPECT_EQ(message_of_create(), "");
  EXPECT_THAT(numbers(), ElementsAre(1));
  EXPECT_THAT(dir_.list(), ElementsAre("trace.dat"));
}

TEST_F(UnfinishedTest, FilesOfOthersWithTheNamesOfStreamsAreSaidAndStay) {
  const std::string page(2 * trace_dat::kPageSize, 'x');
  const auto stays = [&](const std::string& file, bool is_older_there) {
    SCOPED_TRACE(file);
    write_text(file, page);
    const auto before = dir_.list();
    const auto next = TraceDatWriter::create(path_, {.cpus = 2});
    ASSERT_FALSE(next);
    EXPECT_EQ(next.error().code, EEXIST);
    EXPECT_THAT(next.error().message, HasSubstr(file + " is in the way"));
    EXPECT_EQ(dir_.list(), before);
    EXPECT_TRUE(read_text(file) == page);
    EXPECT_EQ(fs::exists(path_), is_older_there);
    fs::remove(file);
  };
  for (const bool is_older_there : {false, true}) {
    if (is_older_there) write_text(path_, "older");
    stays(path_ + ".cpu1", is_older_there);
    stays(path_ + ".partial", is_older_there);
  }
  fs::create_directory(path_ + ".cpu0");
  EXPECT_THAT(message_of_create(), HasSubstr("trace.dat.cpu0 is in the way"));
  fs::remove(path_ + ".cpu0");
  write_text(path_ + ".cpu2", page);  // of more CPUs than there are
  EXPECT_EQ(message_of(TraceDatWriter::create(path_, {.cpus = 2})), "");
  EXPECT_TRUE(read_text(path_ + ".cpu2") == page);
}

TEST_F(UnfinishedTest, TheJournalOfARecorderThatWasKilledAtItsVeryEndIsNotInTheWay) {
  in_killed_process([&] {
    TraceDatWriter writer = create_writer(path_, 1);
    append(writer, 1);
    std::ignore = writer.publish(0);
  });
  // Its journal and the finished file have changed names, and the journal has not been removed.
  fs::copy_file(path_, dir_.file("journal"));
  ASSERT_EQ(message_of(complete_recording(path_)), "");
  fs::rename(dir_.file("journal"), path_ + ".partial");
  EXPECT_EQ(message_of_create(), "");
}

TEST_F(UnfinishedTest, ARecorderThatBeginsWhileAnotherTakesItsPlaceLeavesThatAlone) {
  for (std::uint32_t i = 0; i < 300 && !HasFailure(); ++i) {
    write_text(path_, "older");
    TraceDatWriter writer = create_writer(path_, 1);
    append(writer, 2 * i);
    std::atomic<bool> begins = false, is_placed = false;
    std::thread second([&] {
      begins.store(true, std::memory_order_release);        // pairs with the load below
      while (!is_placed.load(std::memory_order_acquire)) {  // pairs with the store below
        const auto created = TraceDatWriter::create(path_, {});
        EXPECT_FALSE(created);
      }
    });
    while (!begins.load(std::memory_order_acquire)) {  // pairs with the store above
    }
    EXPECT_EQ(message_of(writer.publish(0)), "");
    is_placed.store(true, std::memory_order_release);  // pairs with the load above
    second.join();
    append(writer, 2 * i + 1);
    EXPECT_EQ(message_of(writer.finish()), "");
    EXPECT_THAT(numbers(), ElementsAre(2 * i, 2 * i + 1));
    EXPECT_EQ(read_text(path_ + ".old"), "older");
    EXPECT_THAT(dir_.list(), ElementsAre("trace.dat", "trace.dat.old"));
  }
}

TEST_F(UnfinishedTest, WhoFinishesRemovesNoStreamOfTheNextRecorder) {
  const std::string path = dir_.file("stream");
  trace_dat::CpuStream stream;
  ASSERT_EQ(message_of(stream.open(path)), "");
  fs::remove(path);
  write_text(path, "the next one's");
  stream.remove_file();
  EXPECT_EQ(read_text(path), "the next one's");
}

TEST_F(UnfinishedTest, CompletingWhatIsCompleteOrNoRecording) {
  TraceDatWriter writer = create_writer(path_, 1);
  append(writer, 1);
  EXPECT_EQ(message_of(writer.finish()), "");
  EXPECT_EQ(complete_recording(path_).error().code, EALREADY);
  EXPECT_THAT(numbers(), ElementsAre(1));
  write_text(path_, "a text");
  EXPECT_EQ(complete_recording(path_).error().code, EBADMSG);
  EXPECT_EQ(read_text(path_), "a text");
  EXPECT_EQ(complete_recording(dir_.file("none")).error().code, ENOENT);
}

TEST_F(UnfinishedTest, WhoCompletesARecordingThatItsRecorderJustFinishesLeavesItAsItIs) {
  for (std::uint32_t i = 0; i < 200 && !HasFailure(); ++i) {
    std::atomic<bool> finished = false;
    TraceDatWriter writer = create_writer(path_, 1);
    append(writer, i);
    ASSERT_EQ(message_of(writer.publish(0)), "");
    // The lock goes with the writer.
    std::thread completer([&] {
      while (true) {
        const bool is_last = finished.load(std::memory_order_acquire);  // pairs with the store below
        const auto completed = complete_recording(path_);
        const int code = completed ? 0 : completed.error().code;
        EXPECT_TRUE(code == EBUSY || code == EALREADY) << code;
        if (is_last) return;
      }
    });
    {
      TraceDatWriter mine = std::move(writer);
      EXPECT_EQ(message_of(mine.finish()), "");
    }
    finished.store(true, std::memory_order_release);  // pairs with the load in the completer
    completer.join();
    EXPECT_THAT(numbers(), ElementsAre(i));
    EXPECT_THAT(dir_.list(), ElementsAre("trace.dat"));
    fs::remove(path_);
  }
}

TEST_F(UnfinishedTest, AReaderFollowsUntilTheRecordingIsFinished) {
  TraceDatWriter writer = create_writer(path_, 2);
  writer.add_event(number_type());
  EXPECT_EQ(message_of(writer.publish(0)), "");
  TraceDatReader reader = this->reader();
  reader.follow();
  EXPECT_THAT(more(reader), IsEmpty());
  append(writer, 1);
  append(writer, 4);
  EXPECT_EQ(message_of(writer.publish(1002)), "");
  EXPECT_EQ(reader.look_again().value(), TraceDatReader::Growth::kGrows);
  EXPECT_THAT(more(reader), ElementsAre(1));  // the other CPU may have an event before the next one
  append(writer, 3, 1);
  append(writer, 5, 1);
  writer.add_event(make_type(kNumberId + 1, "later u32 n"));
  EXPECT_EQ(message_of(writer.publish(1004)), "");
  EXPECT_EQ(reader.look_again().value(), TraceDatReader::Growth::kGrows);
  EXPECT_THAT(more(reader), ElementsAre(3, 4));
  EXPECT_EQ(reader.events().size(), 2u);
  append(writer, 6, 1);
  writer.lost(0, 2);
  append(writer, 7);
  EXPECT_EQ(message_of(writer.finish()), "");
  std::vector<std::uint32_t> rest;
  std::uint64_t lost = 0;
  TraceDatReader::Growth growth{};
  do {
    growth = reader.look_again().value();
    for (const KeptRecord& record : read_all(reader).records) {
      rest.push_back(record.number());
      lost += record.lost;
    }
  } while (growth == TraceDatReader::Growth::kGrows);
  EXPECT_EQ(growth, TraceDatReader::Growth::kComplete);
  EXPECT_THAT(rest, ElementsAre(5, 6, 7));
  EXPECT_EQ(lost, 2u);
}

TEST_F(UnfinishedTest, WhoReadsItOnceHasWhatHadComeByThen) {
  TraceDatWriter writer = create_writer(path_, 2);
  writer.add_event(number_type());
  append(writer, 1);
  ASSERT_EQ(message_of(writer.publish(0)), "");
  TraceDatReader once = reader();
  TraceDatReader follower = reader();
  writer.lost(0, 2);
  for (std::uint32_t n = 2; n < 20'000; ++n) append(writer, n);  // more than the page that was there
  append(writer, 20'000, 1);
  ASSERT_EQ(message_of(writer.publish(~0ull)), "");
  EXPECT_THAT(more(once), ElementsAre(1));
  EXPECT_THAT(more(follower), ElementsAre(1));
  ASSERT_TRUE(follower.look_again());
  const ReadResult rest = read_all(follower);
  EXPECT_EQ(numbers_of(rest).size(), 19'999u);
  EXPECT_EQ(rest.records.front().lost, 2u);
}

TEST_F(UnfinishedTest, WhoReadsItOnceHasWhatHadComeByThenAlsoWhereItIsFinishedMeanwhile) {
  TraceDatWriter writer = create_writer(path_, 1);
  writer.add_event(number_type());
  for (std::uint32_t n = 0; n < 20'000; ++n) append(writer, n);  // some pages
  ASSERT_EQ(message_of(writer.publish(0)), "");
  TraceDatReader once = reader();
  EXPECT_EQ(number_of(once.next().value()->record.payload), 0u);
  for (std::uint32_t n = 20'000; n < 40'000; ++n) append(writer, n);
  ASSERT_EQ(message_of(writer.finish()), "");
  EXPECT_EQ(more(once).size(), 19'999u);
}

// Its header is written behind its first events.
TEST_F(UnfinishedTest, APageWithoutAHeaderIsReadWhenItHasOne) {
  TraceDatWriter writer = create_writer(path_, 1);
  writer.add_event(number_type());
  append(writer, 1);
  writer.lost(0, 2);
  append(writer, 2);
  ASSERT_EQ(message_of(writer.publish(~0ull)), "");
  const trace_dat::NamedFile stream = *trace_dat::open_own(trace_dat::stream_path(path_, 0));
  std::array<std::byte, trace_dat::kPageHeader> header{};
  const std::uint64_t at = trace_dat::kStreamStart + trace_dat::kPageSize;
  ASSERT_EQ(message_of(trace_dat::read_at(stream, at, header)), "");
  ASSERT_EQ(message_of(trace_dat::write_at(stream, at, std::array<std::byte, trace_dat::kPageHeader>{})), "");
  TraceDatReader follower = reader();
  ASSERT_EQ(message_of(trace_dat::write_at(stream, at, header)), "");
  EXPECT_THAT(more(follower), ElementsAre(1));
  ASSERT_TRUE(follower.look_again());
  const ReadResult rest = read_all(follower);
  EXPECT_THAT(numbers_of(rest), ElementsAre(2));
  EXPECT_EQ(rest.records.front().lost, 2u);
}

TEST_F(UnfinishedTest, APageWithoutAHeaderThatIsLeftOutMeanwhileTakesNothingWithIt) {
  constexpr std::uint32_t kEvents = 20'000;  // some pages
  in_killed_process([&] {
    TraceDatWriter writer = create_writer(path_, 1);
    writer.add_event(number_type());
    for (std::uint32_t n = 0; n < kEvents; ++n) append(writer, n);
    std::ignore = writer.publish(0);
  });
  const std::string stream = trace_dat::stream_path(path_, 0);
  const std::uint64_t pages = trace_dat::pages_in_stream(fs::file_size(stream));
  ASSERT_GE(pages, 2u);
  fs::resize_file(stream, trace_dat::kStreamStart + pages * trace_dat::kPageSize + trace_dat::kPageHeader + 20);
  TraceDatReader once = reader();
  EXPECT_EQ(number_of(once.next().value()->record.payload), 0u);
  ASSERT_EQ(message_of(complete_recording(path_)), "");
  EXPECT_EQ(more(once).size(), kEvents - 1);
}

// Whenever it is opened.
TEST_F(UnfinishedTest, WhatHadComeIsReadWhileItsRecorderFinishes) {
  constexpr std::uint32_t kEvents = 20'000;  // some pages of each CPU
  for (int round = 0; round < 30; ++round) {
    TraceDatWriter writer = create_writer(path_, 2);
    writer.add_event(number_type());
    for (std::uint32_t n = 0; n < kEvents; ++n) append(writer, n, n % 2);
    ASSERT_EQ(message_of(writer.publish(0)), "");
    std::thread recorder([&] { EXPECT_EQ(message_of(writer.finish()), ""); });
    for (bool is_unfinished = true; is_unfinished;) {
      TraceDatReader reader = this->reader();
      is_unfinished = reader.is_unfinished();
      EXPECT_EQ(more(reader).size(), kEvents) << is_unfinished;
    }
    recorder.join();
    fs::remove(path_);
  }
}

TEST_F(UnfinishedTest, WhoOpensItBeforeItsRecorderHasBegunWaitsForThat) {
  const std::string other = dir_.file("other.dat");
  const TraceDatWriter writer = create_writer(other, 1);
  const trace_dat::NamedFile journal{Fd(::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)), path_};
  ASSERT_EQ(message_of(trace_dat::lock(journal)), "");
  write_text(trace_dat::partial_path(path_), "");
  std::thread recorder([&] {
    const std::string begun = read_text(other);
    for (const std::size_t size : {std::size_t{0}, begun.size() - 1, begun.size()}) {
      ::usleep(20'000);
      EXPECT_EQ(message_of(trace_dat::write_at(journal, 0, bytes_of(begun).first(size))), "");
    }
  });
  EXPECT_THAT(numbers(), IsEmpty());
  recorder.join();
}

// Whenever it is opened.
TEST_F(UnfinishedTest, NoEventIsReadWithoutItsDescription) {
  constexpr std::uint16_t kTypes = 300;
  TraceDatWriter writer = create_writer(path_, 1);
  std::thread recorder([&] {
    for (std::uint16_t id = 1; id <= kTypes; ++id) {
      writer.add_event(make_type(id, "later u32 n"));
      const std::uint32_t n = id;
      Record record = number_record(1000 + n, 0, n);
      record.event_id = id;
      EXPECT_EQ(message_of(writer.append(record)), "");
      EXPECT_EQ(message_of(writer.publish(1001 + n)), "");
    }
  });
  std::size_t unknown[2] = {0, 0};  // to who reads it once, and to a follower
  std::size_t readings = 0;
  for (std::size_t known = 0; known < kTypes; ++readings) {
    TraceDatReader reader = this->reader();
    if (readings % 2 == 1) reader.follow();
    const ReadResult result = read_all(reader);
    EXPECT_FALSE(result.error);
    for (const KeptRecord& record : result.records) unknown[readings % 2] += 1 - reader.events().count(record.event_id);
    known = reader.events().size();
  }
  recorder.join();
  EXPECT_THAT(unknown, ElementsAre(0, 0)) << readings << " readings";
}

TEST_F(UnfinishedTest, ADamagedPageIsToldAFollowerOnce) {
  TraceDatWriter writer = create_writer(path_, 1);
  writer.add_event(number_type());
  for (std::uint32_t n = 0; n < 10; ++n) append(writer, n);
  ASSERT_EQ(message_of(writer.publish(~0ull)), "");
  TraceDatReader reader = this->reader();
  reader.follow();
  {
    const std::string stream = trace_dat::stream_path(path_, 0);
    std::string bytes = read_text(stream);
    const std::size_t event = (bytes.size() - trace_dat::kStreamStart - trace_dat::kPageHeader) / 10;
    bytes[trace_dat::kStreamStart + trace_dat::kPageHeader + 5 * event] = 1;  // too short for an event
    const Fd fd(::open(stream.c_str(), O_WRONLY | O_CLOEXEC));
    ASSERT_EQ(::pwrite(fd.get(), bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
  }
  const ReadResult damaged = read_all(reader);
  EXPECT_EQ(damaged.records.size(), 5u);
  EXPECT_TRUE(damaged.error);
  ASSERT_EQ(message_of(writer.finish()), "");
  EXPECT_EQ(reader.look_again().value(), TraceDatReader::Growth::kComplete);
  EXPECT_THAT(more(reader), IsEmpty());
}

TEST_F(UnfinishedTest, WhatCameBehindAnEventThatWasKeptBackComesInItsOrder) {
  TraceDatWriter writer = create_writer(path_, 2);
  writer.add_event(number_type());
  append(writer, 1);
  append(writer, 2);
  EXPECT_EQ(message_of(writer.publish(1001)), "");
  TraceDatReader reader = this->reader();
  reader.follow();
  EXPECT_THAT(more(reader), ElementsAre(1));
  append(writer, 3);
  append(writer, 4, 1);
  append(writer, 5);
  EXPECT_EQ(message_of(writer.publish(1006)), "");
  EXPECT_EQ(reader.look_again().value(), TraceDatReader::Growth::kGrows);
  EXPECT_THAT(more(reader), ElementsAre(2, 3, 4, 5));
}

TEST_F(UnfinishedTest, WhatIsOlderThanAnEventThatWasKeptBackComesBeforeItAtTheEnd) {
  TraceDatWriter writer = create_writer(path_, 2);
  writer.add_event(number_type());
  append(writer, 1);
  writer.lost(0, 3);
  append(writer, 4);
  EXPECT_EQ(message_of(writer.publish(1002)), "");
  TraceDatReader reader = this->reader();
  reader.follow();
  EXPECT_THAT(more(reader), ElementsAre(1));
  append(writer, 2, 1);
  append(writer, 3, 1);
  append(writer, 5);
  EXPECT_EQ(message_of(writer.finish()), "");
  EXPECT_EQ(reader.look_again().value(), TraceDatReader::Growth::kComplete);
  std::vector<std::uint32_t> rest;
  std::uint64_t lost = 0;
  for (const KeptRecord& record : read_all(reader).records) {
    rest.push_back(record.number());
    lost += record.lost;
  }
  EXPECT_THAT(rest, ElementsAre(2, 3, 4, 5));
  EXPECT_EQ(lost, 3u);
}

// Pages that its reader has not come to yet are somewhere else by then.
class MovedMeanwhileTest : public UnfinishedTest {
 protected:
  static constexpr std::uint32_t kEvents = 60'000;  // some pages of each CPU

  void record_and(const std::function<void(TraceDatWriter&)>& publish, const std::function<void()>& end, bool follows) {
    std::optional<TraceDatReader> reader;
    {
      TraceDatWriter writer = create_writer(path_, 2);
      writer.add_event(number_type());
      std::ignore = writer.set_outstanding(0, {.waiting = kEvents});
      for (std::uint32_t n = 0; n < kEvents; ++n) append(writer, n, n / 100 % 2);
      publish(writer);
      reader = this->reader();
      if (follows) reader->follow();
      EXPECT_EQ(number_of(reader->next().value()->record.payload), 0u);
      writer.lost(1, 5);
      append(writer, kEvents, 1);
      if (!end) {
        EXPECT_EQ(message_of(writer.finish()), "");
      }
    }
    if (end) end();
    expect_all(*reader, follows);
    EXPECT_FALSE(reader->was_left());
    EXPECT_FALSE(reader->is_being_written());
  }
  void expect_all(TraceDatReader& reader, bool follows) {
    std::uint32_t next = 1;
    const auto take = [&] {
      for (const std::uint32_t n : more(reader)) {
        if (n != next++) return ADD_FAILURE() << n << " in place of " << next - 1;
      }
    };
    take();
    EXPECT_GE(next, kEvents);
    while (follows && reader.look_again().value() == TraceDatReader::Growth::kGrows) take();
    take();
    EXPECT_GE(next, follows ? kEvents + 1 : kEvents);
  }
};

TEST_F(MovedMeanwhileTest, AReaderHasAllThatHadComeInOrder) {
  record_and([](TraceDatWriter& writer) { EXPECT_EQ(message_of(writer.publish(~0ull)), ""); }, nullptr, false);
}

TEST_F(MovedMeanwhileTest, AFollowerHasItInOrderToo) {
  record_and([](TraceDatWriter& writer) { EXPECT_EQ(message_of(writer.publish(~0ull)), ""); }, nullptr, true);
}

TEST_F(MovedMeanwhileTest, ByWhoCompletesWhatWasLeft) {
  record_and([](TraceDatWriter& writer) { EXPECT_EQ(message_of(writer.publish(~0ull)), ""); },
             [&] { ASSERT_EQ(message_of(complete_recording(path_)), ""); }, false);
}

TEST_F(UnfinishedTest, PagesThatWereNeverWrittenAreNotLookedForInFilesThatAreOpenedAnew) {
  constexpr std::uint32_t kCpus = 20;
  in_killed_process([&] {
    TraceDatWriter writer = create_writer(path_, kCpus);
    for (std::uint32_t cpu = 0; cpu < kCpus; ++cpu) append(writer, cpu, cpu);
    std::ignore = writer.publish(0);
  });
  for (std::uint32_t cpu = 0; cpu < kCpus; ++cpu) {
    const std::string stream = trace_dat::stream_path(path_, cpu);
    fs::resize_file(stream, trace_dat::kStreamStart + 2 * trace_dat::kPageSize);
  }
  TraceDatReader reader = this->reader();
  const Fd opened(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
  ASSERT_GE(::inotify_add_watch(opened.get(), path_.c_str(), IN_OPEN), 0);
  EXPECT_EQ(more(reader).size(), kCpus);
  inotify_event event;
  EXPECT_EQ(::read(opened.get(), &event, sizeof event), -1);
}

TEST_F(UnfinishedTest, WhatWasLeftWhenItWasOpenedStaysSo) {
  in_killed_process([&] {
    TraceDatWriter writer = create_writer(path_, 1);
    std::ignore = writer.set_outstanding(0, {.waiting = 5});
    append(writer, 1);
    std::ignore = writer.publish(0);
    ::raise(SIGKILL);
  });
  const auto from_input = [&] {
    const Fd input(::open(path_.c_str(), O_RDONLY | O_CLOEXEC));
    return TraceDatReader::open("/proc/self/fd/" + std::to_string(input.get()));
  }();
  TraceDatReader reader = this->reader();
  {
    // Who completes it has its lock.
    const Fd completing(::open(path_.c_str(), O_RDWR | O_CLOEXEC));
    struct flock whole {};
    whole.l_type = F_WRLCK;
    ASSERT_EQ(::fcntl(completing.get(), F_OFD_SETLK, &whole), 0);
    EXPECT_TRUE(reader.was_left());
    EXPECT_FALSE(reader.is_being_written());
  }
  ASSERT_EQ(message_of(complete_recording(path_)), "");
  EXPECT_TRUE(reader.was_left());
  EXPECT_THAT(more(reader), ElementsAre(1));
  EXPECT_EQ(reader.stats().at(0).never_came(1), 4u);
  ASSERT_TRUE(from_input);
  EXPECT_TRUE(from_input->was_left());
}

// Its events are neither nothing nor lost.
TEST_F(UnfinishedTest, APartThatCannotBeOpenedIsAnErrorWithItsName) {
  in_killed_process([&] {
    TraceDatWriter writer = create_writer(path_, 2);
    append(writer, 1, 1);
    std::ignore = writer.publish(0);
  });
  const std::string partial = trace_dat::partial_path(path_);
  for (const std::string& part : {trace_dat::stream_path(path_, 1), partial}) {
    fs::rename(part, part + ".away");
    fs::create_symlink(part, part);
    EXPECT_THAT(message_of(TraceDatReader::open(path_)), HasSubstr(part));
    if (part == partial) {
      EXPECT_THAT(message_of(complete_recording(path_)), HasSubstr(part));
      EXPECT_TRUE(fs::is_symlink(part));
    }
    fs::remove(part);
    fs::rename(part + ".away", part);
  }
  EXPECT_THAT(numbers(), ElementsAre(1));
}

TEST_F(UnfinishedTest, WhereNoDescriptorIsLeftThatIsSaid) {
  constexpr std::uint32_t kCpus = 40;
  in_killed_process([&] {
    TraceDatWriter writer = create_writer(path_, kCpus);
    for (std::uint32_t cpu = 0; cpu < kCpus; ++cpu) append(writer, cpu, cpu);
    std::ignore = writer.publish(0);
  });
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const Fd next(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  const rlimit few{static_cast<rlim_t>(next.get()) + kCpus / 2, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
  const auto opened = TraceDatReader::open(path_);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, EMFILE);
  EXPECT_THAT(opened.error().message, HasSubstr(path_ + ".cpu"));
}

TEST_F(MovedMeanwhileTest, WhatTookTheNameIsNotTakenForIt) {
  TraceDatWriter::Options options{.cpus = 1, .wall_offset_ns = 1'000'000'000'000};
  std::optional<TraceDatReader> reader;
  {
    TraceDatWriter writer = TraceDatWriter::create(path_, options).value();
    for (std::uint32_t n = 0; n < kEvents; ++n) append(writer, n);
    ASSERT_EQ(message_of(writer.publish(0)), "");
    reader = this->reader();
    ASSERT_EQ(message_of(writer.finish()), "");
  }
  ++*options.wall_offset_ns;
  TraceDatWriter writer = TraceDatWriter::create(path_, options).value();
  for (std::uint32_t n = kEvents; n < 2 * kEvents; ++n) append(writer, n);
  ASSERT_EQ(message_of(writer.finish()), "");
  for (const std::uint32_t n : more(*reader)) ASSERT_LT(n, kEvents);
  EXPECT_FALSE(reader->was_left());
}

TEST_F(UnfinishedTest, AFollowerIsToldWhenTheRecorderIsGone) {
  std::optional<TraceDatReader> follower;
  {
    TraceDatWriter writer = create_writer(path_, 1);
    append(writer, 1);
    append(writer, 2);
    EXPECT_EQ(message_of(writer.publish(1001)), "");
    follower = reader();
    follower->follow();
    EXPECT_THAT(more(*follower), ElementsAre(1));
    append(writer, 3);
  }
  std::vector<std::uint32_t> rest;
  while (follower->look_again().value() == TraceDatReader::Growth::kGrows) {
    for (const std::uint32_t n : more(*follower)) rest.push_back(n);
  }
  EXPECT_THAT(rest, ElementsAre(2, 3));
}

TEST_F(UnfinishedTest, AFollowerMeetsManyPagesInOrder) {
  TraceDatWriter writer = create_writer(path_, 2);
  writer.add_event(number_type());
  EXPECT_EQ(message_of(writer.publish(0)), "");
  TraceDatReader reader = this->reader();
  reader.follow();
  std::uint32_t next = 0, expected = 0;
  const auto check = [&] {
    for (const std::uint32_t n : more(reader)) ASSERT_EQ(n, expected++);
  };
  for (int round = 0; round < 100; ++round) {
    for (int i = 0; i < 777; ++i, ++next) append(writer, next, next % 3 == 0);
    ASSERT_EQ(message_of(writer.publish(1000 + next)), "");
    if (round % 3 == 0) {
      ASSERT_TRUE(reader.look_again());
    }
    check();
  }
  EXPECT_EQ(message_of(writer.finish()), "");
  while (reader.look_again().value() == TraceDatReader::Growth::kGrows) check();
  check();
  EXPECT_EQ(expected, next);
}

// A recorder that is killed whenever it likes least: while it appends, publishes, begins pages, finishes. All that it
// had published is there, in order; what was missed is told exactly; and completing gives the same.
class KilledRecorder {
 public:
  static constexpr std::uint32_t kCpus = 3;
  struct Shared {
    std::uint32_t published[kCpus];  // the numbers below this one, of that CPU
  };

  KilledRecorder(std::string path, std::uint32_t seed) : path_(std::move(path)), random_(seed) {
    shared_ = static_cast<Shared*>(
        ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  }
  ~KilledRecorder() { ::munmap(shared_, sizeof(Shared)); }

  // Once it has something to lose. False: it ended before that.
  bool kill_after(std::chrono::microseconds time) {
    const pid_t child = start(false);
    bool has_ended = false;
    while (__atomic_load_n(&shared_->published[0], __ATOMIC_ACQUIRE) == 0 && !has_ended) {
      has_ended = ::waitpid(child, nullptr, WNOHANG) == child;
      ::usleep(100);
    }
    if (has_ended) return __atomic_load_n(&shared_->published[0], __ATOMIC_ACQUIRE) != 0;
    ::usleep(static_cast<useconds_t>(time.count()));
    ::kill(child, SIGKILL);
    return ::waitpid(child, nullptr, 0) == child;
  }
  // When some pages have been moved to their place, and others have not.
  bool kill_while_it_moves() {
    int status = 0;
    ::waitpid(start(true), &status, 0);
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGXFSZ;
  }
  bool run_to_its_end() {
    int status = 0;
    ::waitpid(start(false), &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }

  [[nodiscard]] const Shared& shared() const { return *shared_; }

 private:
  pid_t start(bool dies_while_it_moves) {
    const pid_t child = ::fork();
    if (child != 0) return child;
    run(dies_while_it_moves);
    ::_exit(0);
  }

  // Numbers grow by one with each event of a CPU, also those that are missed.
  void run(bool dies_while_it_moves) {
    TraceDatWriter writer = create_writer(path_, kCpus);
    writer.add_event(number_type());
    std::uint32_t next[kCpus] = {};
    std::uint64_t time = 1000;
    for (int round = 0; round < 60; ++round) {
      for (auto i = random_() % 2000; i > 0; --i) {
        const auto cpu = static_cast<std::uint32_t>(random_() % kCpus);
        if (random_() % 500 == 0) {
          writer.lost(cpu, 3);
          next[cpu] += 3;
        }
        std::ignore = writer.append(number_record(++time, cpu, next[cpu]++));
      }
      writer.set_task(round, {"app", 1});
      std::ignore = writer.publish(time);
      for (std::uint32_t cpu = 0; cpu < kCpus; ++cpu) {
        // Pairs with the loads in kill_after().
        __atomic_store_n(&shared_->published[cpu], next[cpu], __ATOMIC_RELEASE);
      }
    }
    if (dies_while_it_moves) die_beyond_streams();
    std::ignore = writer.finish();
  }
  // The finished file is larger than each of the streams is.
  void die_beyond_streams() const {
    std::uintmax_t largest = 0;
    for (std::uint32_t cpu = 0; cpu < kCpus; ++cpu) {
      largest = std::max(largest, fs::file_size(trace_dat::stream_path(path_, cpu)));
    }
    const rlimit no_core{0, 0};
    ::setrlimit(RLIMIT_CORE, &no_core);
    std::signal(SIGXFSZ, SIG_DFL);
    const rlimit limit{largest + trace_dat::kPageSize, largest + trace_dat::kPageSize};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }

  std::string path_;
  std::mt19937 random_;
  Shared* shared_;
};

struct Content {
  std::uint32_t ends[KilledRecorder::kCpus] = {};  // events and missed events of each CPU
  std::uint64_t events = 0;
};

Content check_content(const std::string& path) {
  Content content;
  auto reader = TraceDatReader::open(path);
  if (!reader) {
    ADD_FAILURE() << reader.error().message;
    return content;
  }
  std::uint64_t told[KilledRecorder::kCpus] = {};
  std::uint64_t there[KilledRecorder::kCpus] = {};
  while (true) {
    const auto item = reader->next();
    if (!item) ADD_FAILURE() << item.error().message;
    if (!item || !*item) break;
    const auto& [lost, record] = **item;
    const std::uint32_t number = number_of(record.payload);
    std::uint32_t& end = content.ends[record.cpu];
    if (number != end + lost) {
      ADD_FAILURE() << number << " behind " << end << " and " << lost << " on CPU " << record.cpu;
    }
    end = number + 1;
    told[record.cpu] += lost;
    ++there[record.cpu];
    ++content.events;
  }
  for (std::uint32_t cpu = 0; cpu < KilledRecorder::kCpus; ++cpu) {
    const std::uint64_t overrun = reader->stats().at(cpu).overrun;
    EXPECT_GE(overrun, told[cpu]);
    content.ends[cpu] += static_cast<std::uint32_t>(overrun - told[cpu]);
    if (reader->is_unfinished()) {
      content.ends[cpu] += static_cast<std::uint32_t>(reader->stats().at(cpu).never_came(there[cpu]));
    }
  }
  return content;
}

TEST_F(UnfinishedTest, FiveHundredKillsLoseNothingThatWasPublished) {
  std::mt19937 random(20261122);
  int unfinished = 0, finished = 0, moving = 0;
  for (std::uint32_t i = 0; i < 500; ++i) {
    SCOPED_TRACE(i);
    for (const std::string& name : dir_.list()) fs::remove(dir_.file(name));
    KilledRecorder recorder(path_, i);
    // Whatever the machine is busy with, some are killed while they move pages, and some are not.
    const bool moves = i % 10 == 0, ends = i % 10 == 1;
    if (moves) {
      ASSERT_TRUE(recorder.kill_while_it_moves());
    } else if (ends) {
      ASSERT_TRUE(recorder.run_to_its_end());
    } else {
      ASSERT_TRUE(recorder.kill_after(std::chrono::microseconds(random() % 14'000)));
    }
    const bool is_journal = trace_dat::is_journal(trace_dat::InputFile::open(path_).value());
    const bool is_moving = is_journal && !trace_dat::regions_begun(path_).value().empty();
    ++(is_journal ? unfinished : finished);
    moving += is_moving ? 1 : 0;
    ASSERT_TRUE(is_moving || !moves);
    ASSERT_TRUE(!is_journal || !ends);
    const Content left = check_content(path_);
    for (std::uint32_t cpu = 0; cpu < KilledRecorder::kCpus; ++cpu) {
      EXPECT_GE(left.ends[cpu], recorder.shared().published[cpu]);
    }
    if (!is_journal) continue;
    ASSERT_EQ(message_of(complete_recording(path_)), "");
    EXPECT_THAT(dir_.list(), ElementsAre("trace.dat"));
    const Content completed = check_content(path_);
    EXPECT_EQ(completed.events, left.events);
    for (std::uint32_t cpu = 0; cpu < KilledRecorder::kCpus; ++cpu) EXPECT_EQ(completed.ends[cpu], left.ends[cpu]);
    if (HasFailure()) break;
  }
  RecordProperty("unfinished", unfinished);
  RecordProperty("finished", finished);
  RecordProperty("moving", moving);
  EXPECT_GT(unfinished, 0);
}

}  // namespace
}  // namespace landtrace::output
