#include "output/ctf/writer.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>

namespace landtrace::output {
namespace {

using ::testing::EndsWith;

// No file of this process grows beyond that.
class SizeLimit {
 public:
  explicit SizeLimit(rlim_t bytes) : before_(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &limit_);
    const rlimit smaller{bytes, limit_.rlim_max};
    EXPECT_EQ(::setrlimit(RLIMIT_FSIZE, &smaller), 0);
  }
  ~SizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &limit_);
    std::ignore = std::signal(SIGXFSZ, before_);
  }
  SizeLimit(const SizeLimit&) = delete;
  SizeLimit& operator=(const SizeLimit&) = delete;

 private:
  rlimit limit_{};
  void (*before_)(int);
};

class CtfTest : public testing::Test {
 protected:
  CtfTest() {
    std::string path = testing::TempDir() + "ctf_XXXXXX";
    folder_ = ::mkdtemp(path.data());
    fd_ = Fd(::open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    writer_.emplace(CtfWriter::Options{fd_.get(), false, std::nullopt});
  }
  ~CtfTest() override { std::filesystem::remove_all(folder_); }

  static EventType type(std::uint16_t id, const std::string& name) {
    EventType made;
    made.id = id;
    made.system = "user_events";
    made.name = name;
    made.declaration = *event::parse_declaration(name + " u32 number");
    return made;
  }
  [[nodiscard]] std::string file(const std::string& name) const { return read_file(folder_ + "/" + name).value_or(""); }

  std::string folder_;
  Fd fd_;
  std::optional<CtfWriter> writer_;
};

TEST_F(CtfTest, ADiskThatIsFullTearsNoDescription) {
  writer_->type(type(1, "first"));
  const std::string whole = file("metadata");
  ASSERT_THAT(whole, EndsWith("};\n"));
  const EventType second = type(2, "second");
  const std::byte payload[4]{};
  {
    const SizeLimit limit(whole.size() + 10);
    writer_->event({{.time_ns = 1, .cpu = 0, .tid = 1, .event_id = 2, .payload = payload}, second});
    writer_->type(type(3, "x"));
  }
  ASSERT_FALSE(writer_->result());
  EXPECT_EQ(writer_->result().error().code, EFBIG);
  EXPECT_EQ(file("metadata"), whole);
  // No event is in a stream whose type is not described.
  writer_->end();
  EXPECT_EQ(file("channel0_0"), "");
}

}  // namespace
}  // namespace landtrace::output
