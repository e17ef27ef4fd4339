#include "host/server.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <utility>

#include "domain/reaper.hpp"
#include "domain/turn.hpp"
#include "host/bpf_requests.hpp"
#include "host/tree_requests.hpp"

namespace landtrace::host {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

// Looking for readers costs something where a user has filled the segment with them: less often what waits long.
constexpr milliseconds kShortestInterval(5);
constexpr milliseconds kLongestInterval(200);
// Clients that come and go fast must not make the owner look at every thread slot each time.
constexpr milliseconds kReapInterval(100);
// At what they have written where nothing is theirs.
constexpr std::chrono::seconds kLookAtGuests(10);
// At memory that has not answered.
constexpr std::chrono::seconds kMakeUp(1);
// Clients that are let in before the others are served again, and requests of one user.
constexpr int kMostAtOnce = 64;
// Of descriptors that are ready.
constexpr std::size_t kMostReady = 4096;
constexpr std::size_t kMaxDatagram = sizeof(ipc::Request) + ipc::kMaxText;

// A file's last descriptor is closed with the identity unread, so the socket says "reset" once before it gives what was
// written last. Nothing in a file can be too long: that is a write that fails.
bool is_no_end(int error, bool is_file) {
  return error == EAGAIN || (is_file && (error == ECONNRESET || error == EMSGSIZE));
}

Response done_or_not(const Result<void>& result) {
  Response response;
  if (!result) {
    response.reply.error = result.error().code;
    response.text = result.error().message;
  }
  return response;
}

// What reads may take long to make. Of other requests the client asks again itself.
bool is_to_wait(const ipc::Request& request, const Response& response) {
  const bool reads = request.operation == ipc::Operation::kTreeRead || request.operation == ipc::Operation::kHistograms;
  return reads && response.reply.error == tracefs::kNotYet;
}

Fd open_reserve() { return Fd(::open("/dev/null", O_RDONLY | O_CLOEXEC)); }

}  // namespace

Server::Server(domain::Domain& domain, rules::Rules& rules, std::string path, bool owns_path, Fd listener, Fd epoll,
               Fd wake)
    : domain_(domain),
      path_(std::move(path)),
      owns_path_(owns_path),
      listener_(std::move(listener)),
      epoll_(std::move(epoll)),
      clients_(epoll_.get()),
      wake_(std::move(wake)),
      reserve_(open_reserve()),
      proxy_(domain),
      tree_(domain, rules),
      bpf_objects_(domain, rules),
      buffer_(kMaxDatagram),
      second_look_(kMostReady) {}

Result<std::unique_ptr<Server>> Server::create(domain::Domain& domain, rules::Rules& rules, const std::string& path,
                                               Fd listener) {
  const bool owns_path = !listener;
  if (owns_path) {
    LT_TRY(listener, ipc::listen_at(path));
  }
  LT_CHECK(ipc::want_credentials(listener.get()));
  Fd epoll(::epoll_create1(EPOLL_CLOEXEC));
  Fd wake(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!epoll || !wake) return fail_errno("epoll_create1");
  LT_CHECK(watch(epoll.get(), listener.get()));
  LT_CHECK(watch(epoll.get(), wake.get()));
  return std::unique_ptr<Server>(
      new Server(domain, rules, path, owns_path, std::move(listener), std::move(epoll), std::move(wake)));
}

Server::~Server() {
  if (owns_path_) ::unlink(path_.c_str());
}

Result<Fd> Server::keep_out() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return fail_errno("socketpair");
  Fd ours(ends[0]);
  Fd its(ends[1]);
  ::fcntl(its.get(), F_SETFL, O_NONBLOCK);
  LT_CHECK(ipc::want_credentials(its.get()));
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, listener_.get(), nullptr) != 0) return fail_errno("epoll_ctl");
  const std::uint32_t user = ::geteuid();
  if (!domain_.descriptors().take(user, 1)) return fail(EMFILE, "the owner has no connection left");
  LT_CHECK(clients_.add(user, its.get()));
  keep(std::move(its), user);
  return ours;
}

Result<void> Server::let_in() { return watch(epoll_.get(), listener_.get()); }

void Server::stop() {
  // Pairs with the acquire load in run().
  __atomic_store_n(&stopped_, true, __ATOMIC_RELEASE);
  wake();
}

void Server::wake() {
  const std::uint64_t one = 1;
  std::ignore = ::write(wake_.get(), &one, sizeof one);
}

// Only empties the event; keep_house() finds the work.
void Server::was_woken() {
  std::uint64_t count;
  std::ignore = ::read(wake_.get(), &count, sizeof count);
}

void Server::run() {
  domain_.control().mark_owner_alive();
  {
    const std::lock_guard alone(domain_.mutex());
    domain_.serve_by(this);
    for (const std::uint32_t pid : domain_.processes()) watch_process(pid);
  }
  wake();  // what was to be told before is found
  std::vector<epoll_event> events(kMostReady);
  // Pairs with the release store in stop().
  while (!__atomic_load_n(&stopped_, __ATOMIC_ACQUIRE)) {
    const int n = ::epoll_wait(epoll_.get(), events.data(), kMostReady, patience_ms());
    serve_round(std::span(events).first(static_cast<std::size_t>(std::max(n, 0))));
    answer_late();
  }
  const std::lock_guard alone(domain_.mutex());
  domain_.serve_by(nullptr);
  domain_.shut_down();
}

// One user's part of a round. A guest has a turn in all; what is left is ready in the next round, too.
struct Server::Share {
  bool is_guests = false;
  steady_clock::duration used{};
  std::vector<int> fds;    // of connections that asked for something when the round began
  std::size_t served = 0;  // of these

  [[nodiscard]] bool is_used_up() const { return is_guests && used >= domain::Turn::kLength; }
};

// What epoll has reported, by what it is. Numbers of descriptors are given out again: so before anything is closed.
struct Server::Reported {
  std::vector<std::uint32_t> users;  // of whom a connection has something to say
  std::vector<int> processes;        // that have ended
  bool has_newcomers = false;
};

Server::Reported Server::sort_out(std::span<const epoll_event> events) {
  Reported reported;
  for (const epoll_event& event : events) {
    const int fd = event.data.fd;
    if (fd == listener_.get()) {
      reported.has_newcomers = true;
    } else if (fd == wake_.get()) {
      was_woken();
    } else if (processes_.contains(fd)) {
      reported.processes.push_back(fd);
    } else if (const auto uid = clients_.user_of(fd)) {
      reported.users.push_back(*uid);
    }
  }
  return reported;
}

// A file is closed before what its program asks for next, on another connection: closing it and deleting its event must
// not be taken the other way round. Whatever was closed before a request that was reported is seen by looking again.
void Server::serve_round(std::span<const epoll_event> events) {
  const std::lock_guard alone(domain_.mutex());
  domain_.thread_lists().catch_up();  // before a child's own request
  const Reported first = sort_out(events);
  Shares shares;
  for (const auto& users : {first.users, std::exchange(seen_late_, {})}) {
    for (const std::uint32_t uid : users) share_of(uid, shares);
  }
  for (auto& [uid, share] : shares) {
    for (const epoll_event& event : clients_.ready(uid)) share.fds.push_back(event.data.fd);
  }
  Reported second;
  if (!events.empty()) {
    const int n = ::epoll_wait(epoll_.get(), second_look_.data(), kMostReady, 0);
    second = sort_out(std::span(second_look_).first(static_cast<std::size_t>(std::max(n, 0))));
  }
  for (const std::uint32_t uid : second.users) {
    // What epoll has reported it reports after all others the next time: of these it is remembered.
    if (!shares.contains(uid)) seen_late_.push_back(uid);
    serve_ended(uid, share_of(uid, shares));
  }
  if (first.has_newcomers || second.has_newcomers) accept_some();
  for (const auto& processes : {first.processes, second.processes}) {
    for (const int pidfd : processes) process_ended(pidfd);
  }
  serve_clients(shares);
  serve_waiting();
  keep_house();
}

Server::Share& Server::share_of(std::uint32_t uid, Shares& shares) const {
  const auto [entry, is_new] = shares.try_emplace(uid);
  if (is_new) entry->second.is_guests = domain_.registrar().is_guest(uid);
  return entry->second;
}

// One request of each user after the other, however many connections one has. Epoll reports those that are ready in the
// same order again: so who was left out comes first in the next round.
void Server::serve_clients(Shares& shares) {
  for (auto& [uid, share] : shares) {
    std::erase_if(share.fds, [&, uid = uid](int fd) {
      const auto found = connections_.find(fd);
      return found == connections_.end() || found->second.counted_for != uid;  // has ended
    });
  }
  for (auto& [uid, share] : shares) {
    const auto left_out = left_out_.extract(uid);
    if (left_out.empty()) continue;
    const auto first = std::find(share.fds.begin(), share.fds.end(), left_out.mapped());
    if (first != share.fds.end()) std::rotate(share.fds.begin(), first, share.fds.end());
  }
  for (std::size_t i = 0; i < kMostAtOnce; ++i) {
    for (auto& [uid, share] : shares) {
      if (i >= share.fds.size() || share.is_used_up()) continue;
      const auto start = steady_clock::now();
      serve(share.fds[share.served++]);
      share.used += steady_clock::now() - start;
    }
  }
  for (const auto& [uid, share] : shares) {
    if (share.served < share.fds.size()) left_out_.emplace(uid, share.fds[share.served]);
  }
}

// What exceeds its user's share is left for the next round, with all that this user asks for.
void Server::serve_ended(std::uint32_t uid, Share& share) {
  for (const epoll_event& event : clients_.ready(uid)) {
    const auto found = connections_.find(event.data.fd);
    if ((event.events & EPOLLHUP) == 0 || found == connections_.end()) continue;
    for (bool has_more = true; has_more && !share.is_used_up();) {
      const auto start = steady_clock::now();
      has_more = serve_one(found->second);  // what was sent before it ended
      if (!has_more) close_connection(event.data.fd);
      share.used += steady_clock::now() - start;
    }
  }
}

// Listening for threads opens a new descriptor each time. A closed one leaves the epoll set by itself.
void Server::follow_threads() {
  const int fd = domain_.thread_lists().events_fd();
  epoll_event event{.events = EPOLLIN, .data = {.fd = fd}};
  if (fd >= 0) ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event);  // or it is there already
}

// Work that no message of a client asks for.
void Server::keep_house() {
  follow_threads();
  domain_.draw_counter_line();
  const auto now = steady_clock::now();
  if (producers_ended_ && now >= next_reap_) {
    producers_ended_ = false;
    next_reap_ = now + kReapInterval;
    domain::reap(domain_.users(), domain_.instances());
    bpf_objects_.reap();
  }
  if (sweeping_ && (now >= next_sweep_ || ended_.size() > ended_before_)) sweep(now);
  last_words_.speak(now);
  if (now >= next_look_at_guests_) {
    looked_at_guests_ = now;
    next_look_at_guests_ = domain_.look_after_guests() ? now + kLookAtGuests : steady_clock::time_point::max();
  }
  if (now >= next_make_up_) {
    domain_.enable_words().make_up();
    next_make_up_ = steady_clock::time_point::max();
  }
  if (domain_.enable_words().any_unfinished()) next_make_up_ = std::min(next_make_up_, now + kMakeUp);
  if (const auto due = domain_.succession().next_deadline(); due && now >= *due) domain_.maintain();
  if (grace_waits_ && now < next_grace_) return;
  grace_interval_ = grace_waits_ ? std::min(grace_interval_ * 2, kLongestInterval) : kShortestInterval;
  next_grace_ = now + grace_interval_;
  grace_waits_ = domain_.grace().poll();
}

int Server::patience_ms() const {
  if (sweeping_) return static_cast<int>(sweep_interval_.count());
  if (grace_waits_) return static_cast<int>(grace_interval_.count());
  if (producers_ended_) return static_cast<int>(kReapInterval.count());
  auto due = std::min(next_look_at_guests_, next_make_up_);
  if (const auto end = domain_.succession().next_deadline()) due = std::min(due, *end);
  if (const auto words = last_words_.due()) due = std::min(due, *words);
  if (due == steady_clock::time_point::max()) return -1;
  const auto left = std::chrono::ceil<milliseconds>(due - steady_clock::now());
  return static_cast<int>(std::max(left, milliseconds(0)).count());
}

// Without a descriptor for it a client would wait for ever, and the listener would be readable for ever.
bool Server::turn_one_away() {
  reserve_.reset();
  Fd client(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  const bool turned_away = static_cast<bool>(client);
  if (turned_away)
    refuse(client.get(), ENFILE, "the owner of the domain has no descriptor left; raise its `ulimit -n`");
  client.reset();
  reserve_ = open_reserve();
  if (!reserve_) ::usleep(1000);  // another process took the system's last one: do not spin
  return turned_away;
}

// The connection ends, and what it is told stands in it as the answer to what it asks first.
void Server::refuse(int fd, int error, const std::string& why) const {
  Response response = error_response(Error(error, path_ + ": " + why));
  response.reply.text_size = static_cast<std::uint32_t>(response.text.size());
  std::ignore =
      ipc::try_send(fd, std::as_bytes(std::span(&response.reply, 1)), std::as_bytes(std::span(response.text)));
}

// Some at a time: whoever connects again and again must not keep the others from being served.
void Server::accept_some() {
  for (int i = 0; i < kMostAtOnce; ++i) {
    Fd fd(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!fd) {
      const bool full = errno == EMFILE || errno == ENFILE;
      if (full && turn_one_away()) continue;
      return;
    }
    const auto peer = static_cast<std::uint32_t>(ipc::peer_uid(fd.get()));
    if (!domain_.descriptors().take(peer, 1)) {
      refuse(fd.get(), EMFILE, "this user's programs have all connections that they may have");
      continue;
    }
    if (!ipc::want_credentials(fd.get()) || !clients_.add(peer, fd.get())) {
      domain_.descriptors().give_back(peer, 1);
      continue;
    }
    keep(std::move(fd), peer);
  }
}

void Server::keep(Fd fd, std::uint32_t peer) {
  const int key = fd.get();
  Connection connection;
  connection.counted_for = peer;
  next_look_at_guests_ = std::min(next_look_at_guests_, steady_clock::now() + kLookAtGuests);
  connection.in_group = group_ && ipc::peer_is_member(key, *group_);
  connection.fd = std::move(fd);
  connections_.insert_or_assign(key, std::move(connection));
}

// A process with enable words is watched: when it ends, its words go, and with them the events that only they kept.
void Server::watch_process(std::uint32_t pid) {
  if (pidfds_.contains(pid)) return;
  Fd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (!pidfd || !watch(epoll_.get(), pidfd.get())) {
    note_ended(pid);
    return wake();
  }
  const int key = pidfd.get();
  pidfds_.emplace(pid, key);
  processes_.emplace(key, Watched{std::move(pidfd), pid});
}

void Server::note_ended(std::uint32_t pid) {
  ended_.push_back(pid);
  sweeping_ = true;
}

// Memory may be there although its process has ended: for a moment because somebody looks into it (ps, or the kernel),
// for longer because a child has it. Nothing tells when that is over.
void Server::sweep(steady_clock::time_point now) {
  sweep_interval_ = ended_.size() > ended_before_ ? kShortestInterval : std::min(sweep_interval_ * 2, kLongestInterval);
  next_sweep_ = now + sweep_interval_;
  const bool waiting = domain_.processes_ended();
  std::erase_if(
      ended_, [this](std::uint32_t pid) { return pidfds_.contains(pid) || !domain_.enable_words().has_process(pid); });
  ended_before_ = ended_.size();
  sweeping_ = waiting || !ended_.empty();
}

void Server::process_ended(int pidfd) {
  const auto process = processes_.find(pidfd);
  if (process == processes_.end()) return;
  const std::uint32_t pid = process->second.pid;
  pidfds_.erase(pid);
  processes_.erase(process);
  note_ended(pid);
}

void Server::serve(int fd) {
  const auto found = connections_.find(fd);
  if (found != connections_.end() && !serve_one(found->second)) close_connection(fd);
}

Result<domain::FileId> reopen_file(domain::Domain& domain, const ipc::Request& request, std::uint32_t pid,
                                   std::uint32_t uid) {
  const domain::FileId file{request.file_slot, request.file_generation};
  LT_CHECK(domain.registrar().check_named(file, ipc::key_of(request), uid));
  LT_CHECK(domain.files().reopen(file, pid));
  return file;
}

void Server::open_file(Connection& connection, const ipc::Request& request, std::uint32_t pid, std::uint32_t uid) {
  const auto file = request.operation == ipc::Operation::kOpenFile ? domain_.registrar().open_file(uid, pid)
                                                                   : reopen_file(domain_, request, pid, uid);
  ipc::FileIdentity identity;
  if (file) {
    connection.file = *file;
    identity.slot = file->slot;
    identity.generation = file->generation;
    identity.key = domain_.files().key_of(*file);
  } else {
    identity.error = file.error().code;
  }
  const auto told = ipc::try_send(connection.fd.get(), std::as_bytes(std::span(&identity, 1)), {});
  // A program has not waited for so long; its descriptor is the earlier owner's still.
  if (!told && file && request.operation == ipc::Operation::kReopenFile) {
    domain_.files().await_again(*file, pid);
    connection.file = {};
  }
}

void Server::set_mounter(Mounter serve, unsigned abi) {
  mounter_ = std::move(serve);
  abi_ = abi;
}

// From here on the connection may send descriptors. Whoever can reach the files of a mount can do with the domain what
// its user can: so only that user and root make one.
Result<void> Server::offer_mount(Connection& connection, const ipc::Request& request, std::uint32_t uid) const {
  if (!mounter_) return fail(EOPNOTSUPP, "the owner of this domain serves no mounts");
  if (domain_.registrar().is_guest(uid))
    return fail(EPERM, "only the user who runs the domain, and root, may mount it");
  if (request.a != 0 && request.a != abi_) {
    return fail(EINVAL, fmt::format("the domain that runs has the ABI of Linux {}.{}", abi_ / 100, abi_ % 100));
  }
  ipc::want_descriptors(connection.fd.get(), true);
  connection.offers_mount = true;
  return {};
}

Result<void> Server::serve_mount(Connection& connection, MountOffer offer) {
  if (!connection.offers_mount || domain_.registrar().is_guest(offer.who.uid))
    return fail(EPERM, "a mount that was not offered");
  connection.offers_mount = false;
  ipc::want_descriptors(connection.fd.get(), false);
  if (!offer.fuse) return fail(EBADF, "there came no descriptor of a mount");
  return mounter_(std::move(offer));
}

// An event may be held by another connection of the same process: the library's helper has one of its own.
Connection& Server::holder_of(Connection& asking, const ipc::Request& request) {
  const auto holds = [&](const Connection& connection) {
    return std::any_of(connection.native.begin(), connection.native.end(),
                       [&](const HeldEvent& held) { return held.slot == request.a; });
  };
  if (request.operation != ipc::Operation::kReleaseNative || holds(asking)) return asking;
  for (auto& [fd, connection] : connections_) {
    if (connection.pid == asking.pid && connection.uid == asking.uid && holds(connection)) return connection;
  }
  return asking;
}

// False when the connection is to be closed: its last descriptor is, or it does not speak the protocol. What comes down
// a file's connection was written past the shim.
bool Server::serve_one(Connection& connection) {
  const bool is_file = connection.file.generation != 0;
  auto received = ipc::receive(connection.fd.get(), buffer_, MSG_DONTWAIT);
  if (!received) return is_no_end(received.error().code, is_file);
  // An empty write has a sender, the end has none.
  if (received->size == 0 && !received->has_credentials) return false;
  if (is_file) {
    if (received->has_credentials) {
      const iovec bytes{buffer_.data(), received->size};
      std::ignore = proxy_.write(connection.file, received->pid, received->uid, std::span(&bytes, 1));
    }
    return true;
  }
  if (received->size < sizeof(ipc::Request) || !received->has_credentials) return false;
  ipc::Request request;
  std::memcpy(&request, buffer_.data(), sizeof request);
  const bool sound = request.magic == ipc::kRequestMagic && received->size == sizeof request + request.text_size;
  if (!sound) return false;
  connection.pid = received->pid;
  connection.uid = received->uid;
  if (request.operation == ipc::Operation::kOpenFile || request.operation == ipc::Operation::kReopenFile) {
    open_file(connection, request, received->pid, received->uid);
    return true;
  }
  const std::string_view text(reinterpret_cast<const char*>(buffer_.data()) + sizeof request, request.text_size);
  const programs::Identity who{received->uid, received->gid};
  Response response;
  if (request.operation == ipc::Operation::kOfferMount) {
    response = done_or_not(offer_mount(connection, request, who.uid));
  } else if (request.operation == ipc::Operation::kServeMount) {
    response = done_or_not(serve_mount(connection, {std::move(received->fds[0]), text, received->pid, who}));
  } else {
    response = carry_out(connection, request, text, received->pid, who);
  }
  if (domain_.enable_words().has_process(received->pid)) watch_process(received->pid);
  if (is_to_wait(request, response) && !connection.waiting) {
    connection.waiting.emplace(WaitingRequest{request, std::string(text), received->pid, who});
    waiting_.push_back(connection.fd.get());
    return true;
  }
  return finish(connection, std::move(response));
}

Response Server::carry_out(Connection& connection, const ipc::Request& request, std::string_view text,
                           std::uint32_t pid, programs::Identity who) {
  if (request.version == ipc::kProtocolVersion && is_tree_request(request.operation)) {
    return handle_tree_request(tree_, connection, {pid, who}, request, text);
  }
  if (request.version == ipc::kProtocolVersion && is_bpf_request(request.operation)) {
    return handle_bpf_request(bpf_objects_, domain_, connection, pid, who, request, text);
  }
  return handle_request(domain_, tree_.context().rules, holder_of(connection, request), pid, who, request, text);
}

bool Server::finish(Connection& connection, Response response) {
  if (response.text.size() > ipc::kMaxText) response.text.resize(ipc::kMaxText);
  // Descriptors are not kept: a request that comes meanwhile may close them.
  const bool has_descriptors = response.fds[0] >= 0 || response.fds[1] >= 0;
  if (has_descriptors || !domain_.status_pages().arrivals().are_awaited()) return answer(connection, response);
  late_answers_.emplace_back(connection.fd.get(), std::move(response));
  return true;
}

// Whoever makes an answer wakes this thread when it is there.
void Server::serve_waiting() {
  for (const int fd : std::exchange(waiting_, {})) {
    const auto found = connections_.find(fd);
    if (found == connections_.end() || !found->second.waiting) continue;
    Connection& connection = found->second;
    const WaitingRequest& waiting = *connection.waiting;
    Response response = carry_out(connection, waiting.request, waiting.text, waiting.pid, waiting.who);
    if (is_to_wait(waiting.request, response)) {
      waiting_.push_back(fd);
      continue;
    }
    connection.waiting.reset();
    if (!finish(connection, std::move(response))) close_connection(fd);
  }
}

// A client that does not read its replies is not waited for.
bool Server::answer(const Connection& connection, Response response) {
  response.reply.text_size = static_cast<std::uint32_t>(response.text.size());
  return ipc::try_send(connection.fd.get(), std::as_bytes(std::span(&response.reply, 1)),
                       std::as_bytes(std::span(response.text)), response.fds[0], response.fds[1])
      .has_value();
}

// Not while the domain is held: a page may have to be read before it is changed.
void Server::answer_late() {
  if (late_answers_.empty()) return;
  domain_.status_pages().arrivals().wait();
  const std::lock_guard alone(domain_.mutex());
  for (auto& [fd, response] : std::exchange(late_answers_, {})) {
    const auto found = connections_.find(fd);
    if (found != connections_.end() && !answer(found->second, std::move(response))) close_connection(fd);
  }
}

void Server::close_connection(int fd) {
  // What goes with it is up to thousands of events, and hundreds of links.
  const domain::Journal::Batch written_together(domain_.succession().journal());
  const domain::Listening::Batch shown_together(domain_.listening());
  auto node = connections_.extract(fd);
  std::erase_if(late_answers_, [fd](const auto& late) { return late.first == fd; });
  std::erase(waiting_, fd);
  std::erase_if(left_out_, [fd](const auto& left) { return left.second == fd; });
  Connection& connection = node.mapped();
  clients_.remove(connection.counted_for);
  domain_.descriptors().give_back(connection.counted_for, 1);
  if (domain_.descriptors().taken_by(connection.counted_for) == 0) {
    // At once, but a guest that comes and goes does not have its memory given back each time.
    next_look_at_guests_ = std::min(next_look_at_guests_, looked_at_guests_ + kLookAtGuests);
  }
  if (connection.file.generation != 0) domain_.files().close(connection.file);
  for (const auto& [slot, uid] : connection.native) domain_.events().drop_reference(slot, uid);
  if (connection.session != 0) domain::destroy_instance(connection.session, domain_.listening(), domain_.instances());
  last_words_.take(std::move(connection.last_words), steady_clock::now());
  producers_ended_ = true;
}

}  // namespace landtrace::host
