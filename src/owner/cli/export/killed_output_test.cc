#include "cli/export/killed_output.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "cli/export/being_written.hpp"
#include "cli/export/output_file.hpp"
#include "cli/export/output_folder.hpp"
#include "output/ctf/stream.hpp"

namespace landtrace::cli {
namespace {

class KilledOutputTest : public testing::Test {
 protected:
  KilledOutputTest() {
    std::string folder = testing::TempDir() + "killed_output_XXXXXX";
    folder_ = ::mkdtemp(folder.data());
  }
  ~KilledOutputTest() override { std::filesystem::remove_all(folder_); }

  [[nodiscard]] std::string path() const { return folder_ + "/out"; }
  void left(const std::string& bytes) const { std::ofstream(path() + ".partial") << bytes; }
  // What becomes of it.
  [[nodiscard]] std::string completed(const std::string& bytes) const {
    left(bytes);
    const auto done = complete_killed(path());
    if (!done) return done.error().message;
    const std::string text = *read_file(path());
    EXPECT_EQ(path_of_killed(path()), "");
    std::filesystem::remove(path());
    return text;
  }

  std::string folder_;
};

TEST_F(KilledOutputTest, ItGoesByBothNames) {
  EXPECT_EQ(path_of_killed(path()), "");
  left("x");
  EXPECT_EQ(path_of_killed(path()), path());
  EXPECT_EQ(path_of_killed(path() + ".partial"), path());
  EXPECT_EQ(path_of_killed(path() + ".partial//"), path());
  std::ofstream(path()) << "a recording that is being written has both";
  EXPECT_EQ(path_of_killed(path()), "");
}

TEST_F(KilledOutputTest, LinesAreCutWhereTheLastWholeOneEnds) {
  EXPECT_EQ(completed("{\"time\":1,\"cpu\":0}\n{\"time\":2,\"cp"), "{\"time\":1,\"cpu\":0}\n");
  EXPECT_EQ(completed("{\"lost\":1}\n"), "{\"lost\":1}\n");
  EXPECT_EQ(completed("a;b c 12\na;b 1\na;b 1"), "a;b c 12\na;b 1\n");
}

TEST_F(KilledOutputTest, EventsOfChromeGetTheirEnd) {
  const std::string begin = "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n";
  const std::string first = R"({"ph":"i","ts":1.5,"args":{"a":"}"}})", second = R"({"ph":"i","ts":2.5,"args":{}})";
  const std::string end = "\n],\n\"stackFrames\":{}}\n";
  EXPECT_EQ(completed(begin + first + ",\n" + second), begin + first + ",\n" + second + end);
  EXPECT_EQ(completed(begin + first + ",\n" + second.substr(0, second.size() - 1)), begin + first + end);
  EXPECT_EQ(completed(begin + first + ",\n"), begin + first + end);
  EXPECT_EQ(completed(begin + first.substr(0, 20)), begin + end.substr(1));
  EXPECT_EQ(completed(begin), begin + end.substr(1));
  // What had no room for all of it the first time.
  for (std::size_t size = 1; size < end.size(); ++size) {
    EXPECT_EQ(completed(begin + first + end.substr(0, size)), begin + first + end) << size;
  }
}

TEST_F(KilledOutputTest, PacketsAreCutWhereTheLastWholeOneEnds) {
  const std::string packet("\x0a\x03\x40\x01\x50", 5);
  for (std::size_t size = 0; size < packet.size(); ++size) {
    EXPECT_EQ(completed(packet + packet + packet.substr(0, size)), packet + packet);
  }
}

TEST_F(KilledOutputTest, WhatIsBehindADamagedPlaceIsNotCutOff) {
  const std::string packet("\x0a\x03\x40\x01\x50", 5), damaged("\x12\x03\x40\x01\x50", 5);
  const std::string line = "{\"time\":1}\n", event = R"({"ph":"i","ts":1.5,"args":{}})";
  const std::string begin = "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n";
  const std::string zeros(2 << 20, '\0');
  for (const auto& [whole, rest] :
       {std::pair{packet + packet, damaged + packet}, std::pair{packet, zeros}, std::pair{line, zeros},
        std::pair{begin + event, ",\nzeros\n" + event.substr(1)}, std::pair{begin, "zeros\n" + event.substr(1)}}) {
    const std::string said = completed(whole + rest);
    EXPECT_NE(said.find("damaged at offset " + std::to_string(whole.size())), std::string::npos) << said.substr(0, 200);
    EXPECT_TRUE(*read_file(path() + ".partial") == whole + rest);
    EXPECT_FALSE(std::filesystem::exists(path()));
  }
}

class KilledFolderTest : public KilledOutputTest {
 protected:
  KilledFolderTest() {
    std::filesystem::create_directory(folder());
    put("metadata", "/* CTF 1.8 */\nenv {\n\ttracer_name = \"landtrace\";\n};\n");
    put("channel0_0", packets());
    put("channel0_1", packets());
    put("channel0_2", "");
  }
  [[nodiscard]] std::string folder() const { return path() + ".partial"; }
  void put(const std::string& name, const std::string& bytes) const { std::ofstream(folder() + "/" + name) << bytes; }
  [[nodiscard]] std::string packets() const {
    const std::string file = folder_ + "/stream";
    {
      Fd fd(::open(file.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
      output::ctf::Stream stream(std::move(fd), 0, {});
      for (std::uint64_t i = 0; i < 3; ++i) {
        stream.begin_event(1, i) += "twelve bytes";
        stream.flush();
      }
    }
    return *read_file(file);
  }
};

TEST_F(KilledFolderTest, ItsStreamsAreCutWhereTheLastWholePacketEnds) {
  const std::string whole = packets();
  for (const std::size_t torn : {1u, 3u, 4u, 30u, 68u, static_cast<unsigned>(whole.size()) / 3 - 1}) {
    put("channel0_1", whole + whole.substr(0, torn));
    put("notes.txt", "somebody's");
    ASSERT_TRUE(complete_killed(path()));
    EXPECT_EQ(*read_file(path() + "/channel0_0"), whole);
    EXPECT_EQ(*read_file(path() + "/channel0_1"), whole) << torn;
    EXPECT_EQ(*read_file(path() + "/notes.txt"), "somebody's");
    std::filesystem::rename(path(), folder());
  }
}

TEST_F(KilledFolderTest, WhatIsBehindADamagedPacketIsNotCutOff) {
  const std::string whole = packets();
  put("channel0_1", whole + whole.substr(0, 30));
  for (const std::string stream : {"channel0_0", "channel0_2"}) {
    std::string damaged = whole;
    damaged[whole.size() / 3] ^= 1;
    put(stream, damaged);
    const auto done = complete_killed(path());
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code, EBADMSG);
    EXPECT_NE(done.error().message.find(stream + " is damaged at offset " + std::to_string(whole.size() / 3)),
              std::string::npos)
        << done.error().message;
    EXPECT_EQ(*read_file(folder() + "/" + stream), damaged);
    EXPECT_EQ(*read_file(folder() + "/channel0_1"), whole + whole.substr(0, 30));
    put(stream, whole);
  }
}

TEST_F(KilledFolderTest, ItIsNobodyElsesUntilItHasItsName) {
  auto killed = KilledOutput::open(path());
  ASSERT_TRUE(killed);
  ASSERT_TRUE(killed->complete());
  const auto any = [](const std::string&) { return true; };
  EXPECT_EQ(OutputFolder::create_lasting(path(), any).error().code, EBUSY);
  ASSERT_TRUE(killed->give_name());
  EXPECT_TRUE(std::filesystem::exists(path() + "/channel0_0"));
}

TEST_F(KilledFolderTest, AFolderOfOthersIsLeftAlone) {
  put("metadata", "/* CTF 1.8 */\nenv {\n\ttracer_name = \"lttng-ust\";\n};\n");
  put("channel0_0", "others'");
  EXPECT_EQ(complete_killed(path()).error().code, EINVAL);
  EXPECT_EQ(*read_file(folder() + "/channel0_0"), "others'");
}

TEST_F(KilledOutputTest, WhatCannotBeCompletedIsLeftAlone) {
  EXPECT_EQ(completed(""), path() + ".partial: nothing of it had been written");
  for (const std::string bytes : {"PERFILE2", "{\"$schema\":1", "text", "\n", " 12"}) {
    EXPECT_EQ(completed(bytes), path() + ".partial is of no format that can be read without its end");
    EXPECT_EQ(*read_file(path() + ".partial"), bytes);
  }
}

TEST_F(KilledOutputTest, WhatIsBeingCompletedIsNobodyElsesUntilItHasItsName) {
  left("{\"time\":1}\n");
  {
    auto killed = KilledOutput::open(path());
    ASSERT_TRUE(killed);
    ASSERT_TRUE(killed->complete());
    EXPECT_EQ(OutputFile::create_lasting(path(), false).error().code, EBUSY);
    EXPECT_EQ(complete_killed(path()).error().code, EBUSY);
    ASSERT_TRUE(killed->give_name());
  }
  EXPECT_EQ(*read_file(path()), "{\"time\":1}\n");
  EXPECT_TRUE(OutputFile::create_lasting(path(), false));
}

TEST_F(KilledOutputTest, WhatHasItsNameMeanwhileStays) {
  left("{\"time\":1}\n");
  auto killed = KilledOutput::open(path());
  ASSERT_TRUE(killed);
  ASSERT_TRUE(killed->complete());
  std::ofstream(path()) << "exported";
  const auto named = killed->give_name();
  ASSERT_FALSE(named);
  EXPECT_EQ(named.error().code, EEXIST);
  EXPECT_EQ(*read_file(path()), "exported");
  EXPECT_EQ(*read_file(path() + ".partial"), "{\"time\":1}\n");
}

TEST_F(KilledOutputTest, WhatIsBeingRecordedIsNobodyElses) {
  auto file = OutputFile::create_lasting(path(), false);
  ASSERT_TRUE(file);
  ASSERT_TRUE(write_all(file->fd(), "{\"time\":1}\n", 11));
  EXPECT_EQ(complete_killed(path()).error().code, EBUSY);
  EXPECT_EQ(OutputFile::create_lasting(path(), false).error().code, EBUSY);
  EXPECT_TRUE(file->leave());
  { const OutputFile ended = *std::move(file); }
  EXPECT_TRUE(complete_killed(path()));
  EXPECT_EQ(*read_file(path()), "{\"time\":1}\n");
}

}  // namespace
}  // namespace landtrace::cli
