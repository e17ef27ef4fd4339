#include "ipc/socket.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <thread>

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

TEST(SocketTest, IdentityIsPeekedAtNeverTaken) {
  Pair pair;
  const FileIdentity identity{kIdentityMagic, 3, 9, 0, 0};
  ASSERT_TRUE(send(pair.b.get(), std::as_bytes(std::span(&identity, 1)), {}));
  for (int i = 0; i < 3; ++i) {
    auto seen = peek_identity(pair.a.get());
    ASSERT_TRUE(seen);
    EXPECT_EQ(seen->slot, 3u);
    EXPECT_EQ(seen->generation, 9u);
  }
  EXPECT_EQ(peek_identity(pair.b.get()).error().code, EBADF);
  EXPECT_EQ(peek_identity(0).error().code, EBADF);
  EXPECT_EQ(peek_identity(-1).error().code, EBADF);
}

TEST(SocketTest, ListenReplacesTheSocketOfADeadOwnerOnly) {
  const std::string path = testing::TempDir() + "listen_test.sock";
  auto first = listen_at(path);
  ASSERT_TRUE(first) << first.error().message;
  EXPECT_EQ(listen_at(path).error().code, EADDRINUSE);
  first->reset();
  EXPECT_TRUE(listen_at(path));
  ::unlink(path.c_str());
  EXPECT_EQ(connect_to(std::string(300, 'x')).error().code, ENAMETOOLONG);
}

}  // namespace
}  // namespace landtrace::ipc
