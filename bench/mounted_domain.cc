#include "mounted_domain.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "kernel_trace.hpp"

namespace landtrace::bench {
namespace {

Command daemon(const std::string& folder, const std::string& socket, const std::string& events, const char* ring_size) {
  return {
      {LANDTRACE_DAEMON, "--socket", socket, "--mount", folder, "--trace-event", events, "--buffer-size", ring_size},
      {{"LD_PRELOAD", ""}, {"LANDTRACE_SOCKET", ""}}};
}

std::string made(const std::string& folder) {
  ::mkdir(folder.c_str(), 0700);
  return folder;
}

}  // namespace

MountedDomain::MountedDomain(const Setting& setting, const std::string& events, const char* ring_size)
    : folder_(made(setting.folder + kMountFolder)),
      socket_(setting.folder + "/mounted.sock"),
      child_(daemon(folder_, socket_, events, ring_size)) {
  constexpr int kPatience_ms = 20'000;
  for (int waited = 0; ::access((folder_ + "/README").c_str(), F_OK) != 0; ++waited) {
    if (waited == kPatience_ms) throw Broken("landtraced did not mount");
    ::usleep(1000);
  }
}

std::uint64_t MountedDomain::written() const { return kernel_entries(folder_); }

std::uint64_t MountedDomain::cpu_ns() const {
  std::uint64_t sum = 0;
  for (const auto& task : std::filesystem::directory_iterator(fmt::format("/proc/{}/task", child_.pid()))) {
    std::uint64_t ns = 0;
    std::ifstream(task.path() / "schedstat") >> ns;
    sum += ns;
  }
  return sum;
}

std::string reason_not_to_mount() {
  if (::geteuid() != 0) return "not root";
  if (::access("/dev/fuse", R_OK | W_OK) != 0) return "no /dev/fuse";
  return ::access(LANDTRACE_DAEMON, X_OK) == 0 ? "" : "no landtraced";
}

}  // namespace landtrace::bench
