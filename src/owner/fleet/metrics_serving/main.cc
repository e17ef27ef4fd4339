// landtrace-fleet-metrics LANDTRACE_FLEET PUSH_URL INTERVAL_S BY LISTENING_FD…: serves a fleet's metrics, for
// `landtrace collect`, which starts it and has made the sockets. BY: labels and keys, with commas between them. The
// words are those of landtrace-metrics, and so is what it says when it serves; nothing is pushed. Ends with its parent.
#include <fmt/format.h>
#include <poll.h>
#include <pthread.h>
#include <sys/signalfd.h>

#include <csignal>
#include <cstdlib>
#include <deque>

#include "base/end_with_parent.hpp"
#include "fleet/metrics_serving/fleet_current.hpp"
#include "metrics/serving/announcement.hpp"
#include "metrics/serving/http_server.hpp"

namespace {

using namespace landtrace;
using namespace landtrace::fleet;

constexpr int kTryAgain_ms = 1000;

std::vector<std::string> parts_of(std::string_view list) {
  std::vector<std::string> parts;
  while (!list.empty()) {
    const std::string_view part = list.substr(0, list.find(','));
    list.remove_prefix(std::min(list.size(), part.size() + 1));
    if (!part.empty()) parts.emplace_back(part);
  }
  return parts;
}

int give_up(const Error& error) {
  std::fputs(fmt::format("landtrace: metrics: {}\n", error.message).c_str(), stderr);
  return 1;
}

// True: it is time to end.
bool follow(Feed& feed, FleetCurrent& current, int stop) {
  for (;;) {
    pollfd waited[] = {{stop, POLLIN, 0}, {feed.fd(), POLLIN, 0}};
    if (::poll(waited, 2, -1) < 0) continue;
    if (waited[0].revents != 0) return true;
    const auto records = feed.take();
    if (!records) return false;
    current.take(feed, *records);
  }
}

// One that follows and was killed is begun anew: what it had told is told again, and changes nothing.
int run(const std::string& program, FleetCurrent& current, int stop) {
  for (;;) {
    auto feed = Feed::start(program);
    if (!feed) return give_up(feed.error());
    if (follow(*feed, current, stop)) return 0;
    current.lose();
    pollfd waited{stop, POLLIN, 0};
    if (::poll(&waited, 1, kTryAgain_ms) > 0) return 0;
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 6) {
    std::fputs(
        "usage: landtrace-fleet-metrics LANDTRACE_FLEET PUSH_URL INTERVAL_S BY LISTENING_FD...\n"
        "(landtrace collect starts it)\n",
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
  FleetCurrent current(parts_of(argv[4]));
  std::deque<metrics::HttpServer> servers;
  for (char** listening = argv + 5; *listening != nullptr; ++listening) {
    servers.emplace_back(current);
    if (const auto started = servers.back().start(Fd(std::atoi(*listening))); !started) return give_up(started.error());
  }
  metrics::announce_serving();
  return run(argv[1], current, stop.get());
}
