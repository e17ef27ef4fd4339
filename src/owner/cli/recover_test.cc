#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/resource.h>

#include <filesystem>

#include "cli/recording_file.hpp"
#include "cli/test_domain.hpp"
#include "output/text/own_events.hpp"

namespace landtrace::cli {
namespace {

using testing::HasSubstr;

class RecoverTest : public DomainTest {
 protected:
  // A recording whose recorder has not finished it.
  std::string unfinished(const std::string& name = "t.dat") {
    const std::string path = dir_.file(name);
    output::TraceDatWriter writer = output::create_writer(path, 1);
    writer.add_event(output::number_type());
    EXPECT_TRUE(writer.append(output::number_record(1, 0, 7)));
    writer.lost(0, 3);
    EXPECT_TRUE(writer.append(output::number_record(2, 0, 8)));
    return path;
  }
  // At PATH.new, as PATH.old was a folder.
  static void unfinished_beside_older(const std::string& path) {
    output::write_text(path, "older");
    {
      output::TraceDatWriter writer = output::create_writer(path, 1);
      writer.add_event(output::number_type());
      EXPECT_TRUE(writer.append(output::number_record(1, 0, 7)));
      std::filesystem::create_directory(path + ".old");
    }
    std::filesystem::remove(path + ".old");
  }
};

TEST_F(RecoverTest, AnUnfinishedRecordingBecomesOneFile) {
  const std::string path = unfinished();
  const Outcome recover = run(add_recover, {"recover", path.c_str()});
  EXPECT_EQ(recover.status, 0);
  EXPECT_EQ(recover.out, "");
  EXPECT_EQ(recover.err, "landtrace: 2 events, 3 lost, in " + path + "\n");
  const auto read = output::read_file_records(path);
  ASSERT_EQ(read.records.size(), 2u);
  EXPECT_EQ(read.records[1].number(), 8u);
}

TEST_F(RecoverTest, ACompleteRecordingIsNoFailure) {
  const std::string path = unfinished();
  ASSERT_EQ(run(add_recover, {"recover", path.c_str()}).status, 0);
  const Outcome again = run(add_recover, {"recover", path.c_str()});
  EXPECT_EQ(again.status, 0);
  EXPECT_THAT(again.err, testing::EndsWith(" already\n"));
}

TEST_F(RecoverTest, OneThatWasLeftBesideAnOlderOneTakesItsPlace) {
  for (const char* const end : {"", ".new"}) {
    const std::string path = dir_.file("t.dat");
    unfinished_beside_older(path);
    const Outcome recover = run(add_recover, {"recover", (path + end).c_str()});
    EXPECT_EQ(recover.status, 0);
    EXPECT_EQ(recover.err,
              "landtrace: 1 event, 0 lost, in " + path + "\nlandtrace: the older recording is " + path + ".old now\n");
    EXPECT_EQ(output::read_file_records(path).records.size(), 1u);
    EXPECT_EQ(output::read_text(path + ".old"), "older");
    std::filesystem::remove(path + ".old");
  }
}

// PATH.partial alone may be of a recording in another format.
TEST_F(RecoverTest, TheOlderOneNeedNotBeThereAnyMore) {
  const std::string path = dir_.file("t.dat");
  unfinished_beside_older(path);
  std::filesystem::remove(path);
  const Outcome recover = run(add_recover, {"recover", path.c_str()});
  EXPECT_EQ(recover.err, "landtrace: 1 event, 0 lost, in " + path + "\n");
  EXPECT_EQ(output::read_file_records(path).records.size(), 1u);
}

TEST_F(RecoverTest, TheNextRecordingCompletesItFirst) {
  const std::string path = dir_.file("t.dat");
  unfinished_beside_older(path);
  testing::internal::CaptureStderr();
  EXPECT_TRUE(create_recording(path, {}));
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("had been left unfinished; it is complete now"));
  EXPECT_EQ(output::read_file_records(path).records.size(), 1u);
}

// It has each stream open twice.
TEST_F(RecoverTest, AsManyCpusAsTheUsualLimitOfDescriptorsAreNoObstacle) {
  constexpr std::uint32_t kCpus = 100;
  const std::string path = dir_.file("t.dat");
  {
    output::TraceDatWriter writer = output::create_writer(path, kCpus);
    for (std::uint32_t cpu = 0; cpu < kCpus; ++cpu) EXPECT_TRUE(writer.append(output::number_record(1, cpu, cpu)));
  }
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const Fd next(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  const rlimit few{static_cast<rlim_t>(next.get()) + kCpus + kCpus / 2, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
  const Outcome recover = run(add_recover, {"recover", path.c_str()});
  rlimit after{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &after), 0);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_EQ(recover.err, "landtrace: 100 events, 0 lost, in " + path + "\n");
  EXPECT_EQ(after.rlim_cur, few.rlim_cur);
}

TEST_F(RecoverTest, APictureOfOneThatIsNotFinishedSaysSo) {
  const std::string path = dir_.file("t.dat");
  {
    output::TraceDatWriter writer = output::create_writer(path, 1);
    writer.add_event(output::user_stack_type());
    writer.add_event(output::number_type());
    EXPECT_TRUE(writer.append(output::number_record(1, 0, 7)));
  }
  const Outcome report = run(add_report, {"report", "--flame", path.c_str()});
  EXPECT_EQ(report.status, 0);
  EXPECT_EQ(report.err, "landtrace: " + path + " was not finished by its recorder; `landtrace recover " + path +
                            "` completes it\n");
}

TEST_F(RecoverTest, ARecordingMayBeCalledPartial) {
  const std::string path = unfinished("run.partial");
  const Outcome recover = run(add_recover, {"recover", path.c_str()});
  EXPECT_EQ(recover.err, "landtrace: 2 events, 3 lost, in " + path + "\n");
  EXPECT_EQ(output::read_file_records(path).records.size(), 2u);
}

TEST_F(RecoverTest, WhatIsNoRecordingIsNamed) {
  const std::string path = dir_.file("text");
  output::write_text(path, "not a recording");
  const Outcome recover = run(add_recover, {"recover", path.c_str()});
  EXPECT_EQ(recover.status, 1);
  EXPECT_THAT(recover.err, HasSubstr(path));
  EXPECT_EQ(output::read_text(path), "not a recording") << "it is left alone";
  EXPECT_EQ(run(add_recover, {"recover", dir_.file("nosuch").c_str()}).status, 1);
}

}  // namespace
}  // namespace landtrace::cli
