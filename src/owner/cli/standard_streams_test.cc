#include "cli/standard_streams.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>

#include "cli/recording_file.hpp"
#include "cli/test_environment.hpp"
#include "output/trace_dat/test_support.hpp"

namespace landtrace::cli {
namespace {

namespace fs = std::filesystem;

class StandardStreamsTest : public testing::Test {
 protected:
  // Runs `work` in a process of its own, whose standard streams are these. Its exit status.
  template <typename Work>
  static int with_streams(int in, int out, const Work& work) {
    const pid_t child = ::fork();
    if (child == 0) {
      ::signal(SIGPIPE, SIG_IGN);
      if (in >= 0) ::dup2(in, STDIN_FILENO);
      if (out >= 0) ::dup2(out, STDOUT_FILENO);
      ::_exit(work());
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
  }
  struct Pipe {
    Fd reader, writer;
  };
  static Pipe make_pipe() {
    int ends[2];
    EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    return {Fd(ends[0]), Fd(ends[1])};
  }
  std::string recording() {
    const std::string path = dir_.file("t.dat");
    output::TraceDatWriter writer = output::create_writer(path, 1);
    writer.add_event(output::number_type());
    EXPECT_TRUE(writer.append(output::number_record(1, 0, 7)));
    EXPECT_TRUE(writer.finish());
    return path;
  }
  std::vector<std::string> names_in_scratch() {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(scratch_)) names.push_back(entry.path().string());
    return names;
  }

  output::TempDir dir_;
  std::string scratch_ = [this] {
    fs::create_directory(dir_.file("scratch"));
    return dir_.file("scratch");
  }();
  Variable temporary_{"TMPDIR", scratch_.c_str()};
};

TEST_F(StandardStreamsTest, LargeFilesGoToTheNamedFolderElseNotToMemory) {
  EXPECT_EQ(temporary_folder(), scratch_);
  temporary_.set("");
  EXPECT_EQ(temporary_folder(), "/var/tmp");
  temporary_.set(nullptr);
  EXPECT_EQ(temporary_folder(), "/var/tmp");
}

TEST_F(StandardStreamsTest, AFileIsMadeAsideAndCopiedToStandardOutput) {
  const std::string target = dir_.file("target");
  const Fd out(::open(target.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
  EXPECT_EQ(with_streams(-1, out.get(),
                         [] {
                           auto taken = StandardOutput::take();
                           if (!taken) return 1;
                           output::write_text(taken->file(), "a recording");
                           return taken->copy() ? 0 : 2;
                         }),
            0);
  EXPECT_EQ(output::read_text(target), "a recording");
  EXPECT_TRUE(names_in_scratch().empty()) << "nothing stays";
}

TEST_F(StandardStreamsTest, WhatIsPrintedMeanwhileDoesNotGoIntoTheRecording) {
  const std::string target = dir_.file("target");
  const Fd out(::open(target.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
  const Pipe said = make_pipe();
  EXPECT_EQ(with_streams(-1, out.get(),
                         [&] {
                           ::dup2(said.writer.get(), STDERR_FILENO);
                           auto taken = StandardOutput::take();
                           if (!taken || ::write(STDOUT_FILENO, "words", 5) != 5) return 1;
                           output::write_text(taken->file(), "x");
                           return taken->copy() ? 0 : 2;
                         }),
            0);
  EXPECT_EQ(output::read_text(target), "x");
  char words[16];
  EXPECT_EQ(std::string(words, static_cast<std::size_t>(::read(said.reader.get(), words, sizeof words))), "words");
}

TEST_F(StandardStreamsTest, AReaderThatHasGoneIsTold) {
  Pipe pipe = make_pipe();
  pipe.reader.reset();
  EXPECT_EQ(with_streams(-1, pipe.writer.get(),
                         [] {
                           auto taken = StandardOutput::take();
                           if (!taken) return 1;
                           output::write_text(taken->file(), "x");
                           return taken->copy().error().code == EPIPE ? 0 : 2;
                         }),
            0);
}

TEST_F(StandardStreamsTest, ARecordingIsReadFromAPipeOrAFile) {
  const std::string path = recording();
  const auto events = [] {
    const auto reader = open_recording("-");
    return reader ? static_cast<int>(reader->events().count(output::kNumberId)) + 10 : 1;
  };
  const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  EXPECT_EQ(with_streams(file.get(), -1, events), 11);
  Pipe pipe = make_pipe();
  const std::string bytes = output::read_text(path);
  ASSERT_GE(::fcntl(pipe.writer.get(), F_SETPIPE_SZ, bytes.size()), 0) << "all of it must fit the pipe";
  ASSERT_TRUE(write_all(pipe.writer.get(), bytes.data(), bytes.size()));
  pipe.writer.reset();
  EXPECT_EQ(with_streams(pipe.reader.get(), -1, events), 11);
  EXPECT_TRUE(names_in_scratch().empty());
}

TEST_F(StandardStreamsTest, OneThatWasLeftIsReadWithWhatIsBesideIt) {
  const std::string path = dir_.file("t.dat");
  {
    output::TraceDatWriter writer = output::create_writer(path, 1);
    EXPECT_TRUE(writer.append(output::number_record(1, 0, 7)));
  }
  const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  EXPECT_EQ(with_streams(file.get(), -1,
                         [] {
                           auto reader = open_recording("-");
                           if (!reader || !reader->was_left()) return 1;
                           const bool says_it = unfinished_text(*reader, "-").starts_with("standard input was not");
                           return says_it ? static_cast<int>(output::read_all(*reader).records.size()) + 10 : 2;
                         }),
            11);
}

TEST_F(StandardStreamsTest, AnyOtherNameIsAFiles) {
  EXPECT_TRUE(open_recording(recording()));
  EXPECT_EQ(open_recording(dir_.file("nosuch")).error().code, ENOENT);
}

TEST_F(StandardStreamsTest, ATerminalIsNoPlaceForARecording) {
  const Fd master(::posix_openpt(O_RDWR | O_NOCTTY));
  if (!master || ::grantpt(master.get()) != 0 || ::unlockpt(master.get()) != 0) GTEST_SKIP() << "no terminal to be had";
  const Fd terminal(::open(::ptsname(master.get()), O_RDWR | O_NOCTTY));
  EXPECT_EQ(with_streams(terminal.get(), terminal.get(),
                         [] {
                           const bool refused = StandardOutput::take().error().code == EINVAL &&
                                                StandardInput::read().error().code == EINVAL;
                           return refused ? 0 : 1;
                         }),
            0);
}

}  // namespace
}  // namespace landtrace::cli
