// The domain behind the live page: an instance of its own in the tree, so that what the page switches on is nobody
// else's, and goes with it. All that the page does is reading and writing files of that instance.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "ipc/tree_client.hpp"
#include "ui/lines.hpp"

namespace landtrace::ui {

class Live {
 public:
  // `socket`: the domain's.
  explicit Live(std::string socket) : socket_(std::move(socket)) {}
  Live(const Live&) = delete;
  Live& operator=(const Live&) = delete;
  // Removes the instance.
  ~Live();

  // Connects, and makes the instance. As TreeClient has it.
  Result<void> begin();
  [[nodiscard]] bool is_connected() const { return tree_.has_value(); }
  // "instances/ui"
  [[nodiscard]] const std::string& instance() const { return instance_; }

  // Takes what has come; where the domain is gone, tries to find it again. True: there is news.
  bool look();
  // What pages are told: a JSON object.
  std::string news(bool all);

  // Files below the instance, and the list of all events. EACCES: another file; else as the tree has it, with the
  // sentence that the kernel would put into error_log.
  Result<std::string> read(const std::string& path);
  Result<void> write(const std::string& path, const std::string& text, bool append);

 private:
  [[nodiscard]] bool is_own(const std::string& path) const;
  Result<void> make_instance();
  void lose();

  std::string socket_;
  std::string instance_;
  std::optional<ipc::TreeClient> tree_;
  std::optional<ipc::TreeClient> pipe_;  // with trace_pipe open
  Lines lines_;
  bool was_told_ = false;  // of the connection's state
};

}  // namespace landtrace::ui
