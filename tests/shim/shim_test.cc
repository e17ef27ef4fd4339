// Unmodified programs under the shim: descriptors, processes, threads, signals, faults. The programs are abi_client.c.
#include <fcntl.h>
#include <sched.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <map>
#include <thread>

#include "base/test_wait.hpp"
#include "domain/status.hpp"
#include "event/print.hpp"
#include "host/server.hpp"
#include "host/test_serving.hpp"
#include "ring/reader.hpp"
#include "rules/selection.hpp"

namespace landtrace {
namespace {

constexpr const char* kDataFile = "/nonexistent/tracefs/user_events_data";

// The programs; a test that becomes another user, who may not look into this build, uses copies.
std::string shim_path = LANDTRACE_SHIM;
std::string client_path = LANDTRACE_ABI_CLIENT;

void copy_programs_to(const std::filesystem::path& folder) {
  std::filesystem::permissions(folder, std::filesystem::perms(0755));
  for (std::string* const program : {&shim_path, &client_path}) {
    const auto copy = folder / std::filesystem::path(*program).filename();
    std::filesystem::copy_file(*program, copy);
    *program = copy;
  }
}

// A child under the shim, with its standard input and output in pipes.
class Client {
 public:
  Client(const std::string& socket, std::vector<std::string> arguments, const char* writer = "") {
    int in[2];
    int out[2];
    if (::pipe2(in, O_CLOEXEC) != 0 || ::pipe2(out, O_CLOEXEC) != 0) return;
    pid_ = ::fork();
    if (pid_ == 0) {
      ::dup2(in[0], 0);
      ::dup2(out[1], 1);
      ::setenv("LANDTRACE_SOCKET", socket.c_str(), 1);
      ::setenv("LANDTRACE_WRITER", writer, 1);
      ::setenv("LD_PRELOAD", shim_path.c_str(), 1);
      std::vector<char*> argv{client_path.data(), arguments[0].data(), const_cast<char*>(kDataFile)};
      for (std::size_t i = 1; i < arguments.size(); ++i) argv.push_back(arguments[i].data());
      argv.push_back(nullptr);
      ::execv(argv[0], argv.data());
      ::_exit(98);
    }
    ::close(in[0]);
    ::close(out[1]);
    in_ = Fd(in[1]);
    out_ = Fd(out[0]);
  }
  ~Client() {
    if (pid_ > 0) ::kill(pid_, SIGKILL), ::waitpid(pid_, nullptr, 0);
  }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  void say(const std::string& text) { std::ignore = write_all(in_.get(), (text + "\n").data(), text.size() + 1); }
  std::string line() {
    std::string text;
    char byte;
    while (::read(out_.get(), &byte, 1) == 1 && byte != '\n') text += byte;
    return text;
  }
  int wait() {
    int status = -1;
    ::waitpid(std::exchange(pid_, -1), &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  [[nodiscard]] pid_t pid() const { return pid_; }

 private:
  pid_t pid_ = -1;
  Fd in_;
  Fd out_;
};

class ShimTest : public testing::Test {
 protected:
  void SetUp() override {
    socket_ = testing::TempDir() + "shim_test-" + std::to_string(::getpid()) + ".sock";
    domain_ = *domain::Domain::create({.ring_bytes = 16u << 20});
    rules_ = std::make_unique<rules::Rules>(*domain_);
    auto server = host::Server::create(*domain_, *rules_, socket_);
    ASSERT_TRUE(server) << server.error().message;
    server_ = std::move(*server);
    thread_ = std::thread([this] { server_->run(); });
  }
  void TearDown() override {
    server_->stop();
    thread_.join();
  }

  void listen(const char* pattern, bool on = true) {
    ASSERT_TRUE(host::wait_for_server(socket_));
    const auto access = domain_->enter();
    ASSERT_TRUE(rules_->selections().listen(domain_->top(), *event::Pattern::parse(pattern), on));
  }

  // How often each line was recorded; "EVENT: fields".
  std::map<std::string, int> recorded() {
    std::map<std::string, int> lines;
    EXPECT_TRUE(host::wait_for_server(socket_));
    {
      const auto access = domain_->enter();
      const domain::Instance& top = domain_->top();
      for (const domain::User& user : domain_->users().all()) {
        for (std::uint32_t i = 0; i < domain_->instances().rings_per_set(); ++i) {
          ring::Reader reader(user.mapping.data() + top.place.rings + i * top.place.geometry.stride(),
                              top.place.geometry);
          if (reader.written() != 0) count(reader, lines);
        }
      }
    }
    return lines;
  }

  void count(ring::Reader& reader, std::map<std::string, int>& lines) {
    for (const auto* batch = &reader.read(); !batch->records.empty(); batch = &reader.read()) {
      for (const ring::RecordView& record : batch->records) {
        const domain::Event* const event = domain_->events().at(record.header.event);
        ASSERT_NE(event, nullptr);
        std::string line = event->name + ":";
        event::print_fields(line, *event->declaration(), record.payload);
        ++lines[line];
      }
    }
    EXPECT_EQ(reader.corrupt(), 0u);
  }

  int total() {
    int sum = 0;
    for (const auto& [line, n] : recorded()) sum += n;
    return sum;
  }

  std::string status() {
    EXPECT_TRUE(host::wait_for_server(socket_));
    const auto access = domain_->enter();
    domain_->maintain();
    return domain::status_text(domain_->events());
  }

  std::string socket_;
  std::unique_ptr<domain::Domain> domain_;
  std::unique_ptr<rules::Rules> rules_;
  std::unique_ptr<host::Server> server_;
  std::thread thread_;
};

using testing::Pair;
using testing::UnorderedElementsAre;

TEST_F(ShimTest, DuplicatedDescriptorsAreTheSameFile) {
  listen("user_events:*");
  EXPECT_EQ(Client(socket_, {"duplicates"}).wait(), 0);
  EXPECT_THAT(recorded(), UnorderedElementsAre(Pair("dup_event: n=0x0 (0)", 1), Pair("dup_event: n=0x1 (1)", 1),
                                               Pair("dup_event: n=0x2 (2)", 1), Pair("dup_event: n=0x3 (3)", 1),
                                               Pair("dup_event: n=0x4 (4)", 2)));
}

TEST_F(ShimTest, ForkedChildrenShareTheFileAndHaveCopiesOfTheWords) {
  listen("user_events:*");
  EXPECT_EQ(Client(socket_, {"forks"}).wait(), 0);
  EXPECT_THAT(recorded(), UnorderedElementsAre(Pair("fork_event: n=0x1 (1)", 1), Pair("fork_child: n=0x2 (2)", 1),
                                               Pair("fork_child: n=0x3 (3)", 1), Pair("fork_event: n=0x4 (4)", 1)));
}

TEST_F(ShimTest, WordsOfParentAndChildFollowTheEvent) {
  Client client(socket_, {"fork-follows"});
  ASSERT_EQ(client.line(), "ready");
  listen("follow_event");
  ASSERT_EQ(client.line(), "seen by the child");
  ASSERT_EQ(client.line(), "seen by both");
  listen("follow_event", false);
  EXPECT_EQ(client.wait(), 0);
}

TEST_F(ShimTest, ExecKeepsFilesWithoutCloseOnExecAndDropsWords) {
  listen("user_events:*");
  EXPECT_EQ(Client(socket_, {"execs"}).wait(), 0);
  EXPECT_THAT(recorded(), UnorderedElementsAre(Pair("exec_event: n=0x4d (77)", 1), Pair("exec_child: n=0x4e (78)", 1),
                                               Pair("exec_event: n=0x5 (5)", 1)));
}

TEST_F(ShimTest, VforkAndExecLeaveTheParentAlone) {
  listen("user_events:*");
  EXPECT_EQ(Client(socket_, {"vforks"}).wait(), 0);
  EXPECT_THAT(recorded(), UnorderedElementsAre(Pair("exec_event: n=0x4d (77)", 1), Pair("exec_child: n=0x4e (78)", 1),
                                               Pair("exec_event: n=0x5 (5)", 1)));
}

TEST_F(ShimTest, DescriptorsReceivedOverASocketWork) {
  listen("user_events:*");
  EXPECT_EQ(Client(socket_, {"passes"}).wait(), 0);
  EXPECT_THAT(recorded(), UnorderedElementsAre(Pair("sender_event: n=0xa (10)", 1), Pair("sender_event: n=0xb (11)", 1),
                                               Pair("passed_event: n=0xc (12)", 1)));
}

TEST_F(ShimTest, ThreadsRegisterWriteAndCloseAtOnce) {
  listen("user_events:*");
  EXPECT_EQ(Client(socket_, {"threads"}).wait(), 0);
  EXPECT_EQ(total(), 8 * 50 * 20);
}

TEST_F(ShimTest, ThreadsWithoutRestartableSequencesLoseNothingUncounted) {
  listen("user_events:*");
  EXPECT_EQ(Client(socket_, {"threads"}, "portable").wait(), 0);
  std::uint64_t discarded = 0;
  {
    const auto access = domain_->enter();
    const domain::Instance& top = domain_->top();
    for (std::uint32_t i = 0; i < domain_->instances().rings_per_set(); ++i) {
      ring::Reader reader(domain_->users().all()[0].mapping.data() + top.place.rings + i * top.place.geometry.stride(),
                          top.place.geometry);
      discarded += reader.discarded().all();
    }
  }
  EXPECT_EQ(static_cast<std::uint64_t>(total()) + discarded, 8u * 50 * 20);
}

TEST_F(ShimTest, BadPointersAreErrorsAndSuccessKeepsErrno) {
  listen("user_events:*");
  EXPECT_EQ(Client(socket_, {"bad-pointers"}).wait(), 0);
}

TEST_F(ShimTest, HandlersEmitInsideEmits) {
  listen("user_events:*");
  Client client(socket_, {"signals"});
  const std::string emitted = client.line();
  EXPECT_EQ(client.wait(), 0);
  std::uint64_t written = 0;
  {
    const auto access = domain_->enter();
    const domain::Instance& top = domain_->top();
    for (std::uint32_t i = 0; i < domain_->instances().rings_per_set(); ++i) {
      ring::Reader reader(domain_->users().all()[0].mapping.data() + top.place.rings + i * top.place.geometry.stride(),
                          top.place.geometry);
      written += reader.written();
    }
  }
  EXPECT_EQ(std::to_string(written), emitted);
}

TEST_F(ShimTest, ProgramsThatCloseEverythingGoOn) {
  listen("user_events:*");
  EXPECT_EQ(Client(socket_, {"closes-all"}).wait(), 0);
  EXPECT_EQ(total(), 2);
}

TEST_F(ShimTest, EventsGoWithTheLastProcessThatHeldThem) {
  {
    Client client(socket_, {"fork-follows"});
    ASSERT_EQ(client.line(), "ready");
    EXPECT_THAT(status(), testing::HasSubstr("follow_event"));
    ::kill(client.pid(), SIGKILL);  // its child lives on, with its copy of the word
    client.wait();
    EXPECT_THAT(status(), testing::HasSubstr("follow_event"));
    listen("follow_event");
    EXPECT_EQ(client.line(), "seen by the child");
    listen("follow_event", false);  // now the child ends
  }
  EXPECT_TRUE(comes_true([&] { return status().find("follow_event") == std::string::npos; }));
  EXPECT_EQ(status(), "\nActive: 0\nBusy: 0\n");
}

TEST_F(ShimTest, ForkBombOfEmittingChildrenIsRecordedWhole) {
  listen("user_events:*");
  EXPECT_EQ(Client(socket_, {"fork-bomb", "100", "400"}).wait(), 0);
  EXPECT_EQ(total(), 100 * 400);
}

TEST_F(ShimTest, TenThousandEvents) {
  listen("user_events:*");
  EXPECT_EQ(Client(socket_, {"many", "10000"}).wait(), 0);
  EXPECT_EQ(recorded().size(), 10000u);
}

TEST_F(ShimTest, ProgramsInAnotherPidNamespaceWork) {
  if (::geteuid() != 0) GTEST_SKIP() << "SKIPPED: needs root to make a pid namespace";
  listen("user_events:*");
  const pid_t outer = ::fork();
  if (outer == 0) {
    if (::unshare(CLONE_NEWPID) != 0) ::_exit(97);
    const pid_t inner = ::fork();
    if (inner == 0) {
      int result = Client(socket_, {"forks"}).wait();
      if (result == 0) result = Client(socket_, {"threads"}, "portable").wait();
      ::_exit(result);
    }
    int status = -1;
    ::waitpid(inner, &status, 0);
    ::_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 96);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(outer, &status, 0), outer);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_THAT(recorded(), testing::Contains(Pair("fork_event: n=0x4 (4)", 1)));
}

TEST_F(ShimTest, WorksWithoutRoot) {
  if (::geteuid() != 0) GTEST_SKIP() << "SKIPPED: already another user";
  // A domain and a client of user nobody, in a process of their own.
  char folder[] = "/tmp/shim_test-XXXXXX";
  ASSERT_NE(::mkdtemp(folder), nullptr);
  const pid_t child = ::fork();
  if (child == 0) {
    copy_programs_to(folder);
    if (::setgid(65534) != 0 || ::setuid(65534) != 0) ::_exit(90);
    const std::string path = "/tmp/shim_test-nobody-" + std::to_string(::getpid()) + ".sock";
    auto domain = domain::Domain::create({});
    if (!domain) ::_exit(91);
    rules::Rules rules(**domain);
    auto server = host::Server::create(**domain, rules, path);
    if (!server) ::_exit(91);
    std::thread serving([&] { (*server)->run(); });
    {
      const auto access = (*domain)->enter();
      std::ignore = rules.selections().listen((*domain)->top(), *event::Pattern::parse("user_events:*"), true);
    }
    const int result = Client(path, {"forks"}).wait();
    (*server)->stop();
    serving.join();
    server->reset();
    ::_exit(result);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  std::filesystem::remove_all(folder);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST_F(ShimTest, WritesPastTheShimAreRecordedByTheOwner) {
  listen("user_events:*");
  EXPECT_EQ(Client(socket_, {"past-shim"}).wait(), 0);
  EXPECT_TRUE(comes_true([&] { return total() >= 3; }));
  EXPECT_THAT(recorded(), UnorderedElementsAre(Pair("past_event: n=0x1 (1)", 1), Pair("past_event: n=0x2 (2)", 1),
                                               Pair("past_event: n=0x3 (3)", 1)));
}

TEST_F(ShimTest, ProgramsOfThe2021ProposalWork) {
  listen("user_events:*");
  EXPECT_EQ(Client(socket_, {"of-2021"}).wait(), 0);
  EXPECT_THAT(recorded(), UnorderedElementsAre(Pair("plain_event: n=0x7e5 (2021)", 1)));
}

TEST_F(ShimTest, ProgramsOf61SeeTheirBitAndTheStatusText) {
  listen("user_events:*");
  EXPECT_EQ(Client(socket_, {"of-6.1"}).wait(), 0);
  EXPECT_THAT(recorded(), UnorderedElementsAre(Pair("bit_event: n=0x3d (61)", 1)));
}

TEST(ShimWithoutDomainTest, IsNotThere) { EXPECT_EQ(Client("/nonexistent/socket", {"without-owner"}).wait(), 0); }

// An owner in a process of its own, which listens to everything.
class OwnerProcess {
 public:
  OwnerProcess() {
    int ready[2];
    if (::pipe(ready) != 0) return;
    pid_ = ::fork();
    if (pid_ == 0) {
      auto domain = domain::Domain::create({});
      rules::Rules rules(**domain);
      auto server = host::Server::create(**domain, rules, socket());
      std::ignore = rules.selections().listen((*domain)->top(), *event::Pattern::parse("user_events:*"), true);
      std::ignore = ::write(ready[1], "x", 1);
      (*server)->run();
      ::_exit(0);
    }
    char byte;
    EXPECT_EQ(::read(ready[0], &byte, 1), 1);
    ::close(ready[0]);
    ::close(ready[1]);
  }
  ~OwnerProcess() {
    signal(SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    ::unlink(socket().c_str());
  }
  OwnerProcess(const OwnerProcess&) = delete;
  OwnerProcess& operator=(const OwnerProcess&) = delete;

  void signal(int number) { EXPECT_EQ(::kill(pid_, number), 0); }
  // Returns when it has stopped.
  void stop() {
    signal(SIGSTOP);
    int status = -1;
    EXPECT_EQ(::waitpid(pid_, &status, WUNTRACED), pid_);
    EXPECT_TRUE(WIFSTOPPED(status));
  }
  [[nodiscard]] const std::string& socket() const { return socket_; }

 private:
  std::string socket_ = testing::TempDir() + "shim_owner-" + std::to_string(::getpid()) + ".sock";
  pid_t pid_ = -1;
};

TEST(ShimWithoutDomainTest, ProgramsOutliveTheirOwner) {
  OwnerProcess owner;
  Client client(owner.socket(), {"survives"});
  ASSERT_EQ(client.line(), "ready");
  owner.signal(SIGKILL);
  EXPECT_EQ(client.wait(), 0);
}

TEST(ShimWithoutDomainTest, AStoppedOwnerStopsNobody) {
  OwnerProcess owner;
  Client client(owner.socket(), {"outlasts-a-stop"});
  ASSERT_EQ(client.line(), "ready");
  owner.stop();
  client.say("stopped");
  EXPECT_EQ(client.wait(), 0);
}

}  // namespace
}  // namespace landtrace
