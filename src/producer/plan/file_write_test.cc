#include "plan/file_write.hpp"

#include <cerrno>

#include "abi/validator.hpp"
#include "plan/test_domain.hpp"

namespace landtrace::plan {
namespace {

using abi::DynamicFieldCheck;

constexpr std::uint32_t kFirst = 10;  // the event slots
constexpr std::uint32_t kSecond = 11;
constexpr FileRef kFile{3, 77};

class FileWriteTest : public testing::Test {
 protected:
  void SetUp() override {
    table_ = domain_.put(std::vector<std::uint32_t>{2, kFirst, kSecond});
    domain_.control().files[kFile.slot] = {table_, kFile.generation};
    for (const std::uint32_t event : {kFirst, kSecond}) domain_.publish(event, {domain_.record()});
  }

  ssize_t write(const std::vector<iovec>& vectors, FileRef file = kFile) {
    return write_file(domain_.view(), domain_.thread(), file, vectors.data(), static_cast<int>(vectors.size()));
  }
  ssize_t write(std::string_view bytes, FileRef file = kFile) { return write({vector_of(bytes)}, file); }
  ssize_t write(std::int32_t index, std::string_view payload) { return write(bytes_of(index).append(payload)); }
  // In pieces of so many bytes.
  ssize_t write_pieces(std::string_view bytes, std::size_t size) {
    std::vector<iovec> vectors;
    for (std::size_t at = 0; at < bytes.size(); at += size) vectors.push_back(vector_of(bytes.substr(at, size)));
    return write(vectors);
  }
  static iovec vector_of(std::string_view bytes) { return {const_cast<char*>(bytes.data()), bytes.size()}; }

  void check_fields(std::uint32_t event, const std::vector<DynamicFieldCheck>& checks, std::uint32_t min_size) {
    EventSlot& slot = domain_.control().events[event];
    slot.checks = domain_.put(checks);
    slot.check_count = static_cast<std::uint16_t>(checks.size());
    slot.min_size = min_size;
  }
  void make_plain(std::uint32_t event) {
    domain_.control().files[kFile.slot].table = domain_.put(std::vector<std::uint32_t>{1, event}) | kPlainFile;
  }
  [[nodiscard]] std::string last_payload() const {
    const auto records = domain_.records();
    return records.empty() ? "" : records.back().payload;
  }

  TestDomain domain_;
  std::uint32_t table_ = 0;
};

TEST_F(FileWriteTest, TheIndexSaysWhichEventAndIsCountedAsWritten) {
  EXPECT_EQ(write(0, "four"), 8);
  EXPECT_EQ(write(1, "eight..."), 12);
  EXPECT_EQ(domain_.records(),
            (std::vector<TestRecord>{{kFirst, TestDomain::kTid, "four"}, {kSecond, TestDomain::kTid, "eight..."}}));
}

TEST_F(FileWriteTest, AnEventMayHaveNoPayload) {
  EXPECT_EQ(write(0, ""), 4);
  EXPECT_EQ(domain_.records(), (std::vector<TestRecord>{{kFirst, TestDomain::kTid, ""}}));
}

TEST_F(FileWriteTest, LessThanAnIndexIsAFault) {
  for (const std::size_t size : {0, 1, 2, 3}) EXPECT_EQ(write(std::string(size, '\0')), -EFAULT) << size;
  EXPECT_EQ(write(std::vector<iovec>()), -EFAULT);
  EXPECT_EQ(write_pieces("\0\0\0", 1), -EFAULT);
  EXPECT_TRUE(domain_.records().empty());
}

TEST_F(FileWriteTest, IndexAndPayloadMayComeInAnyPieces) {
  const std::string bytes = bytes_of(1) + "the payload.";
  for (std::size_t size = 1; size <= bytes.size(); ++size) {
    EXPECT_EQ(write_pieces(bytes, size), 16) << size;
    EXPECT_EQ(last_payload(), "the payload.") << size;
  }
  const auto records = domain_.records();
  EXPECT_EQ(records.size(), bytes.size());
  for (const TestRecord& record : records) EXPECT_EQ(record.event, kSecond);
}

TEST_F(FileWriteTest, EmptyPiecesAreNothing) {
  const std::string index = bytes_of(1);
  EXPECT_EQ(write({vector_of(""), vector_of(index), vector_of(""), vector_of("four"), vector_of("")}), 8);
  EXPECT_EQ(last_payload(), "four");
  EXPECT_EQ(write({vector_of(index), vector_of(""), vector_of("four")}), 8);
  EXPECT_EQ(last_payload(), "four");
}

TEST_F(FileWriteTest, ManyPiecesAreTakenUpToTheSystemsLimit) {
  std::vector<iovec> vectors(1024, vector_of("x"));
  const std::string index = bytes_of(0);
  vectors[0] = vector_of(index);
  EXPECT_EQ(write(vectors), 4 + 1023);
  EXPECT_EQ(last_payload(), std::string(1023, 'x') + '\0');
  vectors.push_back(vector_of("x"));
  EXPECT_EQ(write(vectors), -EINVAL);
  EXPECT_EQ(write_file(domain_.view(), domain_.thread(), kFile, vectors.data(), -1), -EINVAL);
  EXPECT_EQ(domain_.records().size(), 1u);
}

TEST_F(FileWriteTest, IndicesThatTheFileDoesNotHaveAreNotFound) {
  EXPECT_EQ(write(2, ""), -ENOENT);
  EXPECT_EQ(write(INT32_MAX, ""), -ENOENT);
  EXPECT_EQ(write(-1, ""), -EINVAL);
  EXPECT_EQ(write(INT32_MIN, ""), -EINVAL);
}

TEST_F(FileWriteTest, AnIndexIsThereOnceItIsCounted) {
  const std::uint32_t table = domain_.put(std::vector<std::uint32_t>{1, kFirst, kSecond});
  domain_.control().files[kFile.slot].table = table;
  EXPECT_EQ(write(1, ""), -ENOENT);
  const_cast<FileTable*>(control_at<FileTable>(domain_.view(), table))->count = 2;
  EXPECT_EQ(write(1, ""), 4);
}

TEST_F(FileWriteTest, AnotherFileInTheSameSlotIsNotTheFile) {
  EXPECT_EQ(write(bytes_of(0), {kFile.slot, kFile.generation + 1}), -ENOENT);
  EXPECT_EQ(write(bytes_of(0), {kFile.slot + 1, kFile.generation}), -ENOENT);
  domain_.control().files[kFile.slot] = {0, kFile.generation};  // nothing registered
  EXPECT_EQ(write(0, ""), -ENOENT);
}

TEST_F(FileWriteTest, AnEventThatNobodyListensToIsABadDescriptor) {
  domain_.control().events[kFirst].plan = 0;
  EXPECT_EQ(write(0, "four"), -EBADF);
  EXPECT_EQ(write(1, "four"), 8);
  *reinterpret_cast<std::uint32_t*>(&domain_.control().owner_alive) = kOwnerDied;
  EXPECT_EQ(write(1, "four"), -EBADF);
}

TEST_F(FileWriteTest, APayloadHasAtLeastTheEventsFields) {
  domain_.control().events[kFirst].min_size = 8;
  EXPECT_EQ(write(0, "seven.."), -EINVAL);
  EXPECT_EQ(write(0, "eight..."), 12);
  EXPECT_EQ(write(0, "nine....."), 13);
}

TEST_F(FileWriteTest, PayloadsUpToTheLimitAreKept) {
  EXPECT_EQ(write(0, std::string(ring::kMaxPayload, 'x')), 4 + ring::kMaxPayload);
  EXPECT_EQ(last_payload().size(), ring::kMaxPayload);
  EXPECT_EQ(write(0, std::string(ring::kMaxPayload + 1, 'x')), -E2BIG);
}

TEST_F(FileWriteTest, ErrorsHaveTheKernelsOrder) {
  check_fields(kFirst, {{0, 0}}, 8);
  const std::string too_large(ring::kMaxPayload + 1, '\xff');
  EXPECT_EQ(write(bytes_of(-1), {kFile.slot, 0}), -EINVAL);  // a negative index before a file that is not there
  domain_.control().events[kFirst].plan = 0;
  EXPECT_EQ(write(0, "short"), -EINVAL);   // fields before listeners
  EXPECT_EQ(write(0, too_large), -EBADF);  // listeners before the limit
  domain_.publish(kFirst, {domain_.record()});
  EXPECT_EQ(write(0, too_large), -E2BIG);  // the limit before what stands in the fields
  EXPECT_EQ(write(0, std::string(8, '\xff')), -EFAULT);
}

// -- dynamic fields ---------------------------------------------------------------------------------------------------
TEST_F(FileWriteTest, DataOfADynamicFieldLiesInThePayload) {
  check_fields(kFirst, {{0, 0}}, 4);
  const auto location = [](std::uint32_t size, std::uint32_t begin) { return size << 16 | begin; };
  EXPECT_EQ(write(0, bytes_of(location(4, 12)) + "data"), 12);
  EXPECT_EQ(write(0, bytes_of(location(5, 12)) + "data"), -EFAULT);
  EXPECT_EQ(write(0, bytes_of(location(4, 13)) + "data"), -EFAULT);
  EXPECT_EQ(write(0, bytes_of(location(1, 7)) + "data"), -EFAULT);  // in the common header
  EXPECT_EQ(write(0, bytes_of(location(0, 0)) + "data"), 12);
}

TEST_F(FileWriteTest, ATextEndsWithANul) {
  check_fields(kFirst, {{0, DynamicFieldCheck::kRelative | DynamicFieldCheck::kTerminated}}, 4);
  const std::uint32_t location = 4u << 16;  // right behind the location
  EXPECT_EQ(write(0, bytes_of(location) + std::string("abc\0", 4)), 12);
  EXPECT_EQ(write(0, bytes_of(location) + "abcd"), -EFAULT);
}

TEST_F(FileWriteTest, InPiecesTheyAreFoundAllTheSame) {
  check_fields(kFirst, {{2, DynamicFieldCheck::kRelative | DynamicFieldCheck::kTerminated}}, 6);
  const std::uint32_t location = 4u << 16 | 1;
  const std::string good = bytes_of(0) + "ab" + bytes_of(location) + "." + std::string("abc\0", 4);
  const std::string bad = bytes_of(0) + "ab" + bytes_of(location) + "." + std::string("\0\0\0d", 4);
  for (std::size_t size = 1; size <= good.size(); ++size) {
    EXPECT_EQ(write_pieces(good, size), static_cast<ssize_t>(good.size())) << size;
    EXPECT_EQ(write_pieces(bad, size), -EFAULT) << size;
  }
}

TEST_F(FileWriteTest, EveryDynamicFieldIsLookedAt) {
  check_fields(kFirst, {{0, 0}, {4, DynamicFieldCheck::kRelative}}, 8);
  const std::uint32_t good = 2u << 16 | 16;
  EXPECT_EQ(write(0, bytes_of(good, std::uint32_t{2} << 16) + "ab"), 14);
  EXPECT_EQ(write(0, bytes_of(good, std::uint32_t{3} << 16) + "ab"), -EFAULT);
}

// -- plain files ------------------------------------------------------------------------------------------------------
TEST_F(FileWriteTest, APlainFileTakesPayloadFromItsFirstByte) {
  make_plain(kSecond);
  EXPECT_EQ(write("abcd"), 4);
  EXPECT_EQ(domain_.records(), (std::vector<TestRecord>{{kSecond, TestDomain::kTid, "abcd"}}));
  EXPECT_EQ(write(""), 0);
  EXPECT_EQ(domain_.records().size(), 2u);
  EXPECT_EQ(write_pieces("abcd", 1), 4);
  EXPECT_EQ(last_payload(), "abcd");
}

TEST_F(FileWriteTest, APlainFileHasTheSameErrors) {
  make_plain(kSecond);
  domain_.control().events[kSecond].min_size = 2;
  EXPECT_EQ(write("x"), -EINVAL);
  EXPECT_EQ(write("abcd", {kFile.slot, kFile.generation + 1}), -ENOENT);
  domain_.control().events[kSecond].plan = 0;
  EXPECT_EQ(write("abcd"), -EBADF);
}

TEST_F(FileWriteTest, EveryWriteIsASectionOfTheThread) {
  const ThreadSlot& slot = domain_.data().threads[0];
  write(0, "");
  EXPECT_EQ(slot.section, kDepthMask + 1);
  write(5, "");
  EXPECT_EQ(slot.section, 2 * (kDepthMask + 1));
}

}  // namespace
}  // namespace landtrace::plan
