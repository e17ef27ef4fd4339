#include "ui/serving/server.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <list>

#include "base/fd.hpp"

namespace landtrace::ui {
namespace {

constexpr std::size_t kMostBody = 64 * 1024;
constexpr std::size_t kMostWaiting = 1u << 20;  // bytes of a stream
constexpr unsigned kMostConnections = 64;
constexpr unsigned kPatience_s = 30;

struct Address {
  sockaddr_storage bytes{};
  socklen_t size = 0;
  bool is_loopback = false;
  bool is_any = false;
};

Result<Address> parse_address(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  std::uint16_t port = 0;
  const char* const end = text.data() + text.size();
  const auto mistake = [&] { return fail(EINVAL, fmt::format("--listen '{}': want 127.0.0.1:PORT", text)); };
  if (colon == std::string::npos) return mistake();
  const auto [behind, error] = std::from_chars(text.data() + colon + 1, end, port);
  if (error != std::errc{} || behind != end) return mistake();
  std::string host = text.substr(0, colon);
  if (host == "localhost") host = "127.0.0.1";
  Address address;
  if (host.starts_with('[') && host.ends_with(']')) {
    auto& six = reinterpret_cast<sockaddr_in6&>(address.bytes);
    if (::inet_pton(AF_INET6, host.substr(1, host.size() - 2).c_str(), &six.sin6_addr) != 1) return mistake();
    six.sin6_family = AF_INET6;
    six.sin6_port = htons(port);
    address.size = sizeof six;
    address.is_loopback = IN6_IS_ADDR_LOOPBACK(&six.sin6_addr);
    address.is_any = IN6_IS_ADDR_UNSPECIFIED(&six.sin6_addr);
    return address;
  }
  auto& four = reinterpret_cast<sockaddr_in&>(address.bytes);
  if (::inet_pton(AF_INET, host.c_str(), &four.sin_addr) != 1) return mistake();
  four.sin_family = AF_INET;
  four.sin_port = htons(port);
  address.size = sizeof four;
  address.is_loopback = ntohl(four.sin_addr.s_addr) >> 24 == 127;
  address.is_any = four.sin_addr.s_addr == INADDR_ANY;
  return address;
}

Result<Fd> listen_at(const Address& address, const std::string& text) {
  Fd fd(::socket(address.bytes.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const int on = 1;
  if (!fd || ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
      ::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address.bytes), address.size) != 0 ||
      ::listen(fd.get(), SOMAXCONN) != 0) {
    return fail_errno(text);
  }
  return fd;
}

std::uint16_t port_of(int fd) {
  sockaddr_storage bytes{};
  socklen_t size = sizeof bytes;
  ::getsockname(fd, reinterpret_cast<sockaddr*>(&bytes), &size);
  return ntohs(bytes.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6&>(bytes).sin6_port
                                           : reinterpret_cast<sockaddr_in&>(bytes).sin_port);
}

struct Stream {
  MHD_Connection* connection;
  std::list<Stream>* all;
  std::list<Stream>::iterator self;
  const Server::Calls* calls;
  std::string waiting;
  bool is_suspended = false;
  bool is_behind = false;  // it has missed messages: all is told anew when it has taken what waits
};

std::string as_event(const std::string& message) { return "data: " + message + "\n\n"; }

// More of a stream. Without anything to give it sleeps until send() wakes it.
ssize_t give_more(void* closure, std::uint64_t, char* to, std::size_t room) {
  auto& stream = *static_cast<Stream*>(closure);
  if (stream.waiting.empty()) {
    stream.is_suspended = true;
    MHD_suspend_connection(stream.connection);
    return 0;
  }
  const std::size_t count = std::min(room, stream.waiting.size());
  std::memcpy(to, stream.waiting.data(), count);
  stream.waiting.erase(0, count);
  if (stream.waiting.empty() && std::exchange(stream.is_behind, false)) {
    stream.waiting = as_event(stream.calls->greeting());
  }
  return static_cast<ssize_t>(count);
}

void forget_stream(void* closure) {
  auto& stream = *static_cast<Stream*>(closure);
  stream.all->erase(stream.self);
}

class HttpServer : public Server {
 public:
  HttpServer(Calls calls, Access access, std::string address, bool is_loopback)
      : calls_(std::move(calls)), access_(std::move(access)), address_(std::move(address)), is_loopback_(is_loopback) {}
  ~HttpServer() override {
    if (daemon_ == nullptr) return;
    wake_all();
    MHD_stop_daemon(daemon_);
  }

  Result<void> begin(Fd listening) {
    daemon_ = MHD_start_daemon(MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME, 0, nullptr, nullptr, &HttpServer::take, this,
                               MHD_OPTION_LISTEN_SOCKET, listening.get(), MHD_OPTION_CONNECTION_LIMIT, kMostConnections,
                               MHD_OPTION_CONNECTION_TIMEOUT, kPatience_s, MHD_OPTION_NOTIFY_COMPLETED,
                               &HttpServer::complete, nullptr, MHD_OPTION_END);
    if (daemon_ == nullptr) return fail(EIO, "the HTTP server does not start");
    (void)listening.release();  // the daemon closes it
    return {};
  }

  [[nodiscard]] std::string address() const override { return address_; }
  [[nodiscard]] bool is_open_to_others() const override { return !is_loopback_; }
  [[nodiscard]] std::size_t streams() const override { return streams_.size(); }

  void run(int timeout_ms) override {
    MHD_UNSIGNED_LONG_LONG wanted_ms = 0;
    if (MHD_get_timeout(daemon_, &wanted_ms) == MHD_YES) {
      timeout_ms = static_cast<int>(std::min<std::uint64_t>(static_cast<std::uint64_t>(timeout_ms), wanted_ms));
    }
    pollfd waited{MHD_get_daemon_info(daemon_, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd, POLLIN, 0};
    ::poll(&waited, 1, timeout_ms);
    MHD_run(daemon_);
  }

  void send(const std::string& message) override {
    for (Stream& stream : streams_) {
      // Each says what has changed since the one before it: without one the others are worth nothing.
      stream.is_behind = stream.is_behind || stream.waiting.size() >= kMostWaiting;
      if (!stream.is_behind) stream.waiting += as_event(message);
    }
    wake_all();
  }

 private:
  void wake_all() {
    for (Stream& stream : streams_) {
      if (!std::exchange(stream.is_suspended, false)) continue;
      MHD_resume_connection(stream.connection);
    }
  }

  static MHD_Result take(void* self, MHD_Connection* connection, const char* path, const char* method, const char*,
                         const char* body, std::size_t* body_size, void** request) {
    return static_cast<HttpServer*>(self)->take(connection, path, method, body, *body_size, request);
  }
  static void complete(void*, MHD_Connection*, void** request, MHD_RequestTerminationCode) {
    delete static_cast<Request*>(*request);
    *request = nullptr;
  }

  // Is called with the head, with each piece of the body, and at its end.
  MHD_Result take(MHD_Connection* connection, const char* path, const char* method, const char* body,
                  std::size_t& body_size, void** closure) {
    auto*& request = reinterpret_cast<Request*&>(*closure);
    if (request == nullptr) {
      request = new Request{method, path, {}, {}};
      return MHD_YES;
    }
    if (body_size > 0) {
      if (request->body.size() <= kMostBody) request->body.append(body, body_size);
      body_size = 0;
      return MHD_YES;
    }
    const auto header = [&](const char* name) {
      const char* const value = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
      return std::string_view(value == nullptr ? "" : value);
    };
    const auto behind = access_.check({request->method, request->path, header("Host"), header("Origin"),
                                       header("Sec-Fetch-Site"), header("X-Landtrace")});
    if (!behind) return give(connection, {403, "text/plain; charset=utf-8", "forbidden\n"});
    if (request->body.size() > kMostBody) return give(connection, {413, "text/plain; charset=utf-8", "too long\n"});
    request->path = *behind;
    MHD_get_connection_values(connection, MHD_GET_ARGUMENT_KIND, &HttpServer::add_argument, request);
    if (request->method == "GET" && request->path == "stream") return begin_stream(connection);
    return give(connection, calls_.answer(*request));
  }

  static MHD_Result add_argument(void* request, MHD_ValueKind, const char* name, const char* value) {
    static_cast<Request*>(request)->arguments[name] = value == nullptr ? "" : value;
    return MHD_YES;
  }

  static MHD_Result queue(MHD_Connection* connection, unsigned status, MHD_Response* response, const std::string& type,
                          const std::string& file = {}) {
    if (response == nullptr) return MHD_NO;
    MHD_add_response_header(response, "Content-Type", type.c_str());
    MHD_add_response_header(response, "Cache-Control", "no-store");
    MHD_add_response_header(response, "Referrer-Policy", "no-referrer");
    MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
    MHD_add_response_header(response, "X-Frame-Options", "DENY");
    MHD_add_response_header(response, "Cross-Origin-Resource-Policy", "same-origin");
    if (!file.empty()) {
      MHD_add_response_header(response, "Content-Disposition", fmt::format("attachment; filename={}", file).c_str());
    }
    const MHD_Result queued = MHD_queue_response(connection, status, response);
    MHD_destroy_response(response);
    return queued;
  }

  static MHD_Result give(MHD_Connection* connection, const Answer& answer) {
    MHD_Response* const response = MHD_create_response_from_buffer(
        answer.body.size(), const_cast<char*>(answer.body.data()), MHD_RESPMEM_MUST_COPY);
    return queue(connection, answer.status, response, answer.type, answer.file);
  }

  MHD_Result begin_stream(MHD_Connection* connection) {
    MHD_set_connection_option(connection, MHD_CONNECTION_OPTION_TIMEOUT, 0u);
    streams_.push_back({connection, &streams_, {}, &calls_, as_event(calls_.greeting())});
    Stream& stream = streams_.back();
    stream.self = std::prev(streams_.end());
    MHD_Response* const response =
        MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, 64 * 1024, &give_more, &stream, &forget_stream);
    return queue(connection, 200, response, "text/event-stream");
  }

  Calls calls_;
  Access access_;
  std::string address_;
  bool is_loopback_;
  MHD_Daemon* daemon_ = nullptr;
  std::list<Stream> streams_;
};

}  // namespace

Result<std::unique_ptr<Server>> Server::start(const std::string& listen, const std::string& token, Calls calls) {
  LT_TRY(const Address address, parse_address(listen));
  LT_TRY(Fd listening, listen_at(address, listen));
  const std::uint16_t port = port_of(listening.get());
  std::string host = listen.substr(0, listen.rfind(':'));
  if (host == "localhost") host = "127.0.0.1";
  std::vector<std::string> hosts{fmt::format("{}:{}", host, port)};
  if (address.is_loopback) hosts.push_back(fmt::format("localhost:{}", port));
  if (address.is_any) hosts.push_back(fmt::format("*:{}", port));
  auto server =
      std::make_unique<HttpServer>(std::move(calls), Access(token, hosts), hosts.front(), address.is_loopback);
  LT_CHECK(server->begin(std::move(listening)));
  return server;
}

}  // namespace landtrace::ui
