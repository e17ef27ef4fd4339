#include "ui/live.hpp"

#include <fcntl.h>
#include <fmt/format.h>

#include "output/json/string.hpp"

namespace landtrace::ui {
namespace {

using namespace std::chrono_literals;

constexpr int kMostInstances = 64;           // names that are tried
constexpr std::size_t kMostText = 4u << 20;  // of a file, and of the pipe at a time
constexpr const char* kProbes = "uprobe_events";
constexpr auto kSwitchEvery = 300ms;
constexpr auto kUnwatchedTasks = 20s;  // a page that is reloaded finds them again

}  // namespace

Live::~Live() {
  tasks_.stop_all();
  if (!tree_) return;
  // Another page may have an instance of that name by the time the owner sees that these connections have ended.
  tree_->forget_at_end(instance_);
  pipe_->forget_at_end(instance_);
  pipe_.reset();
  tree_->close();
  (void)tree_->remove_folder(instance_);
}

Result<void> Live::make_instance() {
  for (int i = 1; i <= kMostInstances; ++i) {
    instance_ = i == 1 ? "instances/ui" : fmt::format("instances/ui-{}", i);
    const auto made = tree_->make_folder(instance_);
    if (made) return {};
    if (made.error().code != EEXIST) return made;
  }
  return fail(EEXIST, "too many instances called ui: landtrace rmdir instances/ui");
}

std::string Live::group() const {
  std::string group = instance_.substr(instance_.find('/') + 1);
  for (char& c : group) c = c == '-' ? '_' : c;
  return group;
}

// The instance goes when the owner has seen that both connections have ended, also those of a page that was killed: the
// first of them may find it in use by the other one. An older owner knows no such end.
Result<void> Live::set_up() {
  LT_CHECK(make_instance());
  std::ignore = tree_->remove_folder_at_end(instance_);
  LT_TRY(ipc::TreeClient pipe, ipc::TreeClient::connect(options_.socket));
  pipe_ = std::move(pipe);
  std::ignore = pipe_->remove_folder_at_end(instance_);
  LT_CHECK(write_whole(instance_ + "/options/record-tgid", "1", O_TRUNC));
  // An older owner does not know it.
  std::ignore = write_whole(instance_ + "/trace_options", "landtrace-whole-lines", O_TRUNC);
  return pipe_->open(instance_ + "/trace_pipe", O_RDONLY | O_NONBLOCK);
}

Result<void> Live::begin() {
  LT_TRY(ipc::TreeClient tree, ipc::TreeClient::connect(options_.socket));
  tree_ = std::move(tree);
  if (auto done = set_up(); !done) {
    lose();
    return done;
  }
  was_told_ = false;
  switch_on_new();
  return {};
}

void Live::lose() {
  tree_.reset();
  pipe_.reset();
  seen_.clear();
}

void Live::switch_on_new() {
  const Time now = std::chrono::steady_clock::now();
  if (options_.switched_on.empty() || now < next_switch_) return;
  next_switch_ = now + kSwitchEvery;
  const auto events = read("available_events");
  if (!events) return;
  std::string_view rest = *events;
  for (std::size_t end; (end = rest.find('\n')) != std::string_view::npos; rest.remove_prefix(end + 1)) {
    const std::string name(rest.substr(0, end));
    const std::size_t colon = name.find(':');
    if (colon == std::string::npos || !seen_.insert(name).second) continue;
    const std::string system = name.substr(0, colon);
    const std::string event = name.substr(colon + 1);
    for (const event::Pattern& pattern : options_.switched_on) {
      if (!pattern.matches(system, event)) continue;
      std::ignore = write_whole(fmt::format("{}/events/{}/{}/enable", instance_, system, event), "1", O_TRUNC);
      break;
    }
  }
}

bool Live::look() {
  unwatched_since_ = {};
  if (!tree_) std::ignore = begin();
  if (tree_) switch_on_new();
  for (std::size_t taken = 0; pipe_ && taken < kMostText;) {
    const auto bytes = pipe_->read();
    if (!bytes && bytes.error().code != EAGAIN) {
      lose();
      was_told_ = false;
    } else if (!bytes || bytes->empty()) {
      break;
    } else {
      lines_.add(*bytes);
      taken += bytes->size();
    }
  }
  const bool has_task_news = tasks_.look();
  return has_task_news || lines_.has_news() || !was_told_;
}

void Live::look_unwatched() {
  const Time now = std::chrono::steady_clock::now();
  if (unwatched_since_ == Time{}) unwatched_since_ = now;
  if (now - unwatched_since_ > kUnwatchedTasks) tasks_.stop_all();
  if (!tasks_.is_empty()) tasks_.look();
  if (tree_) switch_on_new();
}

std::string Live::news(bool all) {
  if (!all) was_told_ = true;
  std::string out = fmt::format("{{\"isConnected\":{},\"isWhole\":{},\"instance\":", is_connected(), all);
  output::json::append_string(out, instance_);
  out += ",\"group\":";
  output::json::append_string(out, group());
  out += ",\"socket\":";
  output::json::append_string(out, options_.socket);
  return out + ",\"tasks\":" + tasks_.news(all) + "," + lines_.news(all) + "}";
}

bool Live::is_own(const std::string& path) const {
  return path.starts_with(instance_ + "/") && path.find("/../") == std::string::npos && !path.ends_with("/..");
}

// One line, "p:GROUP/…", "r:GROUP/…" or "-:GROUP/…".
bool Live::is_own_probe(std::string_view line) const {
  if (line.size() < 3 || std::string_view("pr-").find(line[0]) == std::string_view::npos || line[1] != ':')
    return false;
  return line.substr(2).starts_with(group() + "/") && line.find('\n') == std::string_view::npos;
}

Result<std::string> Live::read(const std::string& path) {
  if (!tree_) return fail(ENOTCONN, "the domain is gone");
  const bool is_common = path == "available_events" || path == kProbes || path == "error_log";
  if ((!is_own(path) && !is_common) || path.find("trace_pipe") != std::string::npos) {
    return fail(EACCES, path + " is not the page's");
  }
  LT_CHECK(tree_->open(path, O_RDONLY));
  std::string text;
  while (text.size() < kMostText) {
    LT_TRY(const std::string bytes, tree_->read());
    if (bytes.empty()) break;
    text += bytes;
  }
  tree_->close();
  return text;
}

Result<void> Live::write_whole(const std::string& path, const std::string& text, int flags) {
  LT_CHECK(tree_->open(path, O_WRONLY | flags));
  auto written = tree_->write(text + "\n");
  tree_->close();
  return written;
}

// It goes with the page.
void Live::keep_probe(std::string_view line) {
  const std::string_view place = line.substr(0, line.find(' ')).substr(2);
  const std::string removal = fmt::format("-:{}", place);
  tree_->forget_at_end(removal);
  if (line[0] == '-' || !tree_->open(kProbes, O_WRONLY | O_APPEND)) return;
  std::ignore = tree_->write_at_end(removal);
}

Result<void> Live::write(const std::string& path, const std::string& text, bool append) {
  if (!tree_) return fail(ENOTCONN, "the domain is gone");
  const bool is_probe = path == kProbes && append && is_own_probe(text);
  if (!is_own(path) && !is_probe) return fail(EACCES, path + " is not the page's");
  LT_CHECK(write_whole(path, text, append ? O_APPEND : O_TRUNC));
  if (is_probe) keep_probe(text);
  return {};
}

}  // namespace landtrace::ui
