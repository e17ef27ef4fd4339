#include "output/perf_data/writer.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <climits>
#include <cstdlib>
#include <cstring>

#include "base/fd.hpp"

namespace landtrace::output {
namespace {

template <typename T>
T at(const std::string& bytes, std::size_t offset) {
  T value{};
  EXPECT_LE(offset + sizeof value, bytes.size());
  if (offset + sizeof value <= bytes.size()) std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

struct Header {
  std::uint32_t type;
  std::uint16_t misc;
  std::uint16_t size;
};

class PerfDataTest : public testing::Test {
 protected:
  PerfDataTest() {
    job_.id = 16384;
    job_.system = "user_events";
    job_.name = "job";
    job_.declaration = *event::parse_declaration("job u32 id");
  }
  void SetUp() override {
    std::string path = testing::TempDir() + "perf_data_XXXXXX";
    file_ = Fd(::mkstemp(path.data()));
    ASSERT_TRUE(file_);
    ::unlink(path.c_str());
    target_.emplace(file_.get());
    ASSERT_TRUE(target_->can_go_back());
  }
  void begin(bool has_stacks) {
    writer_.emplace(*target_, PerfDataWriter::Options{"mono", has_stacks});
    writer_->type(job_);
    writer_->task(12, {"worker", 10});
    writer_->task(10, {"app", 10});
  }
  void emit(std::uint64_t time, std::size_t size = 4, const UserStack* stack = nullptr) {
    const std::vector<std::byte> payload(size, std::byte{0x11});
    const Record record{.time_ns = time, .cpu = 3, .tid = 12, .event_id = job_.id, .payload = payload};
    const Task task{"worker", 10};
    writer_->event({record, job_, &task, stack});
  }
  // The records of the data section, after the end.
  std::vector<std::string> finish() {
    writer_->end();
    EXPECT_TRUE(target_->result());
    bytes_.resize(static_cast<std::size_t>(::lseek(file_.get(), 0, SEEK_END)));
    EXPECT_EQ(::pread(file_.get(), bytes_.data(), bytes_.size(), 0), static_cast<ssize_t>(bytes_.size()));
    EXPECT_EQ(bytes_.substr(0, 8), "PERFILE2");
    const auto data = at<perf_data::Section>(bytes_, 40);
    std::vector<std::string> records;
    for (std::uint64_t begin = data.offset; begin < data.offset + data.size;) {
      const auto header = at<Header>(bytes_, begin);
      EXPECT_EQ(header.size % 8, 0);
      if (header.size < 8) break;
      records.push_back(bytes_.substr(begin, header.size));
      begin += header.size;
    }
    EXPECT_EQ(at<Header>(records.back(), 0).type, 68u);
    records.pop_back();
    return records;
  }

  EventType job_;
  Fd file_;
  std::optional<Target> target_;
  std::optional<PerfDataWriter> writer_;
  std::string bytes_;
};

TEST_F(PerfDataTest, APathThatNoRecordHasRoomForIsCut) {
  begin(true);
  const UserStack stack{10, {0x1000}, 500};
  writer_->object({10, 0x1000, 0x2000, 0x1000, 400, std::string(70'000, '/'), ""});
  emit(1000, 4, &stack);
  emit(2000, 4, &stack);
  const auto records = finish();
  ASSERT_EQ(records.size(), 5u);  // with two names
  EXPECT_EQ(at<Header>(records[0], 0).type, PERF_RECORD_MMAP2);
  EXPECT_NE(records[0].find(std::string(PATH_MAX - 1, '/') + '\0'), std::string::npos);
  EXPECT_EQ(at<Header>(records[4], 0).type, PERF_RECORD_SAMPLE);
}

TEST_F(PerfDataTest, ASampleSaysWhoWhenAndWhat) {
  begin(false);
  emit(1000);
  emit(2000);
  const auto records = finish();
  ASSERT_EQ(records.size(), 4u);  // two names first
  EXPECT_EQ(at<Header>(records[0], 0).type, PERF_RECORD_COMM);
  EXPECT_EQ(at<std::uint32_t>(records[0], 8), 10u);
  EXPECT_EQ(at<std::uint32_t>(records[0], 12), 12u);
  EXPECT_STREQ(records[0].c_str() + 16, "worker");
  EXPECT_EQ(at<std::uint32_t>(records[1], 12), 10u);
  EXPECT_STREQ(records[1].c_str() + 16, "app");
  const std::string& sample = records[2];
  EXPECT_EQ(at<Header>(sample, 0).type, PERF_RECORD_SAMPLE);
  EXPECT_EQ(at<std::uint64_t>(sample, 8), 16385u);
  EXPECT_EQ(at<std::uint64_t>(sample, 16), 0u);
  EXPECT_EQ(at<std::uint32_t>(sample, 24), 10u);
  EXPECT_EQ(at<std::uint32_t>(sample, 28), 12u);
  EXPECT_EQ(at<std::uint64_t>(sample, 32), 1000u);
  EXPECT_EQ(at<std::uint64_t>(sample, 40), 3u);
  EXPECT_EQ(at<std::uint64_t>(sample, 48), 1u);
  EXPECT_EQ(at<std::uint32_t>(sample, 56), sample.size() - 60);
  EXPECT_EQ(at<std::uint16_t>(sample, 60), 16384u);
  EXPECT_EQ(at<std::int32_t>(sample, 64), 12);
  EXPECT_EQ(at<std::uint32_t>(sample, 68), 0x11111111u);
}

TEST_F(PerfDataTest, TheTablesAreWhereTheHeaderSays) {
  begin(false);
  emit(1000);
  finish();
  const auto attrs = at<perf_data::Section>(bytes_, 24);
  EXPECT_EQ(at<std::uint64_t>(bytes_, 8), 104u);
  ASSERT_EQ(attrs.size, at<std::uint64_t>(bytes_, 16));
  const auto attr = at<perf_event_attr>(bytes_, attrs.offset);
  EXPECT_EQ(attr.type, static_cast<std::uint32_t>(PERF_TYPE_TRACEPOINT));
  EXPECT_EQ(attr.config, 16384u);
  EXPECT_EQ(attr.sample_type & PERF_SAMPLE_CALLCHAIN, 0u);
  const auto ids = at<perf_data::Section>(bytes_, attrs.offset + 128);
  ASSERT_EQ(ids.size, 8u);
  EXPECT_EQ(at<std::uint64_t>(bytes_, ids.offset), 16385u);
  // The table of features stands behind the data, and the first is what describes the events.
  const auto data = at<perf_data::Section>(bytes_, 40);
  EXPECT_EQ(static_cast<unsigned char>(bytes_[72]), 0b1111'1010);
  EXPECT_EQ(static_cast<unsigned char>(bytes_[73]), 0b0001'1011);
  EXPECT_EQ(static_cast<unsigned char>(bytes_[74]), 0b0010'0000);
  const auto described = at<perf_data::Section>(bytes_, data.offset + data.size);
  const std::string text = bytes_.substr(described.offset, described.size);
  EXPECT_TRUE(text.starts_with(std::string("\x17\x08\x44tracing0.6\0", 14)));
  EXPECT_NE(text.find("name: job"), std::string::npos);
  EXPECT_NE(text.find("12 worker\n"), std::string::npos);
}

TEST_F(PerfDataTest, AStackIsACallChainAndObjectsComeBeforeIt) {
  begin(true);
  writer_->object({.pid = 10,
                   .start = 0x7000,
                   .end = 0x9000,
                   .bias = 0x7000,
                   .first_seen = 1100,
                   .path = "/no/such",
                   .build_id = std::string(20, '\x42')});
  writer_->object({.pid = 10,
                   .start = 0x17000,
                   .end = 0x19000,
                   .bias = 0x7000,
                   .first_seen = 5000,
                   .path = "/later",
                   .build_id = ""});
  const UserStack stack{10, {0x7100, 0x8200}, 1150};
  emit(1000, 4, &stack);
  emit(1200);
  const auto records = finish();
  ASSERT_EQ(records.size(), 5u);
  const std::string& mapping = records[0];
  EXPECT_EQ(at<Header>(mapping, 0).type, PERF_RECORD_MMAP2);
  EXPECT_EQ(at<Header>(mapping, 0).misc, PERF_RECORD_MISC_USER | PERF_RECORD_MISC_MMAP_BUILD_ID);
  EXPECT_EQ(at<std::uint64_t>(mapping, 16), 0x7000u);
  EXPECT_EQ(at<std::uint64_t>(mapping, 24), 0x2000u);
  EXPECT_EQ(at<std::uint64_t>(mapping, 32), 0u);
  EXPECT_EQ(mapping[40], 20);
  EXPECT_EQ(mapping.substr(44, 20), std::string(20, '\x42'));
  EXPECT_STREQ(mapping.c_str() + 72, "/no/such");
  EXPECT_EQ(at<std::uint64_t>(mapping, mapping.size() - 24), 1000u) << "not after the event";
  const std::string& sample = records[3];
  EXPECT_EQ(at<std::uint64_t>(sample, 16), 0x7100u);
  EXPECT_EQ(at<std::uint64_t>(sample, 56), 3u);
  EXPECT_EQ(at<std::uint64_t>(sample, 64), static_cast<std::uint64_t>(PERF_CONTEXT_USER));
  EXPECT_EQ(at<std::uint64_t>(sample, 72), 0x7100u);
  EXPECT_EQ(at<std::uint64_t>(sample, 80), 0x8200u);
  EXPECT_EQ(at<std::uint64_t>(records[4], 56), 0u) << "without one";
}

TEST_F(PerfDataTest, ChainsThatPerfWouldRefuseAreCut) {
  begin(true);
  const UserStack stack{10, std::vector<std::uint64_t>(200, 0x7100), 0};
  emit(1000, 4, &stack);
  EXPECT_EQ(at<std::uint64_t>(finish().back(), 56), 127u);
}

TEST_F(PerfDataTest, LossIsToldBeforeTheNextSample) {
  begin(false);
  writer_->lost(2, 7, 900);
  emit(1000);
  writer_->lost(1, kLostUnknown, 1100);
  const auto records = finish();
  EXPECT_EQ(at<Header>(records[0], 0).type, PERF_RECORD_LOST);
  EXPECT_EQ(at<std::uint64_t>(records[0], 8), 16385u);
  EXPECT_EQ(at<std::uint64_t>(records[0], 16), 7u);
  EXPECT_EQ(at<std::uint64_t>(records[0], 40), 2u);
  EXPECT_EQ(at<Header>(records.back(), 0).type, PERF_RECORD_LOST);
  EXPECT_EQ(at<std::uint64_t>(records.back(), 16), 1u);
}

TEST_F(PerfDataTest, AnEventThatDoesNotFitIsLostAndSaid) {
  begin(false);
  emit(1000, 65440);
  EXPECT_EQ(writer_->complaint(), "");
  emit(1001, 65536);
  EXPECT_NE(writer_->complaint(), "");
  const auto records = finish();
  ASSERT_EQ(records.size(), 3u + 1);
  EXPECT_EQ(at<Header>(records[2], 0).type, PERF_RECORD_SAMPLE);
  EXPECT_EQ(at<Header>(records[3], 0).type, PERF_RECORD_LOST);
}

TEST_F(PerfDataTest, WithoutEventsItIsAFileThatDescribesThem) {
  begin(false);
  EXPECT_TRUE(finish().empty());
  EXPECT_EQ(at<perf_data::Section>(bytes_, 24).size, 144u);
}

TEST_F(PerfDataTest, IntoAPipeWhatDescribesAnEventComesBeforeIt) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const Fd from(ends[0]), to(ends[1]);
  target_.emplace(to.get());
  ASSERT_FALSE(target_->can_go_back());
  begin(false);
  emit(1000);
  writer_->end();
  std::string bytes(1 << 16, '\0');
  bytes.resize(static_cast<std::size_t>(::read(from.get(), bytes.data(), bytes.size())));
  EXPECT_EQ(at<std::uint64_t>(bytes, 8), 16u);
  std::vector<std::uint32_t> types;
  for (std::size_t begin = 16; begin < bytes.size();) {
    const auto header = at<Header>(bytes, begin);
    ASSERT_GE(header.size, 8);
    types.push_back(header.type);
    begin += header.size;
    if (header.type == 66) begin += at<std::uint32_t>(bytes, begin - header.size + 8);
  }
  const std::vector<std::uint32_t> last(types.end() - 5, types.end());
  EXPECT_EQ(last, (std::vector<std::uint32_t>{64, 66, PERF_RECORD_COMM, PERF_RECORD_COMM, PERF_RECORD_SAMPLE}));
}

}  // namespace
}  // namespace landtrace::output
