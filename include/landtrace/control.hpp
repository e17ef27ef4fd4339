// Landtrace, the control API in C++: say from a program what a domain does with its events.
//
//     landtrace::Control control;
//     if (control.open() != 0) ...                                          // nobody serves a domain
//     if (control.set_filter("user_events:req_done", "status >= 500") != 0)
//       std::fputs(control.failure().sentence, stderr);                     // "Field not found"
//     control.add_trigger("user_events:req_done", "traceoff if status == 503");
//     control.enable("user_events:req_done");
//
// Each function is that of the same name in <landtrace/control.h>, where its meaning and every errno stand: 0 or a
// negative errno; for one thread at a time, not async-signal-safe. The instance comes last, "" being the tree's top.
// -EBADF while it is not open.
#pragma once

#if __cplusplus < 202002L
#error "<landtrace/control.hpp> needs C++20 (-std=c++20). For older standards: <landtrace/control.h>"
#else

#include <landtrace/control.h>

#include <cerrno>
#include <string>
#include <utility>

namespace landtrace {

class Control {
 public:
  Control() = default;
  ~Control() { close(); }
  Control(Control&& other) noexcept : control_(std::exchange(other.control_, nullptr)) {}
  Control& operator=(Control&& other) noexcept {
    std::swap(control_, other.control_);
    return *this;
  }

  // The domain at `socket`; "": that of $LANDTRACE_SOCKET, else the user's own.
  int open(const std::string& socket = {}) {
    close();
    return landtrace_control_open(&control_, socket.empty() ? nullptr : socket.c_str());
  }
  void close() { landtrace_control_close(std::exchange(control_, nullptr)); }
  [[nodiscard]] bool is_open() const { return control_ != nullptr; }

  // Why the last call failed; of this object, until its next call.
  [[nodiscard]] const landtrace_failure& failure() const {
    static constexpr landtrace_failure kNotOpen{EBADF, -1, "the connection is not open"};
    return is_open() ? *landtrace_control_failure(control_) : kNotOpen;
  }

  int make_instance(const std::string& instance) {
    return is_open() ? landtrace_control_make_instance(control_, instance.c_str()) : -EBADF;
  }
  int remove_instance(const std::string& instance) {
    return is_open() ? landtrace_control_remove_instance(control_, instance.c_str()) : -EBADF;
  }

  int enable(const std::string& event, bool on = true, const std::string& instance = {}) {
    return is_open() ? landtrace_control_enable(control_, instance.c_str(), event.c_str(), on ? 1 : 0) : -EBADF;
  }
  int set_filter(const std::string& event, const std::string& expression, const std::string& instance = {}) {
    return is_open() ? landtrace_control_set_filter(control_, instance.c_str(), event.c_str(), expression.c_str())
                     : -EBADF;
  }
  int clear_filter(const std::string& event, const std::string& instance = {}) {
    return is_open() ? landtrace_control_set_filter(control_, instance.c_str(), event.c_str(), nullptr) : -EBADF;
  }
  int add_trigger(const std::string& event, const std::string& trigger, const std::string& instance = {}) {
    return is_open() ? landtrace_control_add_trigger(control_, instance.c_str(), event.c_str(), trigger.c_str())
                     : -EBADF;
  }
  int remove_trigger(const std::string& event, const std::string& trigger, const std::string& instance = {}) {
    return is_open() ? landtrace_control_remove_trigger(control_, instance.c_str(), event.c_str(), trigger.c_str())
                     : -EBADF;
  }

  // The file's text into `text`.
  int filter(const std::string& event, std::string& text, const std::string& instance = {}) {
    return read_into(text, [&](char* to, std::size_t size) {
      return landtrace_control_filter(control_, instance.c_str(), event.c_str(), to, size);
    });
  }
  int triggers(const std::string& event, std::string& text, const std::string& instance = {}) {
    return read_into(text, [&](char* to, std::size_t size) {
      return landtrace_control_triggers(control_, instance.c_str(), event.c_str(), to, size);
    });
  }
  int read(const std::string& path, std::string& text) {
    return read_into(
        text, [&](char* to, std::size_t size) { return landtrace_control_read(control_, path.c_str(), to, size); });
  }
  int write(const std::string& path, const std::string& text) {
    return is_open() ? landtrace_control_write(control_, path.c_str(), text.c_str()) : -EBADF;
  }

 private:
  template <typename Read>
  int read_into(std::string& text, Read read) {
    if (!is_open()) return -EBADF;
    for (std::size_t room = 4096;;) {  // it may grow in between
      text.resize(room);
      const ssize_t size = read(text.data(), room);
      if (size < 0) {
        text.clear();
        return static_cast<int>(size);
      }
      if (static_cast<std::size_t>(size) < room) {
        text.resize(static_cast<std::size_t>(size));
        return 0;
      }
      room = static_cast<std::size_t>(size) + 4096;
    }
  }

  landtrace_control* control_ = nullptr;
};

}  // namespace landtrace

#endif
