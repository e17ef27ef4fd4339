#include "host/server.hpp"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <condition_variable>
#include <cstring>
#include <utility>

namespace landtrace::host {
namespace {

constexpr int kGraceInterval_ms = 5;
constexpr std::size_t kMaxDatagram = sizeof(ipc::Request) + ipc::kMaxText;

Result<void> watch(int epoll, int fd) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = fd;
  if (::epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) != 0) return fail_errno("epoll_ctl");
  return {};
}

}  // namespace

Server::Server(domain::Domain& domain, std::string path, Fd listener, Fd epoll, Fd wake)
    : domain_(domain),
      path_(std::move(path)),
      listener_(std::move(listener)),
      epoll_(std::move(epoll)),
      wake_(std::move(wake)),
      buffer_(kMaxDatagram) {}

Result<std::unique_ptr<Server>> Server::create(domain::Domain& domain, const std::string& path) {
  LT_TRY(Fd listener, ipc::listen_at(path));
  LT_CHECK(ipc::want_credentials(listener.get()));
  Fd epoll(::epoll_create1(EPOLL_CLOEXEC));
  Fd wake(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!epoll || !wake) return fail_errno("epoll_create1");
  LT_CHECK(watch(epoll.get(), listener.get()));
  LT_CHECK(watch(epoll.get(), wake.get()));
  return std::unique_ptr<Server>(
      new Server(domain, path, std::move(listener), std::move(epoll), std::move(wake)));
}

Server::~Server() { ::unlink(path_.c_str()); }

void Server::stop() {
  __atomic_store_n(&stopped_, true, __ATOMIC_RELEASE);
  const std::uint64_t one = 1;
  std::ignore = ::write(wake_.get(), &one, sizeof one);
}

void Server::call(std::function<void()> task) {
  bool done = false;
  {
    const std::lock_guard lock(mutex_);
    tasks_.push_back({std::move(task), &done});
  }
  const std::uint64_t one = 1;
  std::ignore = ::write(wake_.get(), &one, sizeof one);
  while (!__atomic_load_n(&done, __ATOMIC_ACQUIRE)) ::usleep(20);
}

void Server::run_tasks() {
  std::uint64_t count;
  std::ignore = ::read(wake_.get(), &count, sizeof count);
  std::vector<Task> tasks;
  {
    const std::lock_guard lock(mutex_);
    tasks.swap(tasks_);
  }
  for (Task& task : tasks) {
    task.run();
    __atomic_store_n(task.done, true, __ATOMIC_RELEASE);
  }
}

void Server::run() {
  domain_.control().mark_owner_alive();
  std::array<epoll_event, 64> events;
  bool waiting = false;
  while (!__atomic_load_n(&stopped_, __ATOMIC_ACQUIRE)) {
    const int n = ::epoll_wait(epoll_.get(), events.data(), events.size(), waiting ? kGraceInterval_ms : -1);
    for (int i = 0; i < n; ++i) {
      const int fd = events[static_cast<std::size_t>(i)].data.fd;
      if (fd == listener_.get()) {
        accept_all();
      } else if (fd == wake_.get()) {
        run_tasks();
      } else {
        serve(fd);
      }
    }
    if (std::exchange(producers_ended_, false)) domain_.producers_ended();
    if (sweeping_) sweeping_ = domain_.enable_words().sweep();
    waiting = domain_.grace().poll() || sweeping_;
  }
  run_tasks();
  domain_.shut_down();
}

void Server::accept_all() {
  for (;;) {
    Fd fd(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!fd) return;
    ucred peer{};
    socklen_t size = sizeof peer;
    if (::getsockopt(fd.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) continue;
    if (!ipc::want_credentials(fd.get()) || !watch(epoll_.get(), fd.get())) continue;
    const int key = fd.get();
    connections_.insert_or_assign(
        key, Connection{std::move(fd), static_cast<std::uint32_t>(peer.pid), peer.uid, {}, {}, 0});
  }
}

// A process with enable words is watched: when it ends, its words go, and with them the events that only they kept.
void Server::watch_process(std::uint32_t pid) {
  if (!domain_.enable_words().has_process(pid) || pidfds_.contains(pid)) return;
  Fd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (!pidfd || !watch(epoll_.get(), pidfd.get())) return;  // found out later, by sweep()
  const int key = pidfd.get();
  pidfds_.emplace(pid, key);
  processes_.emplace(key, Watched{std::move(pidfd), pid});
}

void Server::serve(int fd) {
  if (const auto process = processes_.find(fd); process != processes_.end()) {
    pidfds_.erase(process->second.pid);
    processes_.erase(process);
    sweeping_ = true;
    return;
  }
  const auto found = connections_.find(fd);
  if (found != connections_.end() && !serve_one(found->second)) close_connection(fd);
}

void Server::open_file(Connection& connection) {
  ipc::FileIdentity identity;
  if (auto file = domain_.files().open(connection.uid)) {
    connection.file = *file;
    identity.slot = file->slot;
    identity.generation = file->generation;
  } else {
    identity.error = file.error().code;
  }
  std::ignore = ipc::try_send(connection.fd.get(), std::as_bytes(std::span(&identity, 1)), {});
}

// False when the connection is to be closed: its last descriptor is, or it does not speak the protocol. What comes down a
// file's connection was written past the shim (a raw system call) and is nothing to the owner.
bool Server::serve_one(Connection& connection) {
  auto received = ipc::receive(connection.fd.get(), buffer_, MSG_DONTWAIT);
  if (!received) return received.error().code == EAGAIN;
  if (received->size == 0) return false;
  if (connection.file.generation != 0) return true;
  if (received->size < sizeof(ipc::Request) || !received->has_credentials) return false;
  ipc::Request request;
  std::memcpy(&request, buffer_.data(), sizeof request);
  const bool sound = request.magic == ipc::kRequestMagic &&
                     received->size == sizeof request + request.text_size;
  if (!sound) return false;
  if (request.operation == ipc::Operation::kOpenFile) {
    open_file(connection);
    return true;
  }
  const std::string_view text(reinterpret_cast<const char*>(buffer_.data()) + sizeof request, request.text_size);
  Response response =
      handle_request(domain_, connection, received->pid, received->uid, ::geteuid(), request, text);
  watch_process(received->pid);
  if (response.text.size() > ipc::kMaxText) response.text.resize(ipc::kMaxText);
  response.reply.text_size = static_cast<std::uint32_t>(response.text.size());
  // A client that does not read its replies is not waited for.
  return ipc::try_send(connection.fd.get(), std::as_bytes(std::span(&response.reply, 1)),
                   std::as_bytes(std::span(response.text)), response.fds[0], response.fds[1])
      .has_value();
}

void Server::close_connection(int fd) {
  auto node = connections_.extract(fd);
  Connection& connection = node.mapped();
  if (connection.file.generation != 0) domain_.files().close(connection.file);
  for (const std::uint32_t slot : connection.native) domain_.release_native(slot);
  if (connection.session != 0) domain_.destroy_instance(connection.session);
  producers_ended_ = true;
}

}  // namespace landtrace::host
