#include "metrics/serving/http_server.hpp"

#include <microhttpd.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <tuple>

#include "metrics/own_name.hpp"
#include "metrics/text.hpp"

namespace landtrace::metrics {
namespace {

constexpr unsigned kMostConnections = 32;
constexpr unsigned kPatience_s = 10;

std::string header(MHD_Connection* connection, const char* name) {
  const char* const value = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
  return value == nullptr ? "" : value;
}

MHD_Result handle(void* server, MHD_Connection* connection, const char* path, const char* method, const char*,
                  const char*, std::size_t*, void**) {
  const HttpServer::Answer answer = static_cast<HttpServer*>(server)->answer(
      {method, path, header(connection, MHD_HTTP_HEADER_HOST), header(connection, MHD_HTTP_HEADER_ACCEPT)});
  MHD_Response* const response =
      MHD_create_response_from_buffer(answer.text.size(), const_cast<char*>(answer.text.data()), MHD_RESPMEM_MUST_COPY);
  if (response == nullptr) return MHD_NO;
  MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, answer.type.c_str());
  MHD_add_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
  MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
  const MHD_Result result = MHD_queue_response(connection, answer.status, response);
  MHD_destroy_response(response);
  return result;
}

bool is_loopback(int socket) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  if (::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size) != 0) return true;
  if (address.ss_family == AF_INET) {
    return ntohl(reinterpret_cast<const sockaddr_in&>(address).sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
  }
  if (address.ss_family == AF_INET6) {
    return IN6_IS_ADDR_LOOPBACK(&reinterpret_cast<const sockaddr_in6&>(address).sin6_addr) != 0;
  }
  return false;  // a path: no browser gets there
}

HttpServer::Answer plain(unsigned status, std::string text) {
  return {status, "text/plain; charset=utf-8", std::move(text)};
}

}  // namespace

HttpServer::~HttpServer() {
  if (daemon_ != nullptr) MHD_stop_daemon(daemon_);
}

Result<void> HttpServer::start(Fd listening) {
  is_local_ = is_loopback(listening.get());
  daemon_ = MHD_start_daemon(MHD_USE_EPOLL_INTERNAL_THREAD, 0, nullptr, nullptr, handle, this, MHD_OPTION_LISTEN_SOCKET,
                             listening.get(), MHD_OPTION_CONNECTION_LIMIT, kMostConnections,
                             MHD_OPTION_CONNECTION_TIMEOUT, kPatience_s, MHD_OPTION_END);
  if (daemon_ == nullptr) return fail_errno("libmicrohttpd does not start");
  std::ignore = listening.release();  // it closes that
  return {};
}

HttpServer::Answer HttpServer::answer(const Asked& asked) {
  if (is_local_ && !is_own_name(asked.host)) return plain(MHD_HTTP_FORBIDDEN, "Ask for localhost.\n");
  if (asked.method != MHD_HTTP_METHOD_GET && asked.method != MHD_HTTP_METHOD_HEAD) {
    return plain(MHD_HTTP_METHOD_NOT_ALLOWED, "Only GET is understood.\n");
  }
  if (asked.path != "/metrics") return plain(MHD_HTTP_NOT_FOUND, "The metrics are at /metrics.\n");
  const auto families = served_.families();
  if (!families) {
    const Error& error = families.error();
    return plain(MHD_HTTP_SERVICE_UNAVAILABLE, (error.message.empty() ? errno_text(error.code) : error.message) + "\n");
  }
  const bool is_open = asked.accepts.find("application/openmetrics-text") != std::string::npos;
  const TextFormat format = is_open ? TextFormat::kOpenMetrics : TextFormat::kPrometheus;
  return {MHD_HTTP_OK, content_type(format), text_of(*families, format)};
}

}  // namespace landtrace::metrics
