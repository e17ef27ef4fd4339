#include "ui/live.hpp"

#include <fcntl.h>
#include <fmt/format.h>

#include "output/json/string.hpp"

namespace landtrace::ui {
namespace {

constexpr int kMostInstances = 64;           // names that are tried
constexpr std::size_t kMostText = 4u << 20;  // of a file, and of the pipe at a time

}  // namespace

Live::~Live() {
  if (!tree_) return;
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

Result<void> Live::begin() {
  LT_TRY(ipc::TreeClient tree, ipc::TreeClient::connect(socket_));
  tree_ = std::move(tree);
  if (auto made = make_instance(); !made) {
    tree_.reset();
    return made;
  }
  LT_TRY(ipc::TreeClient pipe, ipc::TreeClient::connect(socket_));
  pipe_ = std::move(pipe);
  was_told_ = false;
  return pipe_->open(instance_ + "/trace_pipe", O_RDONLY | O_NONBLOCK);
}

void Live::lose() {
  tree_.reset();
  pipe_.reset();
  was_told_ = false;
}

bool Live::look() {
  if (!tree_ && !begin()) lose();
  for (std::size_t taken = 0; pipe_ && taken < kMostText;) {
    const auto bytes = pipe_->read();
    if (!bytes && bytes.error().code != EAGAIN) {
      lose();
    } else if (!bytes || bytes->empty()) {
      break;
    } else {
      lines_.add(*bytes);
      taken += bytes->size();
    }
  }
  return lines_.has_news() || !was_told_;
}

std::string Live::news(bool all) {
  if (!all) was_told_ = true;
  std::string out = fmt::format("{{\"isConnected\":{},\"instance\":", is_connected());
  output::json::append_string(out, instance_);
  return out + "," + lines_.news(all) + "}";
}

bool Live::is_own(const std::string& path) const {
  return path.starts_with(instance_ + "/") && path.find("/../") == std::string::npos && !path.ends_with("/..");
}

Result<std::string> Live::read(const std::string& path) {
  if (!tree_) return fail(ENOTCONN, "the domain is gone");
  if ((!is_own(path) && path != "available_events") || path.find("trace_pipe") != std::string::npos) {
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

Result<void> Live::write(const std::string& path, const std::string& text, bool append) {
  if (!tree_) return fail(ENOTCONN, "the domain is gone");
  if (!is_own(path)) return fail(EACCES, path + " is not the page's");
  LT_CHECK(tree_->open(path, O_WRONLY | (append ? O_APPEND : O_TRUNC)));
  auto written = tree_->write(text + "\n");
  tree_->close();
  return written;
}

}  // namespace landtrace::ui
