#include "client/trace_events/domain_files.hpp"

#include <landtrace/control.h>

#include <unistd.h>

#include <cerrno>
#include <mutex>

namespace landtrace::client {
namespace {

std::mutex lock;
landtrace_control* connection = nullptr;
pid_t connected_pid = 0;

void drop() {
  landtrace_control_close(connection);
  connection = nullptr;
}

int connect() {
  // A child of fork must not share the connection of its parent: their answers would mix.
  if (connection != nullptr && connected_pid != ::getpid()) drop();
  if (connection != nullptr) return 0;
  connected_pid = ::getpid();
  return landtrace_control_open(&connection, nullptr);
}

// Tries again once if the owner has ended: another one may serve the domain now.
template <typename Ask>
int ask(const Ask& request) {
  const std::lock_guard held(lock);
  int result = -EPIPE;
  for (int attempt = 0; attempt < 2 && result == -EPIPE; ++attempt) {
    result = connect();
    if (result == 0) result = request(connection);
    if (result == -EPIPE) drop();
  }
  return result;
}

}  // namespace

int write_domain_file(const std::string& path, const char* text) {
  return ask([&](landtrace_control* control) { return landtrace_control_write(control, path.c_str(), text); });
}

int make_instance(const char* name) {
  return ask([&](landtrace_control* control) { return landtrace_control_make_instance(control, name); });
}

int remove_instance(const char* name) {
  return ask([&](landtrace_control* control) { return landtrace_control_remove_instance(control, name); });
}

}  // namespace landtrace::client
