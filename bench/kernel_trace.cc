#include "kernel_trace.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>

#include "base/result.hpp"

namespace landtrace::bench {
namespace {

// Empty, or what went wrong.
std::string enter_namespace() {
  if (::geteuid() != 0) return "not root";
  if (::unshare(CLONE_NEWNS) != 0) return "unshare: " + errno_text(errno);
  if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0)
    return "mount --make-rprivate: " + errno_text(errno);
  // LTTng's root daemon knows no other places than these: here they are private ones.
  for (const char* const folder : {"/run", "/dev/shm"}) {
    if (::mount("tmpfs", folder, "tmpfs", 0, nullptr) != 0)
      return fmt::format("mount {}: {}", folder, errno_text(errno));
  }
  return "";
}

std::string mount_tracefs(const std::string& folder) {
  if (::mkdir(folder.c_str(), 0700) != 0) return "mkdir: " + errno_text(errno);
  if (::mount("tracefs", folder.c_str(), "tracefs", 0, nullptr) != 0) return "mount tracefs: " + errno_text(errno);
  return "";
}

}  // namespace

KernelTrace::KernelTrace(const std::string& folder) {
  const std::string mount = folder + "/tracefs";
  peer_.absent = enter_namespace();
  private_ = peer_.absent.empty();
  if (private_) peer_.absent = mount_tracefs(mount);
  if (!peer_.absent.empty()) return;
  const std::string instance = fmt::format("{}/instances/landtrace_bench_{}", mount, ::getpid());
  if (::mkdir(instance.c_str(), 0700) != 0) {
    peer_.absent = "mkdir in tracefs: " + errno_text(errno);
    return;
  }
  peer_.where = instance;
}

// The folder of the mount is emptied by leaving the namespace, but remove_all() would walk into it before.
KernelTrace::~KernelTrace() {
  if (!peer_.is_there()) return;
  ::rmdir(peer_.where.c_str());
  ::umount2(std::filesystem::path(peer_.where).parent_path().parent_path().c_str(), MNT_DETACH);
}

std::uint64_t kernel_entries(const std::string& instance) {
  std::uint64_t entries = 0;
  for (const auto& cpu : std::filesystem::directory_iterator(instance + "/per_cpu")) {
    std::ifstream stats(cpu.path() / "stats");
    for (std::string key; std::getline(stats, key, ':');) {
      std::string value;
      std::getline(stats, value);
      if (key == "entries" || key == "overrun") entries += std::stoull(value);
    }
  }
  return entries;
}

}  // namespace landtrace::bench
