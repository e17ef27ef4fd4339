// A follower whose recording's name is another file's by now.
#include <cstring>
#include <filesystem>
#include <limits>

#include "output/trace_dat/file_format.hpp"
#include "output/trace_dat/test_support.hpp"

namespace landtrace::output {
namespace {

namespace fs = std::filesystem;
using Growth = TraceDatReader::Growth;

class TakenNameTest : public ::testing::Test {
 protected:
  static constexpr std::uint32_t kEvents = 60'000;  // many pages

  static TraceDatWriter create(const std::string& path) {
    return TraceDatWriter::create(path, {.cpus = 2, .wall_offset_ns = 1'000'000'000'000}).value();
  }
  static void append(TraceDatWriter& writer, std::uint32_t first, std::uint32_t count, std::uint32_t cpu) {
    for (std::uint32_t n = first; n < first + count; ++n) {
      ASSERT_EQ(message_of(writer.append(number_record(1000 + n, cpu, n))), "");
    }
  }
  static void set_page_size(const std::string& path, std::uint32_t size) {
    std::string bytes = read_text(path);
    std::memcpy(bytes.data() + trace_dat::kMagic.size() + sizeof "6" + 2, &size, sizeof size);
    write_text(path, bytes);
  }

  TempDir dir_ = TempDir::in_memory();
  const std::string path_ = dir_.file("trace.dat");
};

// Its pages are read into memory for pages of the recording that had the name.
TEST_F(TakenNameTest, AFileOfLargerPagesIsRefused) {
  TraceDatWriter writer = create(path_);
  append(writer, 0, kEvents, 0);
  ASSERT_EQ(message_of(writer.publish(std::numeric_limits<std::uint64_t>::max())), "");
  auto reader = TraceDatReader::open(path_);
  ASSERT_TRUE(reader);
  reader->follow();
  TraceDatReader::Block block;
  for (bool has_more = true; has_more;) {
    const auto filled = reader->next(block, 4096);
    ASSERT_TRUE(filled);
    has_more = *filled;
  }
  append(writer, kEvents, 10 * kEvents, 1);
  ASSERT_EQ(message_of(writer.finish()), "");
  set_page_size(path_, 1024 * 1024);
  const auto growth = reader->look_again();
  EXPECT_FALSE(growth);
  ASSERT_TRUE(reader->next(block, 4096));
  EXPECT_TRUE(block.items().empty());
}

}  // namespace
}  // namespace landtrace::output
