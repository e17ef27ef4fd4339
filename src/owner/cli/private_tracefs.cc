// Tools find a tracefs by its line in /proc/mounts: trace-cmd and libtracefs always, perf where statfs() does not
// report one. A FUSE mount is listed as "fuse.tracefs", so that line comes from elsewhere:
//   1. a tracefs is mounted already: its line stays when something is mounted over it;
//   2. root mounts the kernel's below ours, in the namespace;
//   3. else /proc/mounts, a symbolic link, is covered with a file that has the lines of that moment and one for ours.
//      /proc/self/mounts and mountinfo go on saying how it is.
#include "cli/private_tracefs.hpp"

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <set>
#include <vector>

#include "cli/environment.hpp"
#include "cli/failure.hpp"
#include "cli/mount_guard.hpp"
#include "cli/mount_point.hpp"
#include "cli/tracefs_folders.hpp"
#include "daemon/handover.hpp"

namespace landtrace::cli {
namespace {

constexpr const char* kFolder = "/sys/kernel/tracing";
constexpr const char* kOldFolder = "/sys/kernel/debug/tracing";
constexpr const char* kMounts = "/proc/mounts";
// trace-cmd writes to these: it turns the kernel's function tracer on and off, and lets itself see addresses. A
// command in a private tracefs must not change the kernel's tracer. In a user namespace the writes fail, and
// trace-cmd gives up.
constexpr const char* kKernelSwitches[] = {"/proc/sys/kernel/ftrace_enabled", "/proc/sys/kernel/kptr_restrict"};
constexpr const char* kLine = "tracefs /sys/kernel/tracing tracefs rw,relatime 0 0\n";
// <linux/mount.h> and <sys/mount.h> of some versions exclude each other.
constexpr unsigned kOpenTreeClone = 1, kMoveMountFromDescriptor = 4;

// A file on a file system of its own, to be laid over another.
class Cover {
 public:
  // `folder` is mounted on for a moment.
  static Result<Cover> make(const char* folder, const std::string& text, mode_t mode) {
    if (::mount("landtrace-cover", folder, "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, "mode=0755,size=1m") != 0) {
      return fail_errno(std::string("a tmpfs on ") + folder);
    }
    auto cover = fill(std::string(folder) + "/file", text, mode);
    ::umount2(folder, MNT_DETACH);
    return cover;
  }

  // Where `path` is a symbolic link, it is the link that is covered.
  Result<void> lay_over(const char* path) const {
    if (::syscall(SYS_move_mount, tree_.get(), "", AT_FDCWD, path, kMoveMountFromDescriptor) == 0) return {};
    return fail_errno(std::string("covering ") + path);
  }

 private:
  explicit Cover(Fd tree) : tree_(std::move(tree)) {}

  static Result<Cover> fill(const std::string& path, const std::string& text, mode_t mode) {
    const Fd file(::open(path.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, mode));
    if (!file) return fail_errno(path);
    LT_CHECK(write_all(file.get(), text.data(), text.size()));
    Fd tree(static_cast<int>(::syscall(SYS_open_tree, AT_FDCWD, path.c_str(), kOpenTreeClone | O_CLOEXEC)));
    if (!tree) return fail_errno("open_tree");
    return Cover(std::move(tree));
  }

  Fd tree_;
};

Result<void> cover_file(const char* path, const std::string& text, mode_t mode) {
  LT_TRY(const Cover cover, Cover::make(kFolder, text, mode));
  return cover.lay_over(path);
}

Result<void> cover_kernel_switches() {
  for (const char* const path : kKernelSwitches) {
    if (::access(path, F_OK) != 0) continue;
    const auto now = read_file(path);
    LT_CHECK(cover_file(path, now ? *now : "1\n", 0644));
  }
  return {};
}

Result<void> make_tracefs_line() {
  if (!tracefs_folders().empty() || ::mount("tracefs", kFolder, "tracefs", 0, nullptr) == 0) return {};
  LT_TRY(std::string lines, read_file(kMounts));
  return cover_file(kMounts, lines + kLine, 0444);
}

Result<void> show_also_at(const std::string& folder) {
  if (::mount(kFolder, folder.c_str(), nullptr, MS_BIND, nullptr) == 0) return {};
  return fail_errno("mounting at " + folder);
}

}  // namespace

Result<void> enter_private_tracefs(const std::string& socket, Ids ids) {
  LT_TRY(daemon::Handover handover, daemon::Handover::offer(socket, 0));
  const std::uint64_t outside = mount_namespace();
  LT_CHECK(enter_own_namespace(ids));
  LT_CHECK(make_mount_point(kFolder));
  LT_CHECK(cover_kernel_switches());
  LT_CHECK(make_tracefs_line());
  // Optional: many machines keep users out of debugfs, and few tools look there.
  const bool has_old = make_mount_point(kOldFolder).has_value();
  const std::vector<std::string> folders = tracefs_folders();
  std::set<std::string> others(folders.begin(), folders.end());
  for (const std::string& debugfs : tracefs_folders("/proc/mounts", "debugfs")) {
    if (::access((debugfs + "/tracing").c_str(), F_OK) == 0) others.insert(debugfs + "/tracing");
  }
  others.erase(kFolder);
  if (has_old) others.insert(kOldFolder);
  LT_CHECK(handover.mount_and_serve(kFolder, true));
  for (const std::string& folder : others) LT_CHECK(show_also_at(folder));
  if (const auto guarded = guard_mounts(kFolder, outside); !guarded) {
    complain("a tracefs or debugfs that the command mounts shows the kernel's tracer; no guard over mounts: " +
             sentence(guarded.error()));
  }
  return {};
}

std::vector<std::string> tracefs_command(const std::string& socket, Ids ids, const std::vector<std::string>& command) {
  std::vector<std::string> words{own_program(), "run", "--tracefs", "--socket", socket};
  if (ids == Ids::kRoot) words.emplace_back("--map-root-user");
  words.emplace_back("--");
  words.insert(words.end(), command.begin(), command.end());
  return words;
}

}  // namespace landtrace::cli
