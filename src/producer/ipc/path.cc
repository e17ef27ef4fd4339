#include "ipc/path.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

#include "base/fd.hpp"
#include "ipc/socket.hpp"

namespace landtrace::ipc {
namespace {

constexpr std::uint32_t kOverflowUid = 65534;
constexpr std::size_t kLongestFolder = 90;  // a socket's path has 107 bytes

// In the order in which they are looked at.
std::vector<std::string> folder_names() {
  const std::string uid = std::to_string(::geteuid());
  std::vector<std::string> names;
  const auto add = [&](const char* parent, const char* name) {
    if (parent != nullptr && parent[0] == '/') names.push_back(std::string(parent) + name);
  };
  add(::secure_getenv("XDG_RUNTIME_DIR"), "/landtrace");
  names.push_back("/tmp/landtrace-" + uid);
  names.push_back("/run/user/" + uid + "/landtrace");
  add(::secure_getenv("HOME"), "/.landtrace");
  for (const char* const parent : {"/var/tmp", "/dev/shm"}) names.push_back(std::string(parent) + "/landtrace-" + uid);
  std::erase_if(names, [](const std::string& name) { return name.size() > kLongestFolder; });
  return names;
}

// Every user who has no number in a user namespace has this one there.
bool numbers_are_ambiguous() {
  const auto map = read_file("/proc/self/uid_map", 4096);
  if (!map) return true;
  unsigned first = 1, outside = 1, count = 0;
  return std::sscanf(map->c_str(), "%u %u %u", &first, &outside, &count) != 3 || first != 0 || outside != 0 ||
         count != ~0u;
}

// Whether we and whoever has this number may be different users.
bool is_ambiguous(std::int64_t uid) {
  return uid == std::int64_t{kOverflowUid} && ::geteuid() == kOverflowUid && numbers_are_ambiguous();
}

bool others_may_write(const struct stat& folder) { return (folder.st_mode & (S_IWGRP | S_IWOTH)) != 0; }

// By what the system lets a folder's owner alone do, whatever the numbers: open it with O_NOATIME.
bool is_own_folder(const char* path) {
  const Fd folder(::open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NOATIME | O_CLOEXEC));
  struct stat st {};
  return folder && ::fstat(folder.get(), &st) == 0 && st.st_uid == ::geteuid() && !others_may_write(st);
}

bool is_in_own_folder(const char* path) {
  char folder[PATH_MAX];
  const char* const name = std::strrchr(path, '/');
  const auto size = static_cast<std::size_t>(name == nullptr ? 0 : name - path);
  if (size == 0 || size >= sizeof folder) return false;
  std::memcpy(folder, path, size);
  folder[size] = '\0';
  return is_own_folder(folder);
}

enum class Folder { kMissing, kForeign, kRoots, kOwn };

Folder look_at(const std::string& path) {
  struct stat st {};
  if (::lstat(path.c_str(), &st) != 0) return errno == ENOENT ? Folder::kMissing : Folder::kForeign;
  const bool is_ours = is_trusted(st.st_uid) || (is_ambiguous(st.st_uid) && is_own_folder(path.c_str()));
  if (!S_ISDIR(st.st_mode) || others_may_write(st) || !is_ours) return Folder::kForeign;
  return st.st_uid == ::geteuid() ? Folder::kOwn : Folder::kRoots;
}

bool could_be_made(const std::string& path) {
  return ::faccessat(AT_FDCWD, path.substr(0, path.rfind('/')).c_str(), W_OK | X_OK, AT_EACCESS) == 0;
}

// The one that runtime_folder() gives to an owner: a domain is looked for where it will be, before there is one, too.
std::string folder_name() {
  const int saved_errno = errno;
  std::string first_missing;
  for (std::string& name : folder_names()) {
    const Folder folder = look_at(name);
    const bool is_it = folder == Folder::kMissing ? could_be_made(name) : folder != Folder::kForeign;
    if (is_it) {
      errno = saved_errno;
      return std::move(name);
    }
    if (folder == Folder::kMissing && first_missing.empty()) first_missing = std::move(name);
  }
  errno = saved_errno;
  return first_missing.empty() ? "/nonexistent/landtrace" : first_missing;
}

bool is_system_socket() {
  struct stat st {};
  return ::lstat(kSystemSocket, &st) == 0 && S_ISSOCK(st.st_mode) && st.st_uid == 0;
}

// A socket whose owner was killed stays behind: only an answer counts.
bool is_served(const std::string& path) {
  if (!is_trusted_socket(path.c_str())) return false;
  const int fd = connect_plain(path.c_str(), true);
  if (fd >= 0) ::close(fd);
  // One that lets nobody in, or has no time, is there.
  return fd >= 0 || (fd != -ENOENT && fd != -ECONNREFUSED);
}

}  // namespace

bool is_trusted(std::int64_t uid) {
  const std::uint32_t own = ::geteuid();
  if (uid != 0 && uid != std::int64_t{own}) return false;
  return !is_ambiguous(uid);
}

bool is_trusted_socket(const char* path) {
  const int saved_errno = errno;
  struct stat st {};
  const bool is_foreign =
      ::stat(path, &st) == 0 && !is_trusted(st.st_uid) && !(is_ambiguous(st.st_uid) && is_in_own_folder(path));
  errno = saved_errno;
  return !is_foreign;
}

bool is_trusted_peer(int fd) {
  const std::int64_t uid = peer_uid(fd);
  if (is_trusted(uid)) return true;
  const int saved_errno = errno;
  ucred peer{};
  socklen_t size = sizeof peer;
  const bool is_ours = is_ambiguous(uid) && ::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
                       peer.pid > 0 && ::kill(peer.pid, 0) == 0;
  errno = saved_errno;
  return is_ours;
}

Result<std::string> runtime_folder() {
  Result<std::string> refused = fail(ENOENT, "there is no folder for sockets; set XDG_RUNTIME_DIR to one of your own");
  bool any_refused = false;
  for (std::string& name : folder_names()) {
    if (look_at(name) == Folder::kMissing) {
      const bool made = ::mkdir(name.c_str(), 0711) == 0 || errno == EEXIST;
      if (!made && !std::exchange(any_refused, true)) refused = fail_errno("mkdir " + name);
    }
    if (look_at(name) == Folder::kOwn) return std::move(name);
  }
  return refused;
}

std::string user_socket() { return folder_name() + "/domain.sock"; }

std::string default_socket() {
  const char* const named = ::secure_getenv(kSocketVariable);
  if (named != nullptr && named[0] != '\0') return named;
  std::string own = user_socket();
  const int saved_errno = errno;
  const bool use_system = is_system_socket() && !is_served(own);
  errno = saved_errno;
  return use_system ? kSystemSocket : own;
}

}  // namespace landtrace::ipc
