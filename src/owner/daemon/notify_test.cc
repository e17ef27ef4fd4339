#include "daemon/notify.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <string>

#include "base/fd.hpp"

namespace landtrace::daemon {
namespace {

class NotifyTest : public testing::Test {
 protected:
  std::string received_at(const std::string& name) {
    const Fd fd(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, name.data(), name.size());
    if (name[0] == '@') address.sun_path[0] = '\0';
    const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
    EXPECT_EQ(::bind(fd.get(), reinterpret_cast<sockaddr*>(&address), size), 0);
    ::setenv("NOTIFY_SOCKET", name.c_str(), 1);
    notify_service_manager("READY=1");
    ::unsetenv("NOTIFY_SOCKET");
    char text[64];
    const ssize_t n = ::recv(fd.get(), text, sizeof text, MSG_DONTWAIT);
    return n < 0 ? "" : std::string(text, static_cast<std::size_t>(n));
  }
};

TEST_F(NotifyTest, ReachesASocketInTheFileSystem) {
  const std::string path = testing::TempDir() + "notify-" + std::to_string(::getpid());
  EXPECT_EQ(received_at(path), "READY=1");
  ::unlink(path.c_str());
}

TEST_F(NotifyTest, ReachesAnAbstractSocket) {
  EXPECT_EQ(received_at("@landtrace-notify-" + std::to_string(::getpid())), "READY=1");
}

TEST_F(NotifyTest, NobodyIsTold) {
  notify_service_manager("READY=1");
  ::setenv("NOTIFY_SOCKET", "relative", 1);
  notify_service_manager("READY=1");
  ::unsetenv("NOTIFY_SOCKET");
}

}  // namespace
}  // namespace landtrace::daemon
