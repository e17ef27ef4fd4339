#include "client/socket_watch.hpp"

#include <poll.h>
#include <pthread.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "ipc/path.hpp"
#include "ipc/socket.hpp"

namespace landtrace::client {
namespace {

constexpr int kPatience_ms = 3'000;
// A folder in which much happens that is nothing to us is looked at so often.
constexpr int kPause_ms = 50;
// Where nothing can be watched.
constexpr int kSlowPause_ms = 1'000;
// Between the appearance of a socket and its being ready.
constexpr int kReadyPauses = 100;
constexpr int kReadyPause_ms = 5;

// Only here may the thread be ended.
int wait(int fd, int timeout_ms) {
  pollfd events{fd, POLLIN, 0};
  int before;
  pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &before);
  const int ready = ::poll(&events, fd < 0 ? 0 : 1, timeout_ms);
  pthread_setcancelstate(before, nullptr);
  return ready;
}

// One that has just appeared is bound, and does not listen yet.
int connect_to_new(const char* path) {
  int fd = -ENOENT;
  for (int i = 0; i < kReadyPauses; ++i) {
    fd = connect_to_owner(path);
    if (fd >= 0 || (fd != -ECONNREFUSED && fd != -EACCES)) return fd;
    wait(-1, kReadyPause_ms);
  }
  return fd;
}

std::string folder_of(const std::string& path) {
  const auto slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

// Watches the socket's folder, or the nearest one above it that there is. True: the socket's own.
bool watch(int inotify, const std::string& path) {
  constexpr std::uint32_t kEvents = IN_CREATE | IN_MOVED_TO | IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR;
  std::string folder = folder_of(path);
  bool is_own = true;
  while (::inotify_add_watch(inotify, folder.c_str(), kEvents) < 0 && folder.size() > 1) {
    folder = folder_of(folder);
    is_own = false;
  }
  return is_own;
}

// Whether what has happened may have been the socket.
bool is_about(int inotify, const std::string& path, bool own_folder) {
  alignas(inotify_event) char buffer[4096];
  const ssize_t n = ::read(inotify, buffer, sizeof buffer);
  const char* const name = path.c_str() + path.rfind('/') + 1;
  for (ssize_t at = 0; at < n;) {
    const auto* const event = reinterpret_cast<const inotify_event*>(buffer + at);
    const bool named = event->len > 0 && std::strcmp(event->name, name) == 0;
    if (!own_folder || named || (event->mask & (IN_DELETE_SELF | IN_MOVE_SELF | IN_IGNORED | IN_Q_OVERFLOW)) != 0) {
      return true;
    }
    at += static_cast<ssize_t>(sizeof *event + event->len);
  }
  return false;
}

}  // namespace

int connect_to_owner(const char* path) {
  if (!ipc::is_trusted_socket(path)) return -EPERM;
  const int fd = ipc::connect_plain(path, true, kPatience_ms);
  if (fd < 0 || ipc::is_trusted_peer(fd)) return fd;
  ::close(fd);
  return -EPERM;
}

int wait_for_owner(const char* path_text) {
  const std::string path = path_text;
  for (;;) {
    if (const int fd = connect_to_owner(path_text); fd >= 0) return fd;
    const int inotify = ::inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    if (inotify < 0) {
      wait(-1, kSlowPause_ms);
      continue;
    }
    const bool own_folder = watch(inotify, path);
    // Once more, now that nothing escapes us.
    int fd = connect_to_new(path_text);
    while (fd < 0) {
      wait(inotify, -1);
      if (is_about(inotify, path, own_folder)) {
        // The folder that is watched may be gone, or there may be a nearer one.
        fd = connect_to_new(path_text);
        break;
      }
      wait(-1, kPause_ms);
    }
    ::close(inotify);
    if (fd >= 0) return fd;
    wait(-1, kPause_ms);
  }
}

}  // namespace landtrace::client
