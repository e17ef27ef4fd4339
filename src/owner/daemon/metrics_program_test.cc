#include "daemon/metrics_program.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

namespace landtrace::daemon {
namespace {

using testing::HasSubstr;
using testing::StartsWith;
using Options = MetricsProgram::Options;

class MetricsProgramTest : public testing::Test {
 protected:
  MetricsProgramTest() {
    std::string pattern = std::filesystem::temp_directory_path() / "landtrace-metrics-XXXXXX";
    folder_ = ::mkdtemp(pattern.data());
    program_ = folder_ + "/program";
    // Writes its words, and waits for its end. It starts nothing: that would have its sockets, too.
    std::ofstream(program_) << "#!/bin/sh\nprintf '%s\\n' \"$@\" . >" << folder_ << "/words\nexec sleep 1000\n";
    ::chmod(program_.c_str(), 0700);
  }
  ~MetricsProgramTest() override { std::filesystem::remove_all(folder_); }

  std::string words() {
    std::string text;
    while (!text.ends_with("\n.\n")) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      std::ifstream file(folder_ + "/words");
      text.assign(std::istreambuf_iterator<char>(file), {});
    }
    return text;
  }

  std::string folder_;
  std::string program_;
};

TEST_F(MetricsProgramTest, AddressesThatAreNoneAreRefused) {
  for (const char* const wrong : {"", "9464", ":9464", "localhost:", "localhost:http", "localhost:65536", "::1:80",
                                  "[]:1", "localhost:123456", "relative/path"}) {
    const auto checked = MetricsProgram::check({{wrong}, "", 10});
    ASSERT_FALSE(checked) << wrong;
    EXPECT_EQ(checked.error().code, EINVAL);
    EXPECT_THAT(checked.error().message, HasSubstr(std::string("'") + wrong + "'"));
  }
  EXPECT_TRUE(MetricsProgram::check({{"localhost:0", "[::1]:65535", "/run/x"}, "", 10}));
}

TEST_F(MetricsProgramTest, WhereToPushIsAUrlAndNotTooOften) {
  EXPECT_TRUE(MetricsProgram::check({{}, "https://x:4318/v1/metrics", 1}));
  EXPECT_TRUE(MetricsProgram::check({{}, "http://x:4318/v1/metrics", 86400}));
  EXPECT_FALSE(MetricsProgram::check({{}, "file:///etc/passwd", 10}));
  EXPECT_FALSE(MetricsProgram::check({{}, "http://x", 0}));
  EXPECT_FALSE(MetricsProgram::check({{}, "http://x", 86401}));
}

TEST_F(MetricsProgramTest, EventsAreCountedForSomebody) {
  EXPECT_FALSE(MetricsProgram::check({{}, "", 10, {"job"}}));
  EXPECT_TRUE(MetricsProgram::check({{"localhost:0"}, "", 10, {"job"}}));
  EXPECT_TRUE(MetricsProgram::check({{}, "http://x", 10, {"job"}}));
}

TEST_F(MetricsProgramTest, ItIsStartedWithWhatItNeeds) {
  const std::string path = folder_ + "/http";
  auto started = MetricsProgram::start(program_, "/the/socket", {{"127.0.0.1:0", path}, "http://c", 20, {"a,b", "c"}});
  ASSERT_TRUE(started);
  EXPECT_THAT(words(), StartsWith("/the/socket\nhttp://c\n20\na,b,c\n"));
  ASSERT_EQ(started->places().size(), 2u);
  EXPECT_THAT(started->places()[0], testing::MatchesRegex("http://127\\.0\\.0\\.1:[1-9][0-9]*/metrics"));
  struct stat socket {};
  ASSERT_EQ(::stat(path.c_str(), &socket), 0);
  EXPECT_EQ(socket.st_mode, static_cast<mode_t>(S_IFSOCK | 0660));
  EXPECT_FALSE(started->has_ended());
}

TEST_F(MetricsProgramTest, ItsOutputHangsUpWhenItServes) {
  std::ofstream(program_) << "#!/bin/sh\nsleep 0.1\ntouch " << folder_
                          << "/serves\necho serves\nexec sleep 1000 >/dev/null\n";
  auto started = MetricsProgram::start(program_, "s", {{"127.0.0.1:0"}, "", 10});
  ASSERT_TRUE(started);
  pollfd output{started->output().get(), 0, 0};
  EXPECT_EQ(::poll(&output, 1, -1), 1);
  EXPECT_EQ(output.revents, POLLHUP);
  EXPECT_TRUE(started->serves());
  EXPECT_TRUE(std::filesystem::exists(folder_ + "/serves"));
  EXPECT_FALSE(started->has_ended());
}

TEST_F(MetricsProgramTest, OneThatEndsHasNotServed) {
  std::ofstream(program_) << "#!/bin/sh\nexit 0\n";
  const auto started = MetricsProgram::start(program_, "s", {{"127.0.0.1:0"}, "", 10});
  ASSERT_TRUE(started);
  pollfd output{started->output().get(), 0, 0};
  EXPECT_EQ(::poll(&output, 1, -1), 1);
  EXPECT_FALSE(started->serves());
}

TEST_F(MetricsProgramTest, ItIsToldWhoHasStartedIt) {
  std::ofstream(program_) << "#!/bin/sh\nprintf '%s\\n' $LANDTRACE_PARENT . >" << folder_
                          << "/words\nexec sleep 1000\n";
  const auto started = MetricsProgram::start(program_, "s", {{"127.0.0.1:0"}, "", 10});
  ASSERT_TRUE(started);
  EXPECT_EQ(words(), std::to_string(::getpid()) + "\n.\n");
}

TEST_F(MetricsProgramTest, ItsSocketsGoWithIt) {
  const std::string path = folder_ + "/http";
  { ASSERT_TRUE(MetricsProgram::start(program_, "s", {{path}, "", 10})); }
  EXPECT_FALSE(std::filesystem::exists(path));
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1) << "it was waited for";
}

TEST_F(MetricsProgramTest, ASocketThatIsLeftOverIsReplacedAndALiveOneIsNot) {
  const std::string path = folder_ + "/http";
  auto first = MetricsProgram::start(program_, "s", {{path}, "", 10});
  ASSERT_TRUE(first);
  EXPECT_EQ(MetricsProgram::start(program_, "s", {{path}, "", 10}).error().code, EADDRINUSE);
  const std::string kept = folder_ + "/kept";
  std::filesystem::create_hard_link(path, kept);
  { const auto ended = *std::move(first); }
  std::filesystem::rename(kept, path);
  EXPECT_TRUE(MetricsProgram::start(program_, "s", {{path}, "", 10})) << "nobody listens there";
  std::ofstream(folder_ + "/file") << "mine";
  EXPECT_FALSE(MetricsProgram::start(program_, "s", {{folder_ + "/file"}, "", 10}));
  EXPECT_TRUE(std::filesystem::is_regular_file(folder_ + "/file"));
}

TEST_F(MetricsProgramTest, ATakenPortIsNamed) {
  auto first = MetricsProgram::start(program_, "s", {{"127.0.0.1:0"}, "", 10});
  ASSERT_TRUE(first);
  std::string taken = first->places()[0].substr(std::string("http://").size());
  taken.resize(taken.find('/'));
  const auto second = MetricsProgram::start(program_, "s", {{taken}, "", 10});
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, EADDRINUSE);
  EXPECT_THAT(second.error().message, HasSubstr("--metrics " + taken));
}

TEST_F(MetricsProgramTest, AProgramThatIsNotThere) {
  const auto started = MetricsProgram::start(folder_ + "/none", "s", {{"127.0.0.1:0"}, "", 10});
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error().code, ENOENT);
  EXPECT_THAT(started.error().message, HasSubstr("libmicrohttpd"));
}

TEST_F(MetricsProgramTest, ItsEndIsToldOnce) {
  std::ofstream(program_) << "#!/bin/sh\nexit 1\n";
  auto started = MetricsProgram::start(program_, "s", {{"127.0.0.1:0"}, "", 10});
  ASSERT_TRUE(started);
  while (!started->has_ended()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_FALSE(started->has_ended());
}

}  // namespace
}  // namespace landtrace::daemon
