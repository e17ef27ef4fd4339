#include "ui/serving/fleet_page.hpp"

#include "ui/fleet_command.hpp"
#include "ui/page.hpp"

namespace landtrace::ui {
namespace {

Answer json_answer(Result<std::string> json) {
  return json ? Answer{200, "application/json", *std::move(json)} : refused(json.error());
}

Answer get(FleetView& view, const Request& request) {
  if (request.path.empty()) return {200, "text/html; charset=utf-8", fleet_page()};
  if (request.path == "choose") return json_answer(view.choose(argument(request, "where")));
  if (request.path == "counts") return json_answer(view.counts(argument(request, "order"), argument(request, "by")));
  return not_found();
}

Answer post(FleetView& view, const Request& request) {
  if (request.path == "run") return run_answer(view.tasks(), fleet_command_of(request.arguments));
  if (request.path == "stop") return stop_answer(view.tasks(), request);
  return not_found();
}

}  // namespace

int serve_fleet(FleetView::Options options, const std::string& listen, const Fd& stop) {
  FleetView view(std::move(options));
  return serve_page(listen, stop,
                    {.answer = [&view](const Request& request) {
                       return request.method == "GET" ? get(view, request) : post(view, request);
                     },
                     .look = [&view] { return view.look(); },
                     .look_unwatched = [&view] { view.look_unwatched(); },
                     .news = [&view](bool all) { return view.news(all); }});
}

}  // namespace landtrace::ui
