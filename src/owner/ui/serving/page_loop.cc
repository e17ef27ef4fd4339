#include "ui/serving/page_loop.hpp"

#include <fmt/format.h>
#include <poll.h>

#include <charconv>
#include <cstdio>

namespace landtrace::ui {
namespace {

constexpr int kNews_ms = 80;   // between messages to pages
constexpr int kIdle_ms = 500;  // between looks for a signal, when nobody looks at the page

bool is_readable(const Fd& fd) {
  pollfd asked{fd.get(), POLLIN, 0};
  return ::poll(&asked, 1, 0) != 0;
}

Answer checked(const Behind& behind, const Request& request) {
  if (request.method == "GET" || request.method == "POST") return behind.answer(request);
  return {405, "text/plain; charset=utf-8", "GET or POST\n"};
}

}  // namespace

std::string sentence_of(const Error& error) { return error.message.empty() ? errno_text(error.code) : error.message; }

int give_up(int status, const std::string& what) {
  std::fputs(fmt::format("landtrace: {}\n", what).c_str(), stderr);
  return status;
}

std::string argument(const Request& request, const std::string& name) {
  const auto found = request.arguments.find(name);
  return found == request.arguments.end() ? std::string() : found->second;
}

std::uint64_t number_in(const std::string& text) {
  std::uint64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

Answer refused(const Error& error) { return {422, "text/plain; charset=utf-8", sentence_of(error)}; }

Answer not_found() { return {404, "text/plain; charset=utf-8", "not found\n"}; }

Answer run_answer(Tasks& tasks, const Result<CommandLine>& command) {
  if (!command) return refused(command.error());
  const auto number = tasks.start(*command);
  return number ? Answer{.body = fmt::format("{}", *number)} : refused(number.error());
}

Answer stop_answer(Tasks& tasks, const Request& request) {
  const auto stopped = tasks.stop(static_cast<unsigned>(number_in(argument(request, "number"))));
  return stopped ? Answer() : refused(stopped.error());
}

int serve_page(const std::string& listen, const Fd& stop, const Behind& behind) {
  const auto token = Access::make_token();
  if (!token) return give_up(1, sentence_of(token.error()));
  auto server = Server::start(listen, *token,
                              {[&behind](const Request& request) { return checked(behind, request); },
                               [&behind] { return behind.news(true); }});
  if (!server) return give_up(server.error().code == EINVAL ? 2 : 1, sentence_of(server.error()));
  std::fputs(fmt::format("http://{}/{}/\n", (*server)->address(), *token).c_str(), stdout);
  std::fflush(stdout);
  if ((*server)->is_open_to_others()) {
    std::fputs("landtrace: others can reach this address; what passes is not encrypted\n", stderr);
  }
  while (!is_readable(stop)) {
    (*server)->run((*server)->streams() > 0 ? kNews_ms : kIdle_ms);
    if ((*server)->streams() == 0) {
      behind.look_unwatched();
    } else if (behind.look()) {
      (*server)->send(behind.news(false));
    }
  }
  return 0;
}

}  // namespace landtrace::ui
