// landtrace-ui SOCKET ADDRESS:PORT LANDTRACE [PATTERN...]: serves the live page of a domain, until it is interrupted,
// with the events of these patterns switched on. `landtrace ui` becomes it; `landtrace record --ui` starts it.
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <charconv>
#include <csignal>
#include <cstdio>

#include "base/fd.hpp"
#include "ui/command.hpp"
#include "ui/live.hpp"
#include "ui/page.hpp"
#include "ui/serving/server.hpp"
#include "ui/timeline.hpp"

namespace {

using namespace landtrace;
using namespace landtrace::ui;

constexpr int kNews_ms = 80;   // between messages to pages
constexpr int kIdle_ms = 500;  // between looks for a signal, when nobody looks at the page

std::string sentence_of(const Error& error) { return error.message.empty() ? errno_text(error.code) : error.message; }

int give_up(int status, const std::string& what) {
  std::fputs(fmt::format("landtrace: {}\n", what).c_str(), stderr);
  return status;
}

std::string argument(const Request& request, const char* name) {
  const auto found = request.arguments.find(name);
  return found == request.arguments.end() ? std::string() : found->second;
}

Answer refused(const Error& error) { return {422, "text/plain; charset=utf-8", sentence_of(error)}; }

std::uint64_t number_in(const std::string& text) {
  std::uint64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

Answer timeline_answer(const Live& live, const std::map<std::string, std::string>& arguments) {
  const auto number = [&](const char* name) {
    const auto found = arguments.find(name);
    return found == arguments.end() ? 0 : number_in(found->second);
  };
  const TimelinePart part{number("from"), number("to"), number("columns")};
  const Lines& lines = live.lines();
  return {200, "application/json",
          timeline(lines.recent(), part, [&lines](std::int32_t tid) { return lines.name_of(tid); })};
}

Answer run_answer(Live& live, const std::map<std::string, std::string>& arguments) {
  if (!live.is_connected()) return refused(Error(ENOTCONN, "the domain is gone"));
  const auto command = command_of(arguments);
  if (!command) return refused(command.error());
  const auto number = live.tasks().start(*command);
  return number ? Answer{.body = fmt::format("{}", *number)} : refused(number.error());
}

Answer get(Live& live, const Request& request) {
  if (request.path.empty()) return {200, "text/html; charset=utf-8", page()};
  if (request.path == "timeline") return timeline_answer(live, request.arguments);
  if (request.path == "snapshot") {
    return {.body = "# tracer: nop\n#\n" + live.lines().recent().all(), .file = "landtrace-snapshot.txt"};
  }
  if (request.path == "read") {
    auto text = live.read(argument(request, "path"));
    return text ? Answer{.body = *std::move(text)} : refused(text.error());
  }
  return {404, "text/plain; charset=utf-8", "not found\n"};
}

Answer post(Live& live, const Request& request) {
  if (request.path == "write") {
    const auto written = live.write(argument(request, "path"), request.body, argument(request, "append") == "1");
    return written ? Answer() : refused(written.error());
  }
  if (request.path == "run") return run_answer(live, request.arguments);
  if (request.path == "stop") {
    const auto stopped = live.tasks().stop(static_cast<unsigned>(number_in(argument(request, "number"))));
    return stopped ? Answer() : refused(stopped.error());
  }
  return {404, "text/plain; charset=utf-8", "not found\n"};
}

Answer answer(Live& live, const Request& request) {
  if (request.method == "GET") return get(live, request);
  if (request.method == "POST") return post(live, request);
  return {405, "text/plain; charset=utf-8", "GET or POST\n"};
}

bool is_readable(const Fd& fd) {
  pollfd asked{fd.get(), POLLIN, 0};
  return ::poll(&asked, 1, 0) != 0;
}

int serve(Live::Options options, const std::string& listen, const Fd& stop) {
  const std::string socket = options.socket;
  Live live(std::move(options));
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
  std::fputs(fmt::format("http://{}/{}/\n", (*server)->address(), *token).c_str(), stdout);
  std::fflush(stdout);
  if ((*server)->is_open_to_others()) {
    std::fputs("landtrace: others can reach this address; what passes is not encrypted\n", stderr);
  }
  while (!is_readable(stop)) {
    (*server)->run((*server)->streams() > 0 ? kNews_ms : kIdle_ms);
    if ((*server)->streams() == 0) {
      live.look_unwatched();
    } else if (live.look()) {
      (*server)->send(live.news(false));
    }
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fputs("usage: landtrace-ui SOCKET ADDRESS:PORT LANDTRACE [PATTERN...]\n(landtrace ui starts it)\n", stderr);
    return 2;
  }
  Live::Options options{.socket = argv[1], .program = argv[3]};
  for (int i = 4; i < argc; ++i) {
    auto pattern = event::Pattern::parse(argv[i]);
    if (!pattern) return give_up(2, sentence_of(pattern.error()));
    options.switched_on.push_back(*std::move(pattern));
  }
  // A recording that is killed takes its page with it.
  if (!options.switched_on.empty()) ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  sigset_t ends;
  ::sigemptyset(&ends);
  for (const int number : {SIGTERM, SIGINT, SIGHUP}) ::sigaddset(&ends, number);
  ::sigprocmask(SIG_BLOCK, &ends, nullptr);
  ::signal(SIGPIPE, SIG_IGN);
  const Fd stop(::signalfd(-1, &ends, SFD_CLOEXEC));
  return stop ? serve(std::move(options), argv[2], stop) : 1;
}
