// What serves a page, whatever is behind it: its server, the stream of news, and an end by a signal.
#pragma once

#include <functional>
#include <string>

#include "base/fd.hpp"
#include "ui/command.hpp"
#include "ui/serving/server.hpp"
#include "ui/tasks.hpp"

namespace landtrace::ui {

struct Behind {
  std::function<Answer(const Request&)> answer;
  std::function<bool()> look;              // takes what has come; true: there is news
  std::function<void()> look_unwatched;    // the same while no page is open
  std::function<std::string(bool)> news;   // what has changed, or all
};

// Prints the page's address, and serves it until `stop` can be read. Returns the exit status.
int serve_page(const std::string& listen, const Fd& stop, const Behind& behind);

// Says it on standard error. Returns the status.
int give_up(int status, const std::string& what);
std::string sentence_of(const Error& error);

// Parts of answers.
std::string argument(const Request& request, const std::string& name);
std::uint64_t number_in(const std::string& text);  // 0 for what is none
Answer refused(const Error& error);
Answer not_found();
// A command for the page, and its end.
Answer run_answer(Tasks& tasks, const Result<CommandLine>& command);
Answer stop_answer(Tasks& tasks, const Request& request);

}  // namespace landtrace::ui
