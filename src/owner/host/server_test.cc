// The owner's side of the socket against clients of all kinds.
#include "host/server.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <random>
#include <thread>

#include "base/test_wait.hpp"
#include "domain/data_call.hpp"
#include "host/test_serving.hpp"
#include "ipc/tree_client.hpp"

namespace landtrace::host {
namespace {

using ipc::Operation;
using ipc::Request;

// Of poll(), for an answer that comes.
constexpr int kPatience_ms = 30'000;

class ServerTest : public testing::Test {
 protected:
  void SetUp() override {
    path_ = testing::TempDir() + "server_test-" + std::to_string(::getpid()) + ".sock";
    domain_ = *domain::Domain::create({.ring_bytes = 1 << 18});
    rules_ = std::make_unique<rules::Rules>(*domain_);
    server_ = *Server::create(*domain_, *rules_, path_);
    thread_ = std::thread([this] { server_->run(); });
  }
  void TearDown() override {
    server_->stop();
    thread_.join();
  }

  Fd connect() {
    auto fd = ipc::connect_to(path_);
    EXPECT_TRUE(fd) << (fd ? "" : fd.error().message);
    return fd ? std::move(*fd) : Fd();
  }
  // An open user_events_data, as a program under the shim has it.
  struct DataFile {
    Fd fd;
    ipc::FileIdentity identity;
  };
  DataFile open_data_file() {
    DataFile file{connect(), {}};
    const Request open{.operation = Operation::kOpenFile};
    EXPECT_TRUE(ipc::send(file.fd.get(), std::as_bytes(std::span(&open, 1)), {}));
    pollfd readable{file.fd.get(), POLLIN, 0};
    EXPECT_EQ(::poll(&readable, 1, kPatience_ms), 1);
    const auto identity = ipc::peek_identity(file.fd.get());
    EXPECT_TRUE(identity);
    if (identity) file.identity = *identity;
    return file;
  }
  bool still_serves() {
    const Fd fd = connect();
    return ipc::ask(fd.get(), {.operation = Operation::kAttach}).has_value();
  }
  // An event that nothing but an enable word of the process keeps, whose memory is a copy of ours.
  void register_behind_a_mount(pid_t process) {
    const programs::Identity me{::geteuid(), ::getegid()};
    const auto access = domain_->enter();
    const domain::FileId file = *domain_->registrar().open_file(me.uid);
    const auto done = domain::data_request(*domain_, file, static_cast<std::uint32_t>(process), me, abi::kIoctlRegister,
                                           reinterpret_cast<std::uint64_t>(&reg_));
    EXPECT_TRUE(done) << done.error().message;
    domain_->files().close(file);
  }
  std::size_t count_events() {
    const auto access = domain_->enter();
    return domain_->events().all().size();
  }
  static bool may_have_files(rlim_t count) {
    rlimit files{};
    ::getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = std::max(files.rlim_cur, count);
    return files.rlim_max >= count && ::setrlimit(RLIMIT_NOFILE, &files) == 0;
  }
  template <typename Client>
  int as_nobody(Client client) {
    const pid_t child = ::fork();
    if (child == 0) {
      if (::setgid(65534) != 0 || ::setuid(65534) != 0) ::_exit(90);
      ::_exit(client());
    }
    int status = -1;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  // What programs that are forked here have at the same addresses.
  std::uint32_t word_ = 0;
  const abi::UserReg reg_{
      sizeof reg_, 0, 4, 0, reinterpret_cast<std::uint64_t>(&word_), reinterpret_cast<std::uint64_t>("e1"), 9};
  std::string path_;
  std::unique_ptr<domain::Domain> domain_;
  std::unique_ptr<rules::Rules> rules_;
  std::unique_ptr<Server> server_;
  std::thread thread_;
};

TEST_F(ServerTest, ClientsWaitUntilTheyAreLetIn) {
  const auto domain = *domain::Domain::create({.ring_bytes = 1 << 18});
  rules::Rules rules(*domain);
  const auto server = *Server::create(*domain, rules, path_ + ".2");
  ipc::TreeClient own = ipc::TreeClient::over(*server->keep_out());
  std::thread serving([&] { server->run(); });
  std::atomic<bool> is_answered = false;
  std::thread other([&] {
    const Fd fd = *ipc::connect_to(server->path());
    EXPECT_TRUE(ipc::ask(fd.get(), {.operation = Operation::kAttach}));
    is_answered = true;
  });
  EXPECT_TRUE(own.open("dynamic_events", O_WRONLY));
  EXPECT_TRUE(own.write("u:first\n"));
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_FALSE(is_answered);
  EXPECT_TRUE(server->let_in());
  other.join();
  EXPECT_TRUE(is_answered);
  server->stop();
  serving.join();
}

TEST_F(ServerTest, GarbageClosesItsOwnConnectionOnly) {
  std::mt19937 random(11);
  const Fd good = connect();
  ASSERT_TRUE(ipc::ask(good.get(), {.operation = Operation::kAttach}));
  for (int i = 0; i < 2000; ++i) {
    const Fd bad = connect();
    std::vector<char> bytes(1 + random() % 300);
    for (char& byte : bytes) byte = static_cast<char>(random());
    if (i % 3 == 0 && bytes.size() >= sizeof(Request)) {  // a sound head with nonsense in it
      Request request{.operation = static_cast<Operation>(random() % 20)};
      request.text_size = static_cast<std::uint32_t>(i % 2 == 0 ? bytes.size() - sizeof request : random());
      request.a = random(), request.b = random(), request.c = random(), request.d = random();
      request.file_slot = static_cast<std::uint32_t>(random());
      std::memcpy(bytes.data(), &request, sizeof request);
    }
    ::send(bad.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
  }
  EXPECT_TRUE(ipc::ask(good.get(), {.operation = Operation::kAttach}));
  EXPECT_TRUE(still_serves());
}

TEST_F(ServerTest, AnotherVersionIsToldSo) {
  const Fd fd = connect();
  const auto answer = ipc::ask(fd.get(), {.version = 99, .operation = Operation::kAttach});
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, EPROTO);
  EXPECT_NE(answer.error().message.find("version"), std::string::npos);
}

TEST_F(ServerTest, AClientThatNeverReadsHoldsUpNobody) {
  const Fd deaf = connect();
  const Request request{.operation = Operation::kAttach};
  for (int i = 0; i < 20000; ++i) {  // more replies than a socket holds
    ::send(deaf.get(), &request, sizeof request, MSG_NOSIGNAL);
  }
  EXPECT_TRUE(still_serves());
}

TEST_F(ServerTest, AThousandClients) {
  constexpr rlim_t kNeeded = 2100;  // both ends are in this process
  if (!may_have_files(kNeeded)) GTEST_SKIP() << "SKIPPED: this user may not have " << kNeeded << " open files";
  std::vector<Fd> clients;
  for (int i = 0; i < 1000; ++i) {
    clients.push_back(connect());
    const auto answer = ipc::ask(clients.back().get(), {.operation = Operation::kRegisterNative},
                                 "client_" + std::to_string(i % 10) + " u32 n");
    ASSERT_TRUE(answer) << answer.error().message;
  }
  clients.clear();
  ASSERT_TRUE(wait_for_server(path_));
  EXPECT_EQ(count_events(), 0u) << "events go with the connections that held them";
}

// Whoever came first is told by the serials of the events that they made.
TEST_F(ServerTest, AUserWithManyConnectionsIsServedNoMoreOftenThanAnother) {
  if (::geteuid() != 0) GTEST_SKIP() << "SKIPPED: needs root to become another user";
  constexpr int kConnections = 250;
  int to[2], from[2];
  ASSERT_EQ(::pipe(to) | ::pipe(from), 0);
  const auto name_of = [](int i) { return "many_" + std::to_string(i); };
  char byte = 0;
  const pid_t child = ::fork();
  if (child == 0) {
    if (::setgid(65534) != 0 || ::setuid(65534) != 0) ::_exit(90);
    std::vector<Fd> connections;
    for (int i = 0; i < kConnections; ++i) {
      connections.push_back(std::move(*ipc::connect_to(path_)));
      if (!ipc::ask(connections.back().get(), {.operation = Operation::kAbout})) ::_exit(91);
    }
    std::ignore = ::write(from[1], "c", 1);
    std::ignore = ::read(to[0], &byte, 1);
    for (int i = 0; i < kConnections; ++i) {
      const std::string text = name_of(i);
      const Request request{.operation = Operation::kRegisterNative,
                            .text_size = static_cast<std::uint32_t>(text.size())};
      std::ignore = ipc::send(connections[static_cast<std::size_t>(i)].get(), std::as_bytes(std::span(&request, 1)),
                              std::as_bytes(std::span(text)));
    }
    std::ignore = ::write(from[1], "s", 1);
    std::ignore = ::read(to[0], &byte, 1);
    ::_exit(0);
  }
  const Fd mine = connect();
  ASSERT_TRUE(ipc::ask(mine.get(), {.operation = Operation::kAbout}));
  ASSERT_EQ(::read(from[0], &byte, 1), 1);
  {
    const auto access = domain_->enter();
    ASSERT_EQ(::write(to[1], "g", 1), 1);
    ASSERT_EQ(::read(from[0], &byte, 1), 1);
    const std::string_view text = "mine";
    const Request request{.operation = Operation::kRegisterNative, .text_size = 4};
    ASSERT_TRUE(ipc::send(mine.get(), std::as_bytes(std::span(&request, 1)), std::as_bytes(std::span(text))));
  }
  while (count_events() < kConnections + 1) ::usleep(1000);
  {
    const auto access = domain_->enter();
    const auto serial_of = [&](const std::string& name) { return domain_->events().find("user_events", name)->serial; };
    int before = 0;
    for (int i = 0; i < kConnections; ++i) before += serial_of(name_of(i)) < serial_of("mine") ? 1 : 0;
    EXPECT_LT(before, 200) << "those of three rounds at most, and not all that were sent before";
  }
  ASSERT_EQ(::write(to[1], "e", 1), 1);
  int status = -1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  for (const int fd : {to[0], to[1], from[0], from[1]}) ::close(fd);
}

// Told by the serials, too. The events go with their connections.
TEST_F(ServerTest, AGuestsConnectionsThatEndAtOnceHaveNoMoreThanItsShare) {
  if (::geteuid() != 0) GTEST_SKIP() << "SKIPPED: needs root to become another user";
  constexpr int kConnections = 1000;
  if (!may_have_files(3 * kConnections)) GTEST_SKIP() << "SKIPPED: this user may not have so many open files";
  std::string fields;  // many: so each of them takes a while
  for (int i = 0; i < 50; ++i) fields += (i == 0 ? " u32 f" : "; u32 f") + std::to_string(i);
  const auto serial_of = [&](const std::string& name) {
    const Fd connection = connect();
    EXPECT_TRUE(ipc::ask(connection.get(), {.operation = Operation::kRegisterNative}, name));
    const auto access = domain_->enter();
    return domain_->events().find("user_events", name)->serial;
  };
  const auto ask = [](const Fd& connection, std::string_view text) {
    const Request request{.operation = Operation::kRegisterNative,
                          .text_size = static_cast<std::uint32_t>(text.size())};
    std::ignore = ipc::send(connection.get(), std::as_bytes(std::span(&request, 1)), std::as_bytes(std::span(text)));
  };
  const std::uint64_t first = serial_of("first");
  const Fd mine = connect();
  ASSERT_TRUE(ipc::ask(mine.get(), {.operation = Operation::kAbout}));
  int to[2], from[2];
  ASSERT_EQ(::pipe(to) | ::pipe(from), 0);
  char byte = 0;
  const pid_t child = ::fork();
  if (child == 0) {
    if (::setgid(65534) != 0 || ::setuid(65534) != 0) ::_exit(90);
    std::vector<Fd> connections;
    for (int i = 0; i < kConnections; ++i) {
      connections.push_back(std::move(*ipc::connect_to(path_)));
      if (!ipc::ask(connections.back().get(), {.operation = Operation::kAbout})) ::_exit(91);
    }
    std::ignore = ::write(from[1], "c", 1);
    std::ignore = ::read(to[0], &byte, 1);
    for (int i = 0; i < kConnections; ++i) {
      ask(connections[static_cast<std::size_t>(i)], "guests_" + std::to_string(i) + fields);
    }
    ::_exit(0);
  }
  ASSERT_EQ(::read(from[0], &byte, 1), 1);
  {
    const auto access = domain_->enter();
    ASSERT_EQ(::write(to[1], "g", 1), 1);
    int status = -1;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
    ask(mine, "mine");
  }
  EXPECT_LT(serial_of("mine") - first, kConnections / 2u) << "and not behind all of them";
  const auto next_serial = [&] {
    const auto access = domain_->enter();
    return domain_->events().next_serial();
  };
  while (next_serial() < first + kConnections + 2) ::usleep(1000);  // none of them is lost
  for (const int fd : {to[0], to[1], from[0], from[1]}) ::close(fd);
}

TEST_F(ServerTest, WhoWasLeftOutIsServedInTheNextRound) {
  constexpr int kBusy = 64, kRequests = 20;
  std::vector<Fd> connections;
  for (int i = 0; i <= kBusy; ++i) {
    connections.push_back(connect());
    ASSERT_TRUE(ipc::ask(connections.back().get(), {.operation = Operation::kAbout}));
  }
  // Epoll has the one that it reported last in the first place yet.
  ASSERT_TRUE(ipc::ask(connections[0].get(), {.operation = Operation::kAbout}));
  const auto ask = [](const Fd& connection, std::string_view text) {
    const Request request{.operation = Operation::kRegisterNative,
                          .text_size = static_cast<std::uint32_t>(text.size())};
    ASSERT_TRUE(ipc::send(connection.get(), std::as_bytes(std::span(&request, 1)), std::as_bytes(std::span(text))));
  };
  {
    const auto access = domain_->enter();
    for (int i = 0; i < kBusy * kRequests; ++i) {
      ask(connections[static_cast<std::size_t>(i % kBusy)], "busy_" + std::to_string(i));
    }
    ask(connections[kBusy], "left_out");
  }
  while (count_events() < kBusy * kRequests + 1) ::usleep(1000);
  const auto access = domain_->enter();
  const auto serial_of = [&](const std::string& name) { return domain_->events().find("user_events", name)->serial; };
  EXPECT_LT(serial_of("left_out"), serial_of("busy_0") + 3 * kBusy) << "and not when all others are done";
}

// It does not wait for long in the middle of its write.
TEST_F(ServerTest, AProgramThatGaveUpBeforeItWasAnsweredGetsItsFileLater) {
  const domain::SavedFile saved{5, 0xabcd0005, static_cast<std::uint32_t>(::geteuid()), false, {}, {}};
  const Request reopen{.operation = Operation::kReopenFile, .file_slot = 5, .file_generation = saved.generation};
  const auto ask = [&] {
    Fd fd = connect();
    EXPECT_TRUE(ipc::send(fd.get(), std::as_bytes(std::span(&reopen, 1)), {}));
    return fd;
  };
  {
    const auto access = domain_->enter();
    const auto self = domain::process_id(static_cast<std::uint32_t>(::getpid()));
    ASSERT_TRUE(domain_->files().restore(saved, {}, {self}));
    for (int i = 0; i < 3; ++i) ask();
    const Fd deaf = ask();
    ::shutdown(deaf.get(), SHUT_RD);
  }
  ASSERT_TRUE(still_serves());
  const Fd file = ask();
  pollfd readable{file.get(), POLLIN, 0};
  ASSERT_EQ(::poll(&readable, 1, kPatience_ms), 1);
  const auto identity = ipc::peek_identity(file.get());
  ASSERT_TRUE(identity);
  EXPECT_EQ(identity->error, 0);
  EXPECT_EQ(identity->generation, saved.generation);
}

TEST_F(ServerTest, FilesCarryTheirIdentityAndAskNothing) {
  const auto [file, identity] = open_data_file();
  const Fd control = connect();
  std::uint32_t word = 0;
  const auto answer = ipc::ask(control.get(),
                               {.operation = Operation::kRegister,
                                .file_slot = identity.slot,
                                .file_generation = identity.generation,
                                .a = reinterpret_cast<std::uint64_t>(&word),
                                .b = 0,
                                .c = 4},
                               "e1 u32 n");
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->reply.a, 0u);
  EXPECT_EQ(ipc::ask(control.get(),
                     {.operation = Operation::kRegister,
                      .file_slot = identity.slot,
                      .file_generation = identity.generation + 1,
                      .c = 4},
                     "e2 u32 n")
                .error()
                .code,
            EBADF);
  // What a program's raw write() sends down a file's connection is not a request, and harms nothing.
  const char raw[] = "not a request";
  EXPECT_EQ(::send(file.get(), raw, sizeof raw, MSG_NOSIGNAL), static_cast<ssize_t>(sizeof raw));
  EXPECT_TRUE(ipc::peek_identity(file.get()));
  ASSERT_TRUE(ipc::ask(control.get(),
                       {.operation = Operation::kUnregister, .a = reinterpret_cast<std::uint64_t>(&word), .b = 0}));
}

TEST_F(ServerTest, OlderProgramsGetTheirPagesAndPlaces) {
  const DataFile file = open_data_file();
  const Fd control = connect();
  const auto ask = [&](Operation operation, std::string_view text, std::uint64_t a = 0) {
    return ipc::ask(
        control.get(),
        {.operation = operation, .file_slot = file.identity.slot, .file_generation = file.identity.generation, .a = a},
        text);
  };
  const auto made = ask(Operation::kRegisterStatusBit, "e1 u32 n");
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->reply.a, 0u);
  EXPECT_EQ(made->reply.b, 1u);
  EXPECT_EQ(ask(Operation::kRegisterPlain, "e2").error().code, EINVAL) << "the file's writes have an index";
  const auto page = ask(Operation::kStatusPage, "");
  ASSERT_TRUE(page);
  const auto bits = Mapping::map(page->fds[0].get(), 4096, Mapping::Access::kReadOnly);
  ASSERT_TRUE(bits);
  EXPECT_FALSE(Mapping::map(page->fds[0].get(), 4096, Mapping::Access::kReadWrite));
  {
    const auto access = domain_->enter();
    EXPECT_TRUE(domain_->listening().set(domain_->top(), domain_->events().all(), true));
  }
  EXPECT_EQ(bits->data()[0], std::byte{2});
  EXPECT_TRUE(ask(Operation::kStatusPage, "", 1));
  EXPECT_EQ(ask(Operation::kStatusPage, "", 2).error().code, EINVAL);
  const auto text = ask(Operation::kStatusText, "", 3);
  ASSERT_TRUE(text);
  EXPECT_EQ(text->text, "# Used by ftrace\n\nActive: 1\nBusy: 1\n");
  EXPECT_EQ(text->reply.a, text->text.size() + 3);
}

// As a mounted tree brings changes of pages to the mappings of programs.
class SlowCourier : public domain::StatusPages::Watcher {
 public:
  explicit SlowCourier(domain::Domain& domain) : pages_(domain.status_pages()) {
    const auto access = domain.enter();
    pages_.add_watcher(*this);
  }
  ~SlowCourier() override {
    if (thread_.joinable()) thread_.join();
  }
  void page_changed(domain::Page, std::size_t) override {
    const auto ticket = pages_.arrivals().begin();
    if (thread_.joinable()) thread_.join();
    thread_ = std::thread([this, ticket] {
      std::this_thread::sleep_for(std::chrono::milliseconds(30));
      ++arrived;
      pages_.arrivals().end(ticket);
    });
  }
  std::atomic<int> arrived = 0;

 private:
  domain::StatusPages& pages_;
  std::thread thread_;
};

TEST_F(ServerTest, WhoHasAPageChangedIsAnsweredWhenAllProgramsSeeIt) {
  const DataFile file = open_data_file();
  const Fd control = connect();
  const auto ask = [&](ipc::Request request, std::string_view text) {
    request.file_slot = file.identity.slot;
    request.file_generation = file.identity.generation;
    return ipc::ask(control.get(), request, text);
  };
  ASSERT_TRUE(ask({.operation = Operation::kRegisterStatusBit}, "e1 u32 n"));
  SlowCourier courier(*domain_);
  const Fd recorder = connect();
  ASSERT_TRUE(ipc::ask(recorder.get(), {.operation = Operation::kOpenSession, .a = 1 << 20}));
  EXPECT_EQ(courier.arrived, 0);
  for (const int arrived : {1, 2}) {
    const auto asked = std::chrono::steady_clock::now();
    const auto on = static_cast<std::uint64_t>(arrived % 2);
    ASSERT_TRUE(ipc::ask(recorder.get(), {.operation = Operation::kSessionEvents, .a = on}, "user_events:e1"));
    // Nobody is kept waiting for longer.
    const bool is_given_up = std::chrono::steady_clock::now() - asked >= std::chrono::seconds(1);
    EXPECT_TRUE(courier.arrived == arrived || is_given_up) << arrived;
  }
  const auto access = domain_->enter();
  domain_->status_pages().remove_watcher(courier);
}

// The answer that is kept for a client must not reach whoever comes next with its descriptor.
TEST_F(ServerTest, AClientThatGoesBeforeItsLateAnswerHoldsUpNobody) {
  const DataFile file = open_data_file();
  ASSERT_TRUE(ipc::ask(connect().get(),
                       {.operation = Operation::kRegisterStatusBit,
                        .file_slot = file.identity.slot,
                        .file_generation = file.identity.generation},
                       "e1 u32 n"));
  SlowCourier courier(*domain_);
  for (int i = 0; i < 10; ++i) {
    const Fd recorder = connect();
    ASSERT_TRUE(ipc::ask(recorder.get(), {.operation = Operation::kOpenSession, .a = 1 << 20}));
    const ipc::Request request{.operation = Operation::kSessionEvents, .text_size = 14, .a = 1};
    ASSERT_TRUE(ipc::send(recorder.get(), std::as_bytes(std::span(&request, 1)),
                          std::as_bytes(std::span("user_events:e1", 14))));
  }
  EXPECT_TRUE(still_serves());
  ASSERT_TRUE(wait_for_server(path_));
  const auto access = domain_->enter();
  domain_->status_pages().remove_watcher(courier);
}

TEST_F(ServerTest, AFileIsClosedBeforeWhatItsProgramAsksNext) {
  const Fd control = connect();
  ASSERT_TRUE(ipc::ask(control.get(), {.operation = Operation::kAttach}));
  for (int i = 0; i < 3000; ++i) {
    DataFile file = open_data_file();
    ASSERT_TRUE(ipc::ask(control.get(),
                         {.operation = Operation::kRegisterStatusBit,
                          .file_slot = file.identity.slot,
                          .file_generation = file.identity.generation},
                         "e1 u32 n"));
    if (i % 3 == 0) std::ignore = ::send(file.fd.get(), "raw", 3, MSG_NOSIGNAL);  // not read yet when it is closed
    file.fd.reset();
    const auto deleted = ipc::ask(control.get(), {.operation = Operation::kDelete}, "e1");
    ASSERT_TRUE(deleted) << i << ": " << deleted.error().message;
  }
}

TEST_F(ServerTest, WhatAProgramBehindAMountRegisteredGoesWhenItEnds) {
  const pid_t program = ::fork();  // its memory is like ours
  if (program == 0) {
    for (;;) ::pause();
  }
  register_behind_a_mount(program);
  EXPECT_EQ(count_events(), 1u) << "the word keeps the event";
  ::kill(program, SIGKILL);
  ::waitpid(program, nullptr, 0);
  EXPECT_TRUE(comes_true([&] { return count_events() == 0; }));
}

TEST_F(ServerTest, WhatAProgramRegisteredGoesWithTheMemoryThatOutlivesIt) {
  int pids[2];
  ASSERT_EQ(::pipe(pids), 0);
  const pid_t program = ::fork();
  if (program == 0) {
    alignas(16) static char stack[64 * 1024];
    const auto wait = [](void*) -> int {
      for (;;) ::pause();
    };
    const pid_t sharer = ::clone(wait, stack + sizeof stack, CLONE_VM, nullptr);
    std::ignore = ::write(pids[1], &sharer, sizeof sharer);
    for (;;) ::pause();
  }
  pid_t sharer = -1;
  ASSERT_EQ(::read(pids[0], &sharer, sizeof sharer), ssize_t{sizeof sharer});
  register_behind_a_mount(program);
  ::kill(program, SIGKILL);
  ::waitpid(program, nullptr, 0);
  for (int i = 0; i < 20; ++i) {
    ::usleep(1000);
    EXPECT_EQ(count_events(), 1u) << "its memory is still there";
  }
  ::kill(sharer, SIGKILL);
  EXPECT_TRUE(comes_true([&] { return count_events() == 0; }));
  ::close(pids[0]);
  ::close(pids[1]);
}

TEST_F(ServerTest, AnotherUserMayNotRecordDeleteOrUseWhatIsNotTheirs) {
  if (::geteuid() != 0) GTEST_SKIP() << "SKIPPED: needs root to become another user";
  const Fd mine = connect();
  ASSERT_EQ(ipc::ask(mine.get(), {.operation = Operation::kAttach})->reply.a, 0u);
  ASSERT_TRUE(ipc::ask(mine.get(), {.operation = Operation::kRegisterNative, .d = domain::kPersist}, "mine u32 n"));
  {
    const auto access = domain_->enter();
    domain_->events().drop_reference(domain_->events().find("user_events", "mine")->slot);
  }
  EXPECT_EQ(as_nobody([&] {
              auto fd = ipc::connect_to(path_);
              if (!fd) return 1;
              const auto refused = [&](Operation operation, std::string_view text) {
                const auto answer = ipc::ask(fd->get(), {.operation = operation}, text);
                return !answer && answer.error().code == EPERM;
              };
              if (!refused(Operation::kOpenSession, "")) return 2;
              if (!refused(Operation::kDataSegment, "")) return 3;
              if (!refused(Operation::kDelete, "mine")) return 4;
              auto attached = ipc::ask(fd->get(), {.operation = Operation::kAttach});
              if (!attached) return 5;
              // The control segment cannot be mapped writable, and the data segment is not root's.
              if (Mapping::map(attached->fds[0].get(), 4096, Mapping::Access::kReadWrite)) return 6;
              return attached->reply.a == 0 ? 7 : 0;
            }),
            0);
}

// Its slot and generation stand in the control segment.
TEST_F(ServerTest, AnotherUsersFileIsNamedByItsKeyAlone) {
  if (::geteuid() != 0) GTEST_SKIP() << "SKIPPED: needs root to become another user";
  const DataFile file = open_data_file();
  EXPECT_EQ(as_nobody([&] {
              const auto fd = ipc::connect_to(path_);
              if (!fd || !ipc::ask(fd->get(), {.operation = Operation::kAttach})) return 1;
              std::uint32_t word = 0;
              Request request{.file_slot = file.identity.slot,
                              .file_generation = file.identity.generation,
                              .a = reinterpret_cast<std::uint64_t>(&word),
                              .c = 4};
              const auto error_of = [&](Operation operation, std::uint64_t key) {
                request.operation = operation;
                request.b = ipc::with_key(key);
                const auto answer = ipc::ask(fd->get(), request, "theirs u32 n");
                return answer ? 0 : answer.error().code;
              };
              for (const std::uint64_t key : {std::uint64_t{0}, file.identity.key + 1}) {
                if (error_of(Operation::kRegister, key) != EBADF) return 2;
                if (error_of(Operation::kRegisterStatusBit, key) != EBADF) return 3;
                if (error_of(Operation::kRegisterPlain, key) != EBADF) return 4;
              }
              return error_of(Operation::kRegisterStatusBit, file.identity.key) == 0 ? 0 : 5;
            }),
            0);
}

TEST_F(ServerTest, AnotherUsersFileIsReopenedByItsKeyAlone) {
  if (::geteuid() != 0) GTEST_SKIP() << "SKIPPED: needs root to become another user";
  const domain::SavedFile saved{5, 0xabcd0005, 0, false, {}, {}, 4711};
  {
    const auto access = domain_->enter();
    const auto self = domain::process_id(static_cast<std::uint32_t>(::getpid()));
    ASSERT_TRUE(domain_->files().restore(saved, {}, {self}));
  }
  EXPECT_EQ(as_nobody([&] {
              const auto error_with = [&](std::uint64_t key) {
                const Fd fd = connect();
                const Request reopen{.operation = Operation::kReopenFile,
                                     .file_slot = saved.slot,
                                     .file_generation = saved.generation,
                                     .b = ipc::with_key(key)};
                std::ignore = ipc::send(fd.get(), std::as_bytes(std::span(&reopen, 1)), {});
                pollfd readable{fd.get(), POLLIN, 0};
                std::ignore = ::poll(&readable, 1, kPatience_ms);
                const auto identity = ipc::peek_identity(fd.get());
                return identity ? identity->error : -1;
              };
              if (error_with(0) != EBADF) return 1;
              return error_with(saved.key) == 0 ? 0 : 2;
            }),
            0);
}

TEST_F(ServerTest, StructsAreDescribedByWhoHasTheEvent) {
  const Fd mine = connect(), other = connect();
  const auto slot = ipc::ask(mine.get(), {.operation = Operation::kRegisterNative}, "moved struct position to 8");
  ASSERT_TRUE(slot);
  const Request describe{.operation = Operation::kDescribeStructs, .a = slot->reply.a};
  EXPECT_EQ(ipc::ask(other.get(), describe, "position 8{s32 x 0 4}").error().code, ENOENT);
  EXPECT_TRUE(ipc::ask(mine.get(), describe, "position 8{s32 x 0 4}"));
  EXPECT_EQ(ipc::ask(mine.get(), describe, "position 8{s32 x 0\n4}").error().code, EINVAL);
  if (::geteuid() != 0) return;
  EXPECT_EQ(as_nobody([&] {
              auto fd = ipc::connect_to(path_);
              if (!fd || !ipc::ask(fd->get(), {.operation = Operation::kAttach})) return 1;
              const auto same =
                  ipc::ask(fd->get(), {.operation = Operation::kRegisterNative}, "moved struct position to 8");
              if (!same || same->reply.a != describe.a) return 2;
              const auto answer = ipc::ask(fd->get(), describe, "position 8{s32 z 0 4}");
              return !answer && answer.error().code == EPERM ? 0 : 3;
            }),
            0);
}

TEST_F(ServerTest, WithoutDescriptorsClientsAreRefusedAtOnce) {
  int limited[2];
  ASSERT_EQ(::pipe(limited), 0);
  char byte = 0;
  const pid_t client = ::fork();  // with descriptors enough of its own
  if (client == 0) {
    if (::read(limited[0], &byte, 1) != 1) ::_exit(3);
    auto fd = ipc::connect_to(path_);
    if (!fd) ::_exit(2);
    const auto answer = ipc::ask(fd->get(), {.operation = Operation::kAttach});
    ::_exit(answer ? 1 : 0);
  }
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit none{static_cast<rlim_t>(Fd(::dup(0)).get()), before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  ASSERT_EQ(::write(limited[1], &byte, 1), 1);
  ::alarm(60);  // it must not hang
  int status = -1;
  ::waitpid(client, &status, 0);
  ::alarm(0);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  for (const int fd : limited) ::close(fd);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_TRUE(still_serves());
}

TEST_F(ServerTest, AnotherUserForksNobodysProcess) {
  if (::geteuid() != 0) GTEST_SKIP() << "SKIPPED: needs root to become another user";
  const Fd file = connect();
  const Request open{.operation = Operation::kOpenFile};
  ASSERT_TRUE(ipc::send(file.get(), std::as_bytes(std::span(&open, 1)), {}));
  pollfd readable{file.get(), POLLIN, 0};
  ASSERT_EQ(::poll(&readable, 1, kPatience_ms), 1);
  const auto identity = ipc::peek_identity(file.get());
  ASSERT_TRUE(identity);
  const Fd control = connect();
  std::uint32_t word = 0;
  ASSERT_TRUE(ipc::ask(control.get(),
                       {.operation = Operation::kRegister,
                        .file_slot = identity->slot,
                        .file_generation = identity->generation,
                        .a = reinterpret_cast<std::uint64_t>(&word),
                        .c = 4},
                       "e1"));
  const auto parent = static_cast<std::uint64_t>(::getpid());
  EXPECT_EQ(as_nobody([&] {
              auto fd = ipc::connect_to(path_);
              if (!fd) return 1;
              const auto answer = ipc::ask(fd->get(), {.operation = Operation::kForked, .a = parent});
              return !answer && answer.error().code == EPERM ? 0 : 2;
            }),
            0);
}

TEST_F(ServerTest, SessionsAreInstancesThatEndWithTheirConnection) {
  std::uint64_t instance = 0;
  {
    const Fd consumer = connect();
    const auto opened = ipc::ask(consumer.get(), {.operation = Operation::kOpenSession, .a = 1 << 20, .b = 0});
    ASSERT_TRUE(opened);
    instance = opened->reply.c;
    EXPECT_NE(instance, 0u);
    EXPECT_EQ(opened->reply.b, 20u);
    EXPECT_EQ(ipc::ask(consumer.get(), {.operation = Operation::kOpenSession}).error().code, EBUSY);
    EXPECT_EQ(ipc::ask(consumer.get(), {.operation = Operation::kSessionEvents, .a = 1}, "[").error().code, EINVAL);
    EXPECT_TRUE(ipc::ask(consumer.get(), {.operation = Operation::kSessionEvents, .a = 1}, "user_events:*"));
    EXPECT_TRUE(ipc::ask(consumer.get(), {.operation = Operation::kSessionStop}));
  }
  ASSERT_TRUE(wait_for_server(path_));
  const auto access = domain_->enter();
  EXPECT_EQ(domain_->instances().at(static_cast<std::uint32_t>(instance)), nullptr) << "it outlives its connection";
}

TEST_F(ServerTest, ASessionSaysWhichRulesDoNotFitAndWhetherItRecords) {
  const Fd consumer = connect();
  using namespace std::string_literals;
  const auto ask = [&](Operation operation, const std::string& text = {}) {
    return ipc::ask(consumer.get(), {.operation = operation}, text);
  };
  EXPECT_EQ(ask(Operation::kSessionSelect, "*\0\0"s).error().code, EINVAL);
  ASSERT_TRUE(ipc::ask(consumer.get(), {.operation = Operation::kOpenSession, .a = 1 << 20}));
  EXPECT_EQ(ask(Operation::kSessionSelect, "*\0n ==\0"s).error().message, "Invalid value (did you forget quotes)?");
  EXPECT_EQ(ask(Operation::kSessionSelect, "*\0\0snapshot\0"s).error().code, EINVAL);
  ASSERT_TRUE(ask(Operation::kRegisterNative, "job u32 id"));
  ASSERT_TRUE(ask(Operation::kSessionSelect, "*\0n == 5\0traceoff if m\0"s).error().code == EINVAL);
  ASSERT_TRUE(ask(Operation::kSessionSelect, "*\0n == 5\0traceoff if m == 1\0"s));
  const auto state = ask(Operation::kSessionState);
  ASSERT_TRUE(state);
  EXPECT_EQ(state->reply.a, 1u);
  EXPECT_EQ(state->text,
            "user_events:job\0fn == 5\0Field not found\0user_events:job\0ttraceoff if m == 1\0Field not found\0"s);
}

}  // namespace
}  // namespace landtrace::host
