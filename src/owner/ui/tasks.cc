#include "ui/tasks.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <string_view>

#include "base/spawn_settings.hpp"
#include "ipc/path.hpp"
#include "output/json/string.hpp"

namespace landtrace::ui {
namespace {

constexpr int kLook_ms = 5;

struct Pipe {
  Fd read_end;
  Fd write_end;
};

Result<Pipe> make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return fail_errno("pipe");
  Pipe pipe{Fd(ends[0]), Fd(ends[1])};
  ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
  return pipe;
}

std::vector<std::string> environment_with(const std::string& socket) {
  const std::string prefix = std::string(ipc::kSocketVariable) + "=";
  std::vector<std::string> words;
  for (char** word = environ; *word != nullptr; ++word) {
    if (!std::string_view(*word).starts_with(prefix)) words.emplace_back(*word);
  }
  if (!socket.empty()) words.push_back(prefix + socket);
  return words;
}

std::vector<char*> pointers_to(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

Result<pid_t> spawn(const std::string& program, std::vector<std::string> words, std::vector<std::string> environment,
                    const Fd& out, const Fd& err) {
  SpawnSettings settings;
  ::posix_spawn_file_actions_addopen(&settings.files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&settings.files, out.get(), STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&settings.files, err.get(), STDERR_FILENO);
  pid_t pid = 0;
  const int error = ::posix_spawn(&pid, program.c_str(), &settings.files, &settings.attributes,
                                  pointers_to(words).data(), pointers_to(environment).data());
  if (error != 0) return fail(error, program + ": " + errno_text(error));
  return pid;
}

// What has come; false: that was the end.
bool read_some(const Fd& fd, std::string& to) {
  char bytes[16 * 1024];
  for (;;) {
    const ssize_t count = ::read(fd.get(), bytes, sizeof bytes);
    if (count <= 0) return count < 0 && errno == EAGAIN;
    to.append(bytes, static_cast<std::size_t>(count));
    if (to.size() > 4u << 20) return true;
  }
}

}  // namespace

// What they print at their end is read, as they would wait for that; those that a closed pipe ends could leave an order
// behind.
Tasks::~Tasks() {
  stop_all();
  const auto end = std::chrono::steady_clock::now() + patience_;
  while (running() > 0 && std::chrono::steady_clock::now() < end) {
    for (auto& [number, task] : tasks_) pass_over_last_words(task);
    ::poll(nullptr, 0, kLook_ms);
  }
  for (auto& [number, task] : tasks_) {
    if (task.pid != 0) ::kill(task.pid, SIGKILL);
    end_of(task);
  }
}

// Others may have its pipes open for longer than it lives.
void Tasks::pass_over_last_words(Task& task) {
  if (task.pid == 0) return;
  std::string words;
  read_some(task.out_end, words);
  read_some(task.err_end, words);
  if (::waitpid(task.pid, nullptr, WNOHANG) == task.pid) task.pid = 0;
}

std::size_t Tasks::running() const {
  return static_cast<std::size_t>(
      std::count_if(tasks_.begin(), tasks_.end(), [](const auto& each) { return each.second.pid != 0; }));
}

Result<unsigned> Tasks::start(const CommandLine& line) {
  if (running() >= kMostTasks) return fail(EAGAIN, "too many commands run already: stop one");
  LT_TRY(Pipe out, make_pipe());
  LT_TRY(Pipe err, make_pipe());
  std::vector<std::string> words{"landtrace"};
  words.insert(words.end(), line.words.begin(), line.words.end());
  LT_TRY(const pid_t pid, spawn(program_, words, environment_with(socket_), out.write_end, err.write_end));
  for (auto each = tasks_.begin(); tasks_.size() >= kMostTasks + kMostEnded && each != tasks_.end();) {
    each = each->second.pid == 0 ? tasks_.erase(each) : std::next(each);
  }
  Task& task = tasks_[next_];
  task.line = line;
  task.pid = pid;
  task.out_end = std::move(out.read_end);
  task.err_end = std::move(err.read_end);
  return next_++;
}

Result<void> Tasks::stop(unsigned number) {
  const auto task = tasks_.find(number);
  if (task == tasks_.end() || task->second.pid == 0) return fail(ESRCH, "it has ended");
  ::kill(task->second.pid, SIGINT);
  return {};
}

void Tasks::stop_all() {
  for (const auto& [number, task] : tasks_) {
    if (task.pid != 0) ::kill(task.pid, SIGINT);
  }
}

void Tasks::end_of(Task& task) {
  if (task.pid == 0) return;
  int status = 0;
  ::waitpid(task.pid, &status, 0);
  task.pid = 0;
  task.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  task.has_news = true;
}

void Tasks::keep_last_line(Task& task) {
  const std::size_t end = task.out.rfind('\n');
  if (end == std::string::npos) return;
  const std::size_t before = end == 0 ? std::string::npos : task.out.rfind('\n', end - 1);
  const std::size_t begin = before == std::string::npos ? 0 : before + 1;
  task.last_line = task.out.substr(begin, end - begin);
  task.out.erase(0, end + 1);
  task.has_news = true;
}

void Tasks::keep_lines(Task& task) {
  std::size_t begin = 0;
  for (std::size_t end = 0; (end = task.out.find('\n', begin)) != std::string::npos; begin = end + 1) {
    task.lines.push_back(task.out.substr(begin, std::min(end - begin, kMostLine)));
    ++task.new_lines;
    ++task.all_lines;
    if (task.lines.size() > kMostLines) task.lines.pop_front();
    task.has_news = true;
  }
  task.out.erase(0, begin);
  if (task.out.size() > kMostOut) task.out.clear();  // a line without an end
  if (task.new_lines > task.lines.size()) {
    task.unkept_lines += task.new_lines - task.lines.size();
    task.new_lines = task.lines.size();
  }
}

void Tasks::append_lines(std::string& out, const Task& task, bool all) {
  const std::size_t first = all ? 0 : task.lines.size() - task.new_lines;
  out += fmt::format(",\"unkept\":{},\"firstLine\":{},\"lines\":[", task.unkept_lines,
                     task.all_lines - task.lines.size() + first);
  for (std::size_t i = first; i < task.lines.size(); ++i) {
    if (i > first) out += ',';
    output::json::append_string(out, task.lines[i]);
  }
  out += ']';
}

void Tasks::read_out(Task& task) {
  const std::size_t size = task.out.size() + task.err.size();
  const bool out_is_open = read_some(task.out_end, task.out);
  const bool err_is_open = read_some(task.err_end, task.err);
  if (task.err.size() > kMostOut) task.err.resize(kMostOut);
  if (task.line.is_lasting) {
    keep_last_line(task);
  } else if (task.line.keeps_lines) {
    keep_lines(task);
  } else if (task.out.size() > kMostOut && !task.is_too_long) {
    task.is_too_long = true;
    ::kill(task.pid, SIGTERM);
  }
  if (task.is_too_long) task.out.resize(std::min(task.out.size(), kMostOut));
  if (task.err.size() + task.out.size() > size) task.has_news = true;
  if (!out_is_open && !err_is_open) end_of(task);
}

bool Tasks::look() {
  bool has_news = false;
  for (auto& [number, task] : tasks_) {
    if (task.pid != 0) read_out(task);
    has_news = has_news || task.has_news;
  }
  return has_news;
}

std::string Tasks::news(bool all) {
  std::string out = "[";
  for (auto& [number, task] : tasks_) {
    // What is made of it all is of no use before it is whole.
    const bool is_told = task.has_news && (task.line.is_lasting || task.line.keeps_lines || task.pid == 0);
    if (!all && !is_told) continue;
    if (out.back() != '[') out += ',';
    out += fmt::format("{{\"number\":{},\"words\":[", number);
    for (const std::string& word : task.line.words) {
      if (out.back() != '[') out += ',';
      output::json::append_string(out, word);
    }
    out += fmt::format("],\"isRunning\":{},\"isTooLong\":{},\"status\":{},\"out\":", task.pid != 0, task.is_too_long,
                       task.status);
    output::json::append_string(out, task.line.is_lasting                      ? task.last_line
                                     : task.pid == 0 && !task.line.keeps_lines ? task.out
                                                                               : "");
    out += ",\"err\":";
    output::json::append_string(out, task.err);
    if (task.line.keeps_lines) append_lines(out, task, all);
    out += '}';
    if (all) continue;
    task.has_news = false;
    task.new_lines = 0;
  }
  return out + "]";
}

}  // namespace landtrace::ui
