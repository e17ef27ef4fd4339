// Files that somebody cut, bent or made up.
#include <random>

#include "output/trace_dat/test_support.hpp"

namespace landtrace::output {
namespace {

using ::testing::HasSubstr;

class DamagedTest : public ::testing::Test {
 protected:
  // Two CPUs, one lost marker, a long entry; `sound_` is the file.
  void SetUp() override {
    const std::string path = dir_.file("sound.dat");
    TraceDatWriter writer = create_writer(path, 2);
    writer.add_event(number_type());
    writer.set_task(100, {"app", 99});
    for (std::uint32_t i = 0; i < 20; ++i) {
      ASSERT_EQ(message_of(writer.append(number_record(1'000'000'000ull * i, i % 2, i))), "");
    }
    writer.lost(0, 3);
    ASSERT_EQ(message_of(writer.append({1, 0, 1, 2, bytes_of(std::string(300, 'x'))})), "");
    ASSERT_EQ(message_of(writer.finish()), "");
    sound_ = read_text(path);
    metadata_size_ = sound_.rfind("[mono]") + 7;
  }

  ReadResult read(std::string_view bytes) {
    write_text(damaged_, bytes);
    return read_file_records(damaged_);
  }

  TempDir dir_;
  const std::string damaged_ = dir_.file("damaged.dat");
  std::string sound_;
  std::size_t metadata_size_ = 0;
};

TEST_F(DamagedTest, SoundFileIsRead) { EXPECT_EQ(read(sound_).records.size(), 21u); }

TEST_F(DamagedTest, CutWithinTheMetadataIsAnErrorThatNamesThePlace) {
  for (std::size_t size = 1; size < metadata_size_; ++size) {
    const ReadResult result = read(std::string_view(sound_).substr(0, size));
    ASSERT_TRUE(result.error) << size;
    EXPECT_EQ(result.error->code, EBADMSG) << size;
    EXPECT_THAT(result.error->message, HasSubstr("at ")) << size;
  }
}

TEST_F(DamagedTest, CutWithinTheEventsGivesTheEventsBefore) {
  constexpr std::size_t kPage = 128 * 1024;
  // Into the first pages of both CPUs, the page with the lost marker between them.
  for (const std::size_t page : {kPage, 2 * kPage, 3 * kPage}) {
    for (std::size_t size = page; size < page + 700; ++size) {
      const ReadResult result = read(std::string_view(sound_).substr(0, size));
      EXPECT_LE(result.records.size(), 21u) << size;
      EXPECT_TRUE(result.error || result.records.size() == 21) << size;
      EXPECT_TRUE(!result.error || result.error->code == EBADMSG) << size << ": " << result.error->message;
    }
  }
}

TEST_F(DamagedTest, ReaderGoesOnWithTheOtherCpus) {
  constexpr std::size_t kPage = 128 * 1024;
  std::string bytes = sound_;
  bytes[kPage + 16] = 1;  // CPU 0's first event: an entry of 4 bytes
  write_text(damaged_, bytes);
  auto reader = TraceDatReader::open(damaged_);
  ASSERT_TRUE(reader);
  const ReadResult first = read_all(*reader);
  ASSERT_TRUE(first.error);
  EXPECT_THAT(first.error->message, HasSubstr("CPU 0: an event of 4 bytes at offset 131092"));
  const ReadResult rest = read_all(*reader);
  EXPECT_FALSE(rest.error);
  EXPECT_EQ(rest.records.size(), 10u);
}

TEST_F(DamagedTest, CommitBeyondThePage) {
  std::string bytes = sound_;
  bytes[128 * 1024 + 8 + 2] = 0x7f;
  const ReadResult result = read(bytes);
  ASSERT_TRUE(result.error);
  EXPECT_THAT(result.error->message, HasSubstr("in a page of 131072 at offset 131072"));
}

TEST_F(DamagedTest, SizesBeyondTheFileAllocateNothing) {
  std::string bytes = sound_;
  const std::size_t header_page_size = bytes.find("header_page") + 12;
  bytes.replace(header_page_size, 8, std::string(8, '\x7f'));
  const ReadResult result = read(bytes);
  ASSERT_TRUE(result.error);
  EXPECT_THAT(result.error->message, HasSubstr("header_page of 9187201950435737471 bytes does not fit"));
}

TEST_F(DamagedTest, OtherFiles) {
  EXPECT_EQ(read("").error->message, "the file is empty");
  EXPECT_THAT(read("PERFILE2 and more of that").error->message, HasSubstr("no trace.dat signature at offset 0"));
  EXPECT_THAT(read(sound_.substr(0, 10) + "5" + sound_.substr(11)).error->message, HasSubstr("file version 5"));
  std::string big_endian = sound_;
  big_endian[12] = 1;
  EXPECT_EQ(read(big_endian).error->code, ENOTSUP);
  const auto folder = TraceDatReader::open("/tmp");
  ASSERT_FALSE(folder);
  EXPECT_EQ(folder.error().code, EINVAL);
}

// Version 7, whose second options section is the first again.
TEST_F(DamagedTest, OptionsThatGoInCircles) {
  std::string bytes("\x17\x08\x44tracing7\0\0\x08\0\x10\0\0none\0\0", 24);
  const auto put = [&](auto value) { bytes.append(reinterpret_cast<const char*>(&value), sizeof value); };
  const std::uint64_t options = bytes.size() + 8;
  put(options);
  put(std::uint64_t{0});   // section id, flags, name
  put(std::uint64_t{14});  // section size
  put(std::uint16_t{0});   // DONE
  put(std::uint32_t{8});
  put(options);
  const ReadResult result = read(bytes);
  ASSERT_TRUE(result.error);
  EXPECT_THAT(result.error->message, HasSubstr("the options sections overlap, at offset"));
}

TEST_F(DamagedTest, RandomBytesAnywhereNeverHang) {
  std::minstd_rand random(1);
  for (int round = 0; round < 500; ++round) {
    std::string bytes = sound_;
    for (int i = 0; i < 4; ++i) {
      const bool in_metadata = random() % 2 == 0;
      const std::size_t at = in_metadata ? random() % metadata_size_ : 128 * 1024 + random() % 600;
      bytes[at] = static_cast<char>(random());
    }
    EXPECT_LT(read(bytes).records.size(), 1000u);
  }
}

}  // namespace
}  // namespace landtrace::output
