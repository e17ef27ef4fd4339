#include "cli/events_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>

#include "base/fd.hpp"
#include "cli/event_rules.hpp"
#include "cli/failure.hpp"
#include "cli/probes/logged_mistake.hpp"

namespace landtrace::cli {
namespace {

constexpr const char* kDefinitions = "dynamic_events";

std::string with_single_spaces(std::string_view text) {
  std::string words;
  for (const char c : text) {
    const bool is_space = c == ' ' || c == '\t' || c == '\r';
    if (!is_space) {
      words += c;
    } else if (!words.empty() && words.back() != ' ') {
      words += ' ';
    }
  }
  if (words.ends_with(' ')) words.pop_back();
  return words;
}

class Definer {
 public:
  explicit Definer(ipc::TreeClient tree) : tree_(std::move(tree)) {}

  Result<void> look_what_is_there() {
    LT_CHECK(tree_.open(kDefinitions, O_RDONLY));
    LT_TRY(const std::string text, tree_.read());
    has_older_ = !text.empty();
    tree_.close();
    return {};
  }

  void define(const EventsFile& file, const EventsFile::Line& line) {
    const auto done = write(line.text);
    if (done || (has_older_ && done.error().code == EEXIST)) return;
    const std::string where = fmt::format("{}:{}", file.path, line.number);
    const auto mistake = find_mistake(tree_, line.text);
    refused_.push_back(mistake ? sentence(pointed_at(where, mistake->what, line.text, mistake->column).value())
                               : fmt::format("{}: {}: {}", where, line.text, sentence(done.error())));
  }

  [[nodiscard]] std::vector<std::string> refused() && { return std::move(refused_); }

 private:
  Result<void> write(const std::string& line) {
    LT_CHECK(tree_.open(kDefinitions, O_WRONLY | O_APPEND));
    auto written = tree_.write(line + "\n");
    tree_.close();
    return written;
  }

  ipc::TreeClient tree_;
  bool has_older_ = false;
  std::vector<std::string> refused_;
};

}  // namespace

Result<EventsFile> read_events_file(const std::string& path) {
  const auto read = read_file(path);
  if (!read) return fail(read.error().code, fmt::format("--events-file: {}: {}", path, errno_text(read.error().code)));
  EventsFile file{path, {}};
  std::string_view rest = *read;
  for (unsigned number = 1; !rest.empty(); ++number) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    std::string text = with_single_spaces(line.substr(0, line.find('#')));
    if (text.empty()) continue;
    if (text.front() == '-' || text.front() == '!') {
      return fail(EINVAL, fmt::format("{}:{}: {}: want a definition: nothing is there yet that could be removed", path,
                                      number, text));
    }
    file.lines.push_back({number, std::move(text)});
  }
  return file;
}

Result<std::vector<std::string>> define_events(ipc::TreeClient domain, const std::vector<EventsFile>& files) {
  Definer definer(std::move(domain));
  LT_CHECK(definer.look_what_is_there());
  for (const EventsFile& file : files) {
    for (const EventsFile::Line& line : file.lines) definer.define(file, line);
  }
  return std::move(definer).refused();
}

}  // namespace landtrace::cli
