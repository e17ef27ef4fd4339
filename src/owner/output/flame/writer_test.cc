#include "output/flame/writer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "base/fd.hpp"
#include "output/text/own_events.hpp"

namespace landtrace::output {
namespace {

using ::testing::HasSubstr;

class FlameTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string path = testing::TempDir() + "flame_XXXXXX";
    file_ = Fd(::mkstemp(path.data()));
    ASSERT_TRUE(file_);
    ::unlink(path.c_str());
    target_.emplace(file_.get());
    writer_.emplace(*target_, "a title");
  }
  void emit(const UserStack& stack) {
    const Task task{"app", 10};
    writer_->event({{.time_ns = 1000, .cpu = 0, .tid = 10, .event_id = type_.id, .payload = {}}, type_, &task, &stack});
  }
  std::string finish() {
    writer_->end();
    target_->flush();
    std::string bytes(static_cast<std::size_t>(::lseek(file_.get(), 0, SEEK_END)), '\0');
    EXPECT_EQ(::pread(file_.get(), bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
    return bytes;
  }

  EventType type_ = user_stack_type();
  Fd file_;
  std::optional<Target> target_;
  std::optional<FlameWriter> writer_;
};

TEST_F(FlameTest, EachFrameStandsOnItsCaller) {
  emit({10, {0x12, 0x34}, 1000});
  emit({10, {0x56, 0x34}, 1000});
  const std::string svg = finish();
  EXPECT_THAT(svg, HasSubstr("<title>0x34 (2 events, 100.00 %)</title>"));
  EXPECT_THAT(svg, HasSubstr("<title>0x12 (1 event, 50.00 %)</title>"));
  EXPECT_EQ(writer_->complaint(), "");
}

// As many frames as a page of a file has room for.
TEST_F(FlameTest, AStackThatIsTooDeepIsCutAndCounted) {
  std::vector<std::uint64_t> caller(131'070);
  for (std::size_t i = 0; i < caller.size(); ++i) caller[i] = caller.size() - i;
  emit({10, caller, 1000});
  const std::string svg = finish();
  EXPECT_THAT(svg, HasSubstr("<title>0x3ff (1 event, 100.00 %)</title>"));
  EXPECT_EQ(svg.find("<title>0x400 ("), std::string::npos);
  EXPECT_EQ(writer_->complaint(), "stacks of more than 1023 frames, of which the nearest are not drawn: 1");
}

}  // namespace
}  // namespace landtrace::output
