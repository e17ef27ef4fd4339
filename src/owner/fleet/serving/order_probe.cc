#include "fleet/serving/order_probe.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

namespace landtrace::fleet {
namespace {

constexpr const char* kDefinitions = "dynamic_events";
constexpr int kRemovals = 40;
constexpr unsigned kRemovalPause_us = 5000;
constexpr const char* kFolders[] = {"/usr/local/lib", "/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu",
                                    "/usr/lib64",     "/usr/lib",                  "/usr/local/bin",
                                    "/usr/bin",       "/usr/sbin"};

Result<std::string> path_of(const std::string& object) {
  if (object.find('/') != std::string::npos) {
    if (::access(object.c_str(), R_OK) != 0) return fail_errno(object);
    return object;
  }
  for (const char* const folder : kFolders) {
    const std::string path = std::string(folder) + "/" + object;
    if (::access(path.c_str(), R_OK) == 0) return path;
  }
  return fail(ENOENT, "there is no '" + object + "' in " + fmt::format("{}", fmt::join(kFolders, ", ")));
}

}  // namespace

Result<void> OrderProbe::write(const std::string& line) {
  LT_CHECK(tree_.open(kDefinitions, O_WRONLY | O_APPEND));
  auto written = tree_.write(line);
  tree_.close();
  return written;
}

Result<std::unique_ptr<OrderProbe>> OrderProbe::define(const std::string& socket, const Order& order) {
  const Probe& probe = order.probe;
  LT_TRY(const std::string path, path_of(probe.object));
  LT_TRY(ipc::TreeClient tree, ipc::TreeClient::connect(socket));
  const std::string group = probe_group(order.id);
  std::unique_ptr<OrderProbe> made(
      new OrderProbe(std::move(tree), "-:" + group + "/" + (probe.name == "*" ? "" : probe.name) + "\n"));
  const std::string line = fmt::format("{}:{}/{} {}:{}{}{}\n", probe.is_return ? 'r' : 'p', group, probe.name, path,
                                       probe.place, probe.arguments.empty() ? "" : " ", probe.arguments);
  if (const auto written = made->write(line); !written) {
    const Error& error = written.error();
    const std::string why = error.message.empty() ? errno_text(error.code) : error.message;
    return fail(error.code, "the probe at " + path + ":" + probe.place + ": " + why);
  }
  // Where this program is killed.
  LT_CHECK(made->tree_.open(kDefinitions, O_WRONLY | O_APPEND));
  LT_CHECK(made->tree_.write_at_end(made->removal_));
  return made;
}

// The owner may not know yet that nobody listens any more.
OrderProbe::~OrderProbe() {
  for (int i = 0; i < kRemovals; ++i) {
    const auto removed = write(removal_);
    if (removed || removed.error().code != EBUSY) break;
    ::usleep(kRemovalPause_us);
  }
  tree_.forget_at_end(removal_);
}

}  // namespace landtrace::fleet
