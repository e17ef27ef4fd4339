// landtrace-ui SOCKET ADDRESS:PORT LANDTRACE [PATTERN...]: serves the live page of a domain, until it is interrupted,
// with the events of these patterns switched on. `landtrace ui` becomes it; `landtrace record --ui` starts it.
//
// landtrace-ui --fleet ADDRESS:PORT LANDTRACE LANDTRACE_FLEET: that of a fleet, whose address is in
// $LANDTRACE_FLEET_OPTIONS, where both of these programs find it.
#include <sys/signalfd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "base/end_with_parent.hpp"
#include "fleet/address.hpp"
#include "ui/serving/domain_page.hpp"
#include "ui/serving/fleet_page.hpp"

namespace {

using namespace landtrace;
using namespace landtrace::ui;

Fd end_signals() {
  sigset_t ends;
  ::sigemptyset(&ends);
  for (const int number : {SIGTERM, SIGINT, SIGHUP}) ::sigaddset(&ends, number);
  ::sigprocmask(SIG_BLOCK, &ends, nullptr);
  ::signal(SIGPIPE, SIG_IGN);
  return Fd(::signalfd(-1, &ends, SFD_CLOEXEC));
}

int bad_use() {
  std::fputs("usage: landtrace-ui SOCKET ADDRESS:PORT LANDTRACE [PATTERN...]\n(landtrace ui starts it)\n", stderr);
  return 2;
}

int run_fleet(int argc, char** argv) {
  const char* const options = std::getenv(fleet::kOptionsVariable);
  if (argc != 5 || options == nullptr) return bad_use();
  const auto address = fleet::address_of(options);
  if (!address) return give_up(2, sentence_of(address.error()));
  const Fd stop = end_signals();
  if (!stop) return 1;
  return serve_fleet({argv[4], argv[3], fleet::without_users(address->servers)}, argv[2], stop);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::string_view(argv[1]) == "--fleet") return run_fleet(argc, argv);
  if (argc < 4) return bad_use();
  Live::Options options{.socket = argv[1], .program = argv[3]};
  for (int i = 4; i < argc; ++i) {
    auto pattern = event::Pattern::parse(argv[i]);
    if (!pattern) return give_up(2, sentence_of(pattern.error()));
    options.switched_on.push_back(*std::move(pattern));
  }
  // A recording that is killed takes its page with it.
  if (!options.switched_on.empty()) end_with_parent();
  const Fd stop = end_signals();
  return stop ? serve_domain(std::move(options), argv[2], stop) : 1;
}
