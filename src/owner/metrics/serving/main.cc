// landtrace-metrics SOCKET PUSH_URL INTERVAL_S COUNTED LISTENING_FD…: serves a domain's metrics, for landtraced, which
// starts it and has made the sockets. PUSH_URL "": nothing is pushed. COUNTED: patterns of events, with commas between
// them. Says on its standard output when it serves (announcement.hpp). Ends with its parent.
#include <fmt/format.h>
#include <pthread.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <deque>

#include "base/end_with_parent.hpp"
#include "metrics/serving/announcement.hpp"
#include "metrics/serving/current.hpp"
#include "metrics/serving/http_server.hpp"
#include "metrics/serving/push.hpp"

namespace {

using namespace landtrace;
using namespace landtrace::metrics;

std::vector<std::string> parts_of(std::string_view list) {
  std::vector<std::string> parts;
  while (!list.empty()) {
    const std::string_view part = list.substr(0, list.find(','));
    list.remove_prefix(std::min(list.size(), part.size() + 1));
    if (!part.empty()) parts.emplace_back(part);
  }
  return parts;
}

int serve(const std::string& socket, const Push& push, const char* counted, char** listening, int stop) {
  Current current(socket, parts_of(counted));
  if (const auto families = current.families(); !families) {
    std::fputs(fmt::format("landtraced: metrics: {}\n", families.error().message).c_str(), stderr);
    return 1;
  }
  std::deque<HttpServer> servers;
  for (; *listening != nullptr; ++listening) {
    servers.emplace_back(current);
    if (const auto started = servers.back().start(Fd(std::atoi(*listening))); !started) {
      std::fputs(fmt::format("landtraced: metrics: {}\n", started.error().message).c_str(), stderr);
      return 1;
    }
  }
  announce_serving();
  if (!push.url.empty()) {
    push_until(stop, current, push);
    return 0;
  }
  signalfd_siginfo arrived;
  while (::read(stop, &arrived, sizeof arrived) < 0 && errno == EINTR) {
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) {
    std::fputs(
        "usage: landtrace-metrics SOCKET PUSH_URL INTERVAL_S COUNTED LISTENING_FD...\n"
        "(landtraced starts it)\n",
        stderr);
    return 2;
  }
  end_with_parent();
  sigset_t ends;
  ::sigemptyset(&ends);
  for (const int number : {SIGTERM, SIGINT, SIGHUP}) ::sigaddset(&ends, number);
  ::pthread_sigmask(SIG_BLOCK, &ends, nullptr);
  ::signal(SIGPIPE, SIG_IGN);
  const Fd stop(::signalfd(-1, &ends, SFD_CLOEXEC));
  if (!stop) return 1;
  return serve(argv[1], {argv[2], std::chrono::seconds(std::max(1, std::atoi(argv[3])))}, argv[4], argv + 5,
               stop.get());
}
