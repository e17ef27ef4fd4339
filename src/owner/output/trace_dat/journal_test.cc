// What is read of a journal that is not whole: a killed recorder's, or a damaged one.
#include "output/trace_dat/journal.hpp"

#include "output/trace_dat/test_support.hpp"

namespace landtrace::output {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class JournalTest : public ::testing::Test {
 protected:
  void SetUp() override {
    {
      TraceDatWriter writer = create_writer(path_, 1);
      writer.add_event(number_type());
      writer.set_task(100, {"app", 99});
      EXPECT_EQ(message_of(writer.append(number_record(1, 0, 7))), "");
    }
    whole_ = read_text(path_);
    for (std::size_t at = trace_dat::kJournalStart; at < whole_.size();) {
      entries_.push_back(at);
      std::uint32_t size = 0;
      std::memcpy(&size, whole_.data() + at, sizeof size);
      at += 2 * sizeof size + size;
    }
    ASSERT_EQ(entries_.size(), 3u);  // how it begins, the event, the task
  }
  [[nodiscard]] std::string bent(std::size_t at) const {
    std::string bytes = whole_;
    bytes[at] = static_cast<char>(bytes[at] ^ 0x40);
    return bytes;
  }
  Result<TraceDatReader> read(std::string_view bytes) {
    write_text(path_, bytes);
    return TraceDatReader::open(path_);
  }

  TempDir dir_ = TempDir::in_memory();
  const std::string path_ = dir_.file("trace.dat");
  std::string whole_;
  std::vector<std::size_t> entries_;
};

TEST_F(JournalTest, ATornEntryEndsItAndNothingBefore) {
  for (std::size_t size = trace_dat::kJournalStart; size < whole_.size(); ++size) {
    auto left = read(std::string_view(whole_).substr(0, size));
    EXPECT_EQ(left.has_value(), size >= entries_[1]) << size;
    if (!left) {
      EXPECT_EQ(left.error().code, EBADMSG);
      continue;
    }
    EXPECT_EQ(read_all(*left).records.size(), 1u);
    EXPECT_EQ(left->events().size(), size >= entries_[2] ? 1u : 0u) << size;
    EXPECT_TRUE(left->tasks().empty()) << size;
    EXPECT_FALSE(left->damaged_at()) << size;
  }
}

TEST_F(JournalTest, ZerosAtItsEndAreNoDamage) {
  for (const std::size_t size : {whole_.size(), whole_.size() - 3}) {
    std::string bytes = whole_.substr(0, size);
    bytes.resize(8192, '\0');
    const auto left = read(bytes);
    ASSERT_TRUE(left) << left.error().message;
    EXPECT_FALSE(left->damaged_at());
    EXPECT_EQ(left->events().size(), 1u);
    EXPECT_EQ(left->tasks().size(), size == whole_.size() ? 1u : 0u);
  }
}

TEST_F(JournalTest, ADamagedEntryIsToldAndThoseBehindItAreRead) {
  for (std::size_t i = entries_[0]; i < whole_.size(); ++i) {
    SCOPED_TRACE(i);
    const auto left = read(bent(i));
    if (i < entries_[1]) {
      ASSERT_FALSE(left);
      EXPECT_EQ(left.error().code, EBADMSG);
      continue;
    }
    ASSERT_TRUE(left) << left.error().message;
    const std::size_t entry = i < entries_[2] ? entries_[1] : entries_[2];
    // The last one's size may be that of one which has been torn.
    if (i < entries_[2] || i >= entries_[2] + sizeof(std::uint32_t)) {
      EXPECT_EQ(left->damaged_at(), entry);
    }
    EXPECT_EQ(left->events().size(), entry == entries_[1] ? 0u : 1u);
    EXPECT_EQ(left->tasks().size(), entry == entries_[2] ? 0u : 1u);
  }
}

TEST_F(JournalTest, ASectorThatIsLostIsDamage) {
  std::string bytes = whole_.substr(0, entries_[2]) + std::string(4096, '\0') + whole_.substr(entries_[2]);
  const auto left = read(bytes);
  ASSERT_TRUE(left) << left.error().message;
  EXPECT_EQ(left->damaged_at(), entries_[2]);
  EXPECT_EQ(left->tasks().size(), 1u);
}

TEST_F(JournalTest, ADamagedOneIsKeptWhenTheRecordingIsCompleted) {
  const std::string damaged = bent(entries_[1] + 20);
  write_text(path_, damaged);
  write_text(path_ + ".damaged", "somebody's");
  EXPECT_THAT(message_of(complete_recording(path_)), HasSubstr(path_ + ".damaged: File exists"));
  EXPECT_EQ(read_text(path_), damaged);
  ASSERT_EQ(::unlink((path_ + ".damaged").c_str()), 0);
  const auto completed = complete_recording(path_);
  ASSERT_TRUE(completed) << completed.error().message;
  EXPECT_EQ(completed->damaged_at, entries_[1]);
  EXPECT_EQ(read_text(path_ + ".damaged"), damaged);
  EXPECT_THAT(dir_.list(), ElementsAre("trace.dat", "trace.dat.damaged"));
  auto reader = TraceDatReader::open(path_);
  ASSERT_TRUE(reader);
  EXPECT_EQ(reader->tasks().size(), 1u);
  EXPECT_EQ(read_all(*reader).records.size(), 1u);
}

}  // namespace
}  // namespace landtrace::output
