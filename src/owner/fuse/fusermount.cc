#include "fuse/fusermount.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <array>
#include <cstring>
#include <string_view>
#include <vector>

#include "base/child_end.hpp"

extern char** environ;

namespace landtrace::fuse::fusermount {
namespace {

constexpr const char* kProgram = "fusermount3";

// The environment with `_FUSE_COMMFD`, by which the program learns where to send the descriptor.
std::vector<std::string> environment_with(int socket) {
  constexpr std::string_view kName = "_FUSE_COMMFD=";
  std::vector<std::string> all;
  for (char** at = environ; *at != nullptr; ++at) {
    if (!std::string_view(*at).starts_with(kName)) all.emplace_back(*at);
  }
  if (socket >= 0) all.push_back(std::string(kName) + std::to_string(socket));
  return all;
}

std::vector<char*> pointers_to(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

std::string read_all(int fd) {
  std::string text;
  std::array<char, 1024> some{};
  ssize_t got = 0;
  while ((got = ::read(fd, some.data(), some.size())) > 0 || (got < 0 && errno == EINTR)) {
    if (got > 0) text.append(some.data(), static_cast<std::size_t>(got));
  }
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

// Runs it to its end. `socket` (or -1) is open in it.
Result<void> run(std::vector<std::string> arguments, int socket) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return fail_errno("pipe");
  const Fd words(ends[0]);
  Fd its_stderr(ends[1]);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, its_stderr.get(), STDERR_FILENO);
  if (socket >= 0) ::posix_spawn_file_actions_adddup2(&actions, socket, socket);  // without close-on-exec
  auto environment = environment_with(socket);
  pid_t pid = -1;
  const int error =
      ::posix_spawnp(&pid, kProgram, &actions, nullptr, pointers_to(arguments).data(), pointers_to(environment).data());
  ::posix_spawn_file_actions_destroy(&actions);
  its_stderr.reset();
  if (error != 0) return fail_errno(std::string("run ") + kProgram, error);
  std::string said = read_all(words.get());
  const int status = wait_for_end(pid).value_or(0);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
  return fail(EPERM, said.empty() ? std::string(kProgram) + " has failed" : std::move(said));
}

Result<Fd> receive_descriptor(int socket) {
  char byte = 0;
  iovec data{&byte, 1};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  ssize_t got = -1;
  do got = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  while (got < 0 && errno == EINTR);
  if (got < 0) return fail_errno("receive the mount's descriptor");
  const cmsghdr* const head = CMSG_FIRSTHDR(&message);
  if (head == nullptr || head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_RIGHTS) {
    return fail(EPROTO, std::string(kProgram) + " has sent no descriptor");
  }
  int fd = -1;
  std::memcpy(&fd, CMSG_DATA(head), sizeof fd);
  return Fd(fd);
}

}  // namespace

Result<Fd> mount(const std::string& folder, const std::string& options) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return fail_errno("socketpair");
  const Fd ours(ends[0]);
  Fd its(ends[1]);
  LT_CHECK(run({kProgram, "-o", options, "--", folder}, its.get()));
  its.reset();
  return receive_descriptor(ours.get());
}

Result<void> unmount(const std::string& folder) { return run({kProgram, "-u", "-z", "--", folder}, -1); }

}  // namespace landtrace::fuse::fusermount
