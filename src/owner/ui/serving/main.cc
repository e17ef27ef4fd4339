// landtrace-ui SOCKET ADDRESS:PORT: serves the live page of a domain, until it is interrupted. `landtrace ui` becomes
// it.
#include <fmt/format.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>

#include "base/fd.hpp"
#include "ui/live.hpp"
#include "ui/page.hpp"
#include "ui/serving/server.hpp"

namespace {

using namespace landtrace;
using namespace landtrace::ui;

constexpr int kNews_ms = 80;   // between messages to pages
constexpr int kIdle_ms = 500;  // between looks for a signal, when nobody looks at the page

std::string sentence_of(const Error& error) { return error.message.empty() ? errno_text(error.code) : error.message; }

int give_up(int status, const std::string& what) {
  fmt::print(stderr, "landtrace: {}\n", what);
  return status;
}

Answer refused(const Error& error) { return {422, "text/plain; charset=utf-8", sentence_of(error)}; }

Answer answer(Live& live, const Request& request) {
  const auto argument = [&](const char* name) {
    const auto found = request.arguments.find(name);
    return found == request.arguments.end() ? std::string() : found->second;
  };
  if (request.method == "GET" && request.path.empty()) return {200, "text/html; charset=utf-8", page()};
  if (request.method == "GET" && request.path == "read") {
    auto text = live.read(argument("path"));
    return text ? Answer{.body = *std::move(text)} : refused(text.error());
  }
  if (request.method == "POST" && request.path == "write") {
    const auto written = live.write(argument("path"), request.body, argument("append") == "1");
    return written ? Answer() : refused(written.error());
  }
  return {404, "text/plain; charset=utf-8", "not found\n"};
}

bool is_readable(const Fd& fd) {
  pollfd asked{fd.get(), POLLIN, 0};
  return ::poll(&asked, 1, 0) != 0;
}

int serve(const std::string& socket, const std::string& listen, const Fd& stop) {
  Live live(socket);
  if (auto begun = live.begin(); !begun) {
    return give_up(1,
                   fmt::format("{}: the page's instance cannot be made there: {}", socket, sentence_of(begun.error())));
  }
  const auto token = Access::make_token();
  if (!token) return give_up(1, sentence_of(token.error()));
  auto server = Server::start(
      listen, *token,
      {[&live](const Request& request) { return answer(live, request); }, [&live] { return live.news(true); }});
  if (!server) return give_up(server.error().code == EINVAL ? 2 : 1, sentence_of(server.error()));
  fmt::print("http://{}/{}/\n", (*server)->address(), *token);
  std::fflush(stdout);
  if ((*server)->is_open_to_others()) {
    fmt::print(stderr, "landtrace: others can reach this address; what passes is not encrypted\n");
  }
  while (!is_readable(stop)) {
    (*server)->run((*server)->streams() > 0 ? kNews_ms : kIdle_ms);
    if ((*server)->streams() > 0 && live.look()) (*server)->send(live.news(false));
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    fmt::print(stderr, "usage: landtrace-ui SOCKET ADDRESS:PORT\n(landtrace ui starts it)\n");
    return 2;
  }
  sigset_t ends;
  ::sigemptyset(&ends);
  for (const int number : {SIGTERM, SIGINT, SIGHUP}) ::sigaddset(&ends, number);
  ::sigprocmask(SIG_BLOCK, &ends, nullptr);
  ::signal(SIGPIPE, SIG_IGN);
  const Fd stop(::signalfd(-1, &ends, SFD_CLOEXEC));
  return stop ? serve(argv[1], argv[2], stop) : 1;
}
