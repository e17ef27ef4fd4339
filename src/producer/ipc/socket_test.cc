#include "ipc/socket.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <climits>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

namespace landtrace::ipc {
namespace {

struct Pair {
  Fd a, b;
  Pair() {
    int fds[2];
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET, 0, fds) == 0) a = Fd(fds[0]), b = Fd(fds[1]);
  }
};

TEST(SocketTest, AnswersCarryTextDescriptorsAndCredentials) {
  Pair pair;
  ASSERT_TRUE(want_credentials(pair.b.get()));
  std::thread owner([&] {
    std::array<std::byte, 4096> buffer;
    auto received = receive(pair.b.get(), buffer);
    ASSERT_TRUE(received);
    EXPECT_EQ(received->pid, static_cast<std::uint32_t>(::getpid()));
    EXPECT_EQ(received->uid, ::getuid());
    Reply reply;
    reply.a = 77;
    reply.text_size = 2;
    const char text[] = "hi";
    ASSERT_TRUE(send(pair.b.get(), std::as_bytes(std::span(&reply, 1)), std::as_bytes(std::span(text, 2)), 0, 1));
  });
  auto answer = ask(pair.a.get(), {.operation = Operation::kAttach}, "text");
  owner.join();
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->reply.a, 77u);
  EXPECT_EQ(answer->text, "hi");
  EXPECT_TRUE(answer->fds[0]);
  EXPECT_TRUE(answer->fds[1]);
}

TEST(SocketTest, AnOwnerThatIsGoneIsEpipe) {
  Pair pair;
  pair.b.reset();
  EXPECT_EQ(ask(pair.a.get(), {.operation = Operation::kAttach}).error().code, EPIPE);
}

// What an owner says that takes no more clients: before it is asked, and then it is gone.
void refuse(Pair& pair) {
  Reply reply;
  reply.error = ENFILE;
  reply.text_size = 4;
  const char text[] = "full";
  ASSERT_TRUE(send(pair.b.get(), std::as_bytes(std::span(&reply, 1)), std::as_bytes(std::span(text, 4))));
  pair.b.reset();
}

TEST(SocketTest, ARefusalThatCameBeforeTheRequestIsItsAnswer) {
  Pair asked, asked_plainly, file;
  for (Pair* const pair : {&asked, &asked_plainly, &file}) refuse(*pair);
  const auto answer = ask(asked.a.get(), {.operation = Operation::kAttach});
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, ENFILE);
  EXPECT_EQ(answer.error().message, "full");
  EXPECT_EQ(ask(asked.a.get(), {.operation = Operation::kAttach}).error().code, EPIPE);
  EXPECT_EQ(ask_plain(asked_plainly.a.get(), {.operation = Operation::kAttach}).error, ENFILE);
  EXPECT_EQ(refusal_of_file(file.a.get()), ENFILE);
  EXPECT_EQ(refusal_of_file(file.a.get()), EPIPE);
}

TEST(SocketTest, ARefusalThatCrossesTheRequestIsItsAnswer) {
  Pair pair;
  const Request request{.operation = Operation::kAttach};
  ASSERT_TRUE(send(pair.a.get(), std::as_bytes(std::span(&request, 1)), {}));
  refuse(pair);  // and the request is never read
  const auto answer = ask(pair.a.get(), request);
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, ENFILE);
}

TEST(SocketTest, AnOwnerThatDoesNotAnswerInTimeHasNoSecondChance) {
  Pair pair;
  set_timeout(pair.a.get(), 10);
  EXPECT_EQ(ask(pair.a.get(), {.operation = Operation::kAttach}).error().code, ETIMEDOUT);
  // Its late answer must not be taken for that of the next request.
  const Reply late;
  std::ignore = try_send(pair.b.get(), std::as_bytes(std::span(&late, 1)), {});
  EXPECT_EQ(ask(pair.a.get(), {.operation = Operation::kAbout}).error().code, EPIPE);
}

TEST(SocketTest, AnIdentityFromBeforeThereWereKeysHasNone) {
  Pair pair;
  const FileIdentity identity{kIdentityMagic, 3, 9, 0, 0, 7};
  const auto before = std::as_bytes(std::span(&identity, 1)).first(offsetof(FileIdentity, key));
  ASSERT_TRUE(send(pair.b.get(), before, {}));
  const auto seen = peek_identity(pair.a.get());
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->slot, 3u);
  EXPECT_EQ(seen->key, 0u);
}

TEST(SocketTest, IdentityIsPeekedAtNeverTaken) {
  Pair pair;
  const FileIdentity identity{kIdentityMagic, 3, 9, 0, 0, 7};
  ASSERT_TRUE(send(pair.b.get(), std::as_bytes(std::span(&identity, 1)), {}));
  for (int i = 0; i < 3; ++i) {
    auto seen = peek_identity(pair.a.get());
    ASSERT_TRUE(seen);
    EXPECT_EQ(seen->slot, 3u);
    EXPECT_EQ(seen->generation, 9u);
    EXPECT_EQ(seen->key, 7u);
  }
  EXPECT_EQ(peek_identity(pair.b.get()).error().code, EBADF);
  EXPECT_EQ(peek_identity(0).error().code, EBADF);
  EXPECT_EQ(peek_identity(-1).error().code, EBADF);
}

TEST(SocketTest, OfOwnersThatStartAtOnceOneListens) {
  const std::string path = testing::TempDir() + "socket_test-race-" + std::to_string(::getpid());
  constexpr int kOwners = 4;
  for (int round = 0; round < 200; ++round) {
    std::array<Result<Fd>, kOwners> listeners = {Fd(), Fd(), Fd(), Fd()};
    std::atomic<int> ready = 0;
    std::vector<std::thread> owners;
    for (auto& listener : listeners) {
      owners.emplace_back([&] {
        for (++ready; ready < kOwners;) std::this_thread::yield();
        listener = listen_at(path);
      });
    }
    for (auto& owner : owners) owner.join();
    int listening = 0;
    for (const auto& listener : listeners) {
      if (listener) {
        ++listening;
      } else {
        EXPECT_EQ(listener.error().code, EADDRINUSE) << listener.error().message;
      }
    }
    ASSERT_EQ(listening, 1) << "in round " << round;
    ASSERT_TRUE(connect_to(path)) << "it is there for others";
  }
  ::unlink(path.c_str());
}

// However late that is after the socket's appearance: others wait for nothing else.
TEST(SocketTest, WhoWatchesTheFolderHearsOfASocketThatListens) {
  const std::string folder = testing::TempDir() + "socket_test-watch-" + std::to_string(::getpid());
  const std::string path = folder + "/sock";
  ASSERT_EQ(::mkdir(folder.c_str(), 0700), 0);
  const Fd watch(::inotify_init1(IN_CLOEXEC));
  ASSERT_GE(::inotify_add_watch(watch.get(), folder.c_str(), IN_CREATE | IN_ATTRIB), 0);
  std::atomic<bool> connected = false;
  std::thread watcher([&] {
    while (!connected) {
      alignas(inotify_event) char told[sizeof(inotify_event) + NAME_MAX + 1];
      ASSERT_GT(::read(watch.get(), told, sizeof told), 0);
      connected = connect_to(path).has_value();
    }
  });
  const auto listener = listen_at(path);
  watcher.join();
  EXPECT_TRUE(listener) << listener.error().message;
  ::unlink(path.c_str());
  ::rmdir(folder.c_str());
}

TEST(SocketTest, ListenReplacesTheSocketOfADeadOwnerOnly) {
  const std::string path = testing::TempDir() + "listen_test-" + std::to_string(::getpid()) + ".sock";
  auto first = listen_at(path);
  ASSERT_TRUE(first) << first.error().message;
  EXPECT_EQ(listen_at(path).error().code, EADDRINUSE);
  first->reset();
  EXPECT_TRUE(listen_at(path));
  ::unlink(path.c_str());
  EXPECT_EQ(connect_to(std::string(300, 'x')).error().code, ENAMETOOLONG);
}

TEST(SocketTest, ListenTakesNoOthersPlace) {
  const std::string path = testing::TempDir() + "no_socket";
  { const Fd file(::open(path.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600)); }
  EXPECT_EQ(listen_at(path).error().code, EEXIST);
  EXPECT_EQ(::unlink(path.c_str()), 0) << "it is there";
}

}  // namespace
}  // namespace landtrace::ipc
