#include "client/fake_owner.hpp"

#include <climits>
#include <cstdlib>
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "base/mapping.hpp"
#include "base/test_wait.hpp"
#include "ipc/path.hpp"
#include "ipc/socket.hpp"

namespace landtrace::client {
namespace {

std::uint32_t peer_pid(int fd) {
  ucred peer{};
  socklen_t size = sizeof peer;
  return ::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 ? static_cast<std::uint32_t>(peer.pid) : 0;
}

}  // namespace

FakeOwner::FakeOwner(std::string path, std::uint32_t uid) : path_(std::move(path)), uid_(uid) {
  thread_ = std::thread([this] { serve(); });
  while (!is_ready_) std::this_thread::yield();
}

FakeOwner::~FakeOwner() { die(); }

void FakeOwner::die() {
  if (!thread_.joinable()) return;
  __atomic_store_n(reinterpret_cast<std::uint32_t*>(&domain_->control().owner_alive), plan::kOwnerDied,
                   __ATOMIC_RELEASE);
  ends_ = true;
  thread_.join();
}

void FakeOwner::answer(ipc::Operation operation, Rule rule) {
  const std::lock_guard lock(mutex_);
  rules_[operation] = std::move(rule);
}

std::vector<Asked> FakeOwner::asked() const {
  const std::lock_guard lock(mutex_);
  return asked_;
}

std::vector<Asked> FakeOwner::asked(ipc::Operation operation) const {
  std::vector<Asked> some;
  for (Asked& one : asked()) {
    if (one.request.operation == operation) some.push_back(std::move(one));
  }
  return some;
}

bool FakeOwner::make_memory() {
  auto control = create_memfd("control", plan::kControlBytes);
  auto data = create_memfd("data", plan::TestDomain::kDataSize);
  if (!control || !data) return false;
  auto control_memory = Mapping::map(control->get(), plan::kControlBytes, Mapping::Access::kReadWrite);
  auto data_memory = Mapping::map(data->get(), plan::TestDomain::kDataSize, Mapping::Access::kReadWrite);
  if (!control_memory || !data_memory) return false;
  domain_.emplace(control_memory->release(), data_memory->release());
  domain_->data().threads[0] = {};
  control_ = *std::move(control);
  data_ = *std::move(data);
  return true;
}

void FakeOwner::serve() {
  constexpr unsigned kUnshare = 1u << 1;  // CLOSE_RANGE_UNSHARE
  ::syscall(SYS_close_range, 3u, UINT_MAX, kUnshare);
  // The call itself changes this thread alone.
  if (uid_ != kNobody) ::syscall(SYS_setresuid, uid_, uid_, uid_);
  const bool has_memory = make_memory();
  auto listener = ipc::listen_at(path_);
  EXPECT_TRUE(has_memory && listener) << "no owner at " << path_;
  is_ready_ = true;
  std::vector<Connection> connections;
  for (int number = 0; !ends_ && listener;) {
    std::vector<pollfd> waiting{{listener->get(), POLLIN, 0}};
    for (const Connection& connection : connections) waiting.push_back({connection.fd.get(), POLLIN, 0});
    constexpr int kLookAgain_ms = 2;
    if (::poll(waiting.data(), waiting.size(), kLookAgain_ms) <= 0) continue;
    for (std::size_t i = waiting.size() - 1; i > 0; --i) {
      if (waiting[i].revents == 0 || serve_one(connections[i - 1])) continue;
      connections.erase(connections.begin() + static_cast<std::ptrdiff_t>(i - 1));
      --open_connections_;
    }
    if ((waiting[0].revents & POLLIN) != 0) {
      connections.push_back({Fd(::accept4(listener->get(), nullptr, nullptr, SOCK_CLOEXEC)), number++});
      ++open_connections_;
    }
  }
  ::unlink(path_.c_str());
  control_.reset();
  data_.reset();
  open_connections_ = 0;
}

// False: the connection has ended.
bool FakeOwner::serve_one(const Connection& connection) {
  std::string buffer(sizeof(ipc::Request) + ipc::kMaxText, '\0');
  const ssize_t size = ::recv(connection.fd.get(), buffer.data(), buffer.size(), 0);
  if (size < static_cast<ssize_t>(sizeof(ipc::Request))) return false;
  Asked asked{{},
              buffer.substr(sizeof(ipc::Request), static_cast<std::size_t>(size) - sizeof(ipc::Request)),
              connection.number,
              peer_pid(connection.fd.get())};
  std::memcpy(&asked.request, buffer.data(), sizeof asked.request);
  Rule rule;
  {
    const std::lock_guard lock(mutex_);
    asked_.push_back(asked);
    const auto found = rules_.find(asked.request.operation);
    if (found != rules_.end()) rule = found->second;
  }
  return reply(connection.fd.get(), rule ? rule(asked) : by_itself(asked));
}

bool FakeOwner::reply(int fd, const FakeAnswer& answer) const {
  switch (answer.kind) {
    case FakeAnswer::Kind::kSilence:
      return true;
    case FakeAnswer::Kind::kHangUp:
      return false;
    case FakeAnswer::Kind::kGarbage:
      return ::send(fd, "garbage", 7, MSG_NOSIGNAL) == 7;
    case FakeAnswer::Kind::kIdentity:
      return ::send(fd, &answer.identity, sizeof answer.identity, MSG_NOSIGNAL) > 0;
    case FakeAnswer::Kind::kReply:
      break;
  }
  ipc::Reply head = answer.reply;
  head.text_size = static_cast<std::uint32_t>(answer.text.size());
  const auto bytes = std::as_bytes(std::span(&head, 1));
  const auto text = std::as_bytes(std::span(answer.text));
  if (answer.sends_segments) return ipc::send(fd, bytes, text, control_.get(), data_.get()).has_value();
  const Fd file(answer.file.empty() ? -1 : ::open(answer.file.c_str(), O_RDONLY | O_CLOEXEC));
  return ipc::send(fd, bytes, text, file.get()).has_value();
}

FakeAnswer FakeOwner::by_itself(const Asked& asked) {
  FakeAnswer answer;
  switch (asked.request.operation) {
    case ipc::Operation::kAttach:
      answer = FakeAnswer::number(0, plan::TestDomain::kDataSize, asked.pid);
      answer.sends_segments = true;
      break;
    case ipc::Operation::kRegisterNative:
    case ipc::Operation::kHoldEvent:
      answer = FakeAnswer::number(slot_of(asked.text));
      break;
    case ipc::Operation::kOpenFile:
      answer.kind = FakeAnswer::Kind::kIdentity;
      answer.identity.slot = 1;
      answer.identity.generation = 77;
      break;
    default:
      break;
  }
  return answer;
}

std::uint32_t FakeOwner::slot_of(const std::string& text) {
  const auto [place, is_new] = slots_.try_emplace(text, plan::kFirstEventSlot + slots_.size());
  if (is_new) {
    plan::EventSlot& slot = domain_->control().events[place->second];
    slot.registered = 1;
    slot.generation = 1000 + place->second;
  }
  return place->second;
}

void ClientTest::SetUp() {
  char name[] = "/tmp/landtrace-client-XXXXXX";
  ASSERT_NE(::mkdtemp(name), nullptr);
  ASSERT_EQ(::chmod(name, 0777), 0);
  folder_ = name;
}

void ClientTest::TearDown() {
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

void ClientTest::in_child(const std::function<void()>& body) const {
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    constexpr unsigned kLongest_s = 120;
    ::alarm(kLongest_s);
    ::setenv(ipc::kSocketVariable, path().c_str(), 1);
    ::unsetenv("LANDTRACE_BACKEND");
    ::unsetenv("LANDTRACE_WRITER");
    body();
    std::fflush(nullptr);
    ::_exit(HasFailure() ? 1 : 0);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0) << "in the child";
}

bool eventually(const std::function<bool()>& condition) { return comes_true(condition); }

}  // namespace landtrace::client
