#include "cli/recording.hpp"

#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <optional>

#include "cli/test_domain.hpp"
#include "cli/trace_file_sink.hpp"
#include "consumer/session.hpp"

namespace landtrace::cli {
namespace {

using testing::HasSubstr;

// What a recording is made of, in a process of its own, since the signals are the process's.
class Recorder {
 public:
  Recorder(const std::string& socket, const std::string& file, bool overwrite)
      : signals_(*Signals::take()),
        view_(*consumer::DomainView::connect(socket)),
        session_(*consumer::Session::open(view_, {64 * 1024, overwrite})),
        sink_(output::TraceDatWriter(*output::TraceDatWriter::create(file, {.cpus = view_.cpus()})), {}),
        collector_(view_, session_, sink_),
        overwrite_(overwrite) {
    std::ignore = session_.listen("user_events:*");
  }

  Child start(const std::string& script) {
    return *Child::start({"/bin/sh", "-c", script}, {}, signals_.mask_before());
  }
  bool run(Child* child, std::uint64_t duration_ns) {
    recording_.emplace(collector_, sink_, signals_, child, duration_ns, overwrite_);
    return recording_->run();
  }
  Recording& recording() { return *recording_; }

 private:
  Signals signals_;
  consumer::DomainView view_;
  consumer::Session session_;
  TraceFileSink sink_;
  consumer::Collector collector_;
  bool overwrite_;
  std::optional<Recording> recording_;
};

class RecordingTest : public DomainTest {
 protected:
  // What `work(recorder)` returns as its exit status; what it complains about is in complaints_.
  template <typename Work>
  int in_child(const Work& work, bool overwrite = false) {
    testing::internal::CaptureStderr();
    const pid_t child = ::fork();
    if (child == 0) {
      Recorder recorder(socket_, file_, overwrite);
      const int status = work(recorder);
      std::fflush(stderr);
      ::_exit(status);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    complaints_ = testing::internal::GetCapturedStderr();
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
  }
  std::string file_ = dir_.file("t.dat");
  std::string complaints_;
};

constexpr std::uint64_t kMillisecond_ns = 1'000'000;

TEST_F(RecordingTest, ItsTimeEndsIt) {
  for (const bool overwrite : {false, true}) {
    EXPECT_EQ(
        in_child([](Recorder& recorder) { return recorder.run(nullptr, 20 * kMillisecond_ns) ? 0 : 1; }, overwrite), 0)
        << complaints_;
    EXPECT_TRUE(output::TraceDatReader::open(file_)) << "the file is complete";
  }
}

TEST_F(RecordingTest, ASignalEndsItWhereThereIsNoCommand) {
  EXPECT_EQ(in_child([](Recorder& recorder) {
              ::kill(::getpid(), SIGINT);
              return recorder.run(nullptr, 0) ? 0 : 1;
            }),
            0);
}

TEST_F(RecordingTest, TheEndOfTheCommandEndsIt) {
  EXPECT_EQ(in_child([](Recorder& recorder) {
              Child child = recorder.start("exit 7");
              if (!recorder.run(&child, 0)) return 1;
              return child.has_ended() ? child.exit_status() : 2;
            }),
            7);
}

// SIGTERM is passed on, since a shell cannot trap SIGINT where whoever started the test ignores that.
TEST_F(RecordingTest, TheFirstInterruptIsForTheCommand) {
  const std::string ready = dir_.file("ready");
  EXPECT_EQ(in_child([&](Recorder& recorder) {
              Child child = recorder.start("trap 'exit 9' TERM; : > " + ready + "; while :; do sleep 0.01; done");
              while (::access(ready.c_str(), F_OK) != 0) ::usleep(1000);
              ::kill(::getpid(), SIGTERM);
              if (!recorder.run(&child, 0)) return 1;
              return child.exit_status();
            }),
            9);
}

TEST_F(RecordingTest, TheSecondInterruptEndsItUnderTheCommand) {
  const std::string ready = dir_.file("ready");
  EXPECT_EQ(in_child([&](Recorder& recorder) {
              Child child = recorder.start("trap '' INT TERM; : > " + ready + "; while :; do sleep 0.01; done");
              while (::access(ready.c_str(), F_OK) != 0) ::usleep(1000);
              ::kill(::getpid(), SIGTERM);
              ::kill(::getpid(), SIGINT);
              const bool recorded = recorder.run(&child, 0);
              const bool went_on = !child.has_ended();
              child.send(SIGKILL);
              return recorded && went_on ? 0 : 1;
            }),
            0);
}

TEST_F(RecordingTest, ACommandThatOutlivesTheRecordingIsWaitedFor) {
  const std::string over = dir_.file("over");
  EXPECT_EQ(in_child([&](Recorder& recorder) {
              Child child = recorder.start("while ! test -e " + over + "; do sleep 0.01; done; exit 5");
              if (!recorder.run(&child, kMillisecond_ns)) return 1;
              if (child.has_ended()) return 2;
              output::write_text(over, "");
              recorder.recording().wait_for_child();
              return child.exit_status();
            }),
            5);
}

// The owner is a child of the test, which is killed under the recording.
TEST_F(RecordingTest, TheEndOfTheDomainIsSaidAndIsNoFailure) {
  const std::string socket = dir_.file("other.sock");
  const pid_t owner = ::fork();
  if (owner == 0) {
    const auto domain = domain::Domain::create({.ring_bytes = 1 << 18});
    rules::Rules rules(**domain);
    (*host::Server::create(**domain, rules, socket))->run();
    ::_exit(0);
  }
  while (!ipc::connect_to(socket)) ::usleep(1000);
  socket_ = socket;
  EXPECT_EQ(in_child([&](Recorder& recorder) {
              ::kill(owner, SIGKILL);
              return recorder.run(nullptr, 0) ? 0 : 1;
            }),
            0);
  EXPECT_THAT(complaints_, HasSubstr("landtrace: the domain has ended\n"));
  ::waitpid(owner, nullptr, 0);
}

}  // namespace
}  // namespace landtrace::cli
