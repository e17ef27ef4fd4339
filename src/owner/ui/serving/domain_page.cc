#include "ui/serving/domain_page.hpp"

#include <fmt/format.h>

#include "ui/page.hpp"
#include "ui/timeline.hpp"

namespace landtrace::ui {
namespace {

Answer timeline_answer(const Live& live, const Request& request) {
  const auto number = [&](const char* name) { return number_in(argument(request, name)); };
  const TimelinePart part{number("from"), number("to"), number("columns")};
  const Lines& lines = live.lines();
  return {200, "application/json",
          timeline(lines.recent(), part, [&lines](std::int32_t tid) { return lines.name_of(tid); })};
}

Answer get(Live& live, const Request& request) {
  if (request.path.empty()) return {200, "text/html; charset=utf-8", page()};
  if (request.path == "timeline") return timeline_answer(live, request);
  if (request.path == "snapshot") {
    return {.body = "# tracer: nop\n#\n" + live.lines().recent().all(), .file = "landtrace-snapshot.txt"};
  }
  if (request.path == "read") {
    auto text = live.read(argument(request, "path"));
    return text ? Answer{.body = *std::move(text)} : refused(text.error());
  }
  return not_found();
}

Answer post(Live& live, const Request& request) {
  if (request.path == "write") {
    const auto written = live.write(argument(request, "path"), request.body, argument(request, "append") == "1");
    return written ? Answer() : refused(written.error());
  }
  if (request.path == "run") {
    if (!live.is_connected()) return refused(Error(ENOTCONN, "the domain is gone"));
    return run_answer(live.tasks(), command_of(request.arguments));
  }
  if (request.path == "stop") return stop_answer(live.tasks(), request);
  return not_found();
}

}  // namespace

int serve_domain(Live::Options options, const std::string& listen, const Fd& stop) {
  const std::string socket = options.socket;
  Live live(std::move(options));
  if (auto begun = live.begin(); !begun) {
    return give_up(1,
                   fmt::format("{}: the page's instance cannot be made there: {}", socket, sentence_of(begun.error())));
  }
  return serve_page(listen, stop,
                    {.answer = [&live](const Request& request) {
                       return request.method == "GET" ? get(live, request) : post(live, request);
                     },
                     .look = [&live] { return live.look(); },
                     .look_unwatched = [&live] { live.look_unwatched(); },
                     .news = [&live](bool all) { return live.news(all); }});
}

}  // namespace landtrace::ui
