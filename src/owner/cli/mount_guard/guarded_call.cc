// A tree is put together out of sight, in the helper's own mount namespace, and then attached whole: at no moment is
// the kernel's tracer to be seen in it.
#include "cli/mount_guard/guarded_call.hpp"

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cstdlib>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <tuple>

#include "cli/mount_guard/asker.hpp"

namespace landtrace::cli::guard {
namespace {

constexpr std::uint32_t kTracefsMagic = 0x74726163, kDebugfsMagic = 0x64626720, kFuseMagic = 0x65735546;
// <linux/mount.h> and <sys/mount.h> of some versions exclude each other.
constexpr unsigned kClone = 1, kRecursive = 0x8000;                               // open_tree()
constexpr unsigned kFromDescriptor = 4, kToSymbolicLinks = 0x10, kToHere = 0x40;  // move_mount()
constexpr unsigned kMoveBeneath = 0x200, kMoveGroup = 0x100;
constexpr const char* kUsualFolder = "/sys/kernel/tracing";

std::uint32_t magic_of(const Fd& place) {
  struct statfs about {};
  return ::fstatfs(place.get(), &about) == 0 ? static_cast<std::uint32_t>(about.f_type) : 0;
}

bool has(const Fd& folder, const char* name) { return ::faccessat(folder.get(), name, F_OK, AT_EACCESS) == 0; }

Result<Fd> open_place(const char* path, int flags = 0) {
  Fd place(::open(path, O_PATH | O_CLOEXEC | flags));
  if (!place) return fail(errno);
  return place;
}

Result<Fd> copy_tree(const Fd& folder, unsigned flags = 0) {
  Fd tree(static_cast<int>(
      ::syscall(SYS_open_tree, folder.get(), "", AT_EMPTY_PATH | kClone | static_cast<unsigned>(O_CLOEXEC) | flags)));
  if (!tree) return fail(errno);
  return tree;
}

Result<void> attach(const Fd& tree, const Fd& place) {
  if (::syscall(SYS_move_mount, tree.get(), "", place.get(), "", kFromDescriptor | kToHere) != 0) return fail(errno);
  return {};
}

// A debugfs whose `tracing` is the kernel's.
bool has_kernels_tracer(const Fd& place) {
  if (magic_of(place) != kDebugfsMagic) return false;
  const Fd inner(::openat(place.get(), "tracing", O_PATH | O_CLOEXEC));
  return inner && magic_of(inner) != kFuseMagic;
}

bool is_same(const Fd& a, const Fd& b) {
  struct stat first {};
  struct stat second {};
  return ::fstat(a.get(), &first) == 0 && ::fstat(b.get(), &second) == 0 && first.st_dev == second.st_dev &&
         first.st_ino == second.st_ino;
}

// A line of /proc/PID/mountinfo.
struct Mount {
  int parent = 0;
  std::string type;
};

std::optional<Mount> mount_with(const std::string& mounts, int number) {
  std::istringstream lines(mounts);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    int own = 0;
    Mount mount;
    words >> own >> mount.parent;
    const std::size_t dash = line.find(" - ");
    if (own != number || dash == std::string::npos) continue;
    mount.type = line.substr(dash + 3, line.find(' ', dash + 3) - dash - 3);
    return mount;
  }
  return std::nullopt;
}

tl::unexpected<Error> busy() { return fail(EBUSY); }

class Helper {
 public:
  explicit Helper(Asker asker) : asker_(std::move(asker)) {}

  Result<By> mount(const std::uint64_t* arguments) {
    constexpr std::uint64_t kMagicMask = 0xffff0000, kMagic = 0xc0ed0000;
    constexpr std::uint64_t kPropagation = MS_SHARED | MS_PRIVATE | MS_SLAVE | MS_UNBINDABLE;
    std::uint64_t flags = arguments[3];
    if ((flags & kMagicMask) == kMagic) flags &= ~kMagicMask;
    if ((flags & MS_REMOUNT) != 0) return By::kThread;
    const bool is_new = (flags & (MS_BIND | MS_MOVE | kPropagation)) == 0;
    LT_TRY(const std::string type, is_new ? asker_.text(arguments[2]) : std::string());
    if (is_new && type == kProbeType) return By::kGuard;
    if (is_new && type != "tracefs" && type != "debugfs") return By::kThread;
    LT_TRY(const std::string source, asker_.text(arguments[0]));
    LT_TRY(const std::string target, asker_.text(arguments[1]));
    LT_CHECK(stand_there());
    if ((flags & MS_BIND) != 0) return bind(source, target, (flags & MS_REC) != 0);
    if (!is_new) return (flags & kPropagation) != 0 ? By::kThread : move(open_place(source.c_str()));
    LT_TRY(const std::string data, asker_.text(arguments[4]));
    LT_TRY(const Fd place, open_place(target.c_str(), O_DIRECTORY));
    LT_TRY(const Fd tree, type == "tracefs" ? make_tracefs(flags, data) : make_debugfs(source, flags, data));
    if (is_same(tree, place)) return busy();  // as the kernel refuses a file system on top of itself
    return show(tree, place);
  }

  Result<By> unmount(std::uint64_t target_at, int flags) {
    LT_TRY(const std::string target, asker_.text(target_at));
    LT_CHECK(stand_there());
    auto place = open_place(target.c_str(), (flags & UMOUNT_NOFOLLOW) != 0 ? O_NOFOLLOW : 0);
    if (hides_the_kernels(place)) return busy();
    const bool is_debugfs = place && magic_of(*place) == kDebugfsMagic && has(*place, "tracing");
    place = Fd();  // or it would be busy
    if (is_debugfs) return unmount_debugfs(target, flags);
    return By::kThread;
  }

  // Of what is attached already, or the last step of a mount by fsmount() or open_tree(), which are not looked at: no
  // descriptor of a mount can be given to another process in an answer.
  Result<By> move_mount(const std::uint64_t* arguments) {
    if ((arguments[4] & (kMoveBeneath | kMoveGroup)) != 0) return By::kThread;
    LT_CHECK(stand_there());
    const auto from = place_of(arguments[0], arguments[1], true);
    if (hides_the_kernels(from)) return busy();
    if (!from || is_attached(*from)) return By::kThread;
    const bool is_tracefs = magic_of(*from) == kTracefsMagic;
    if (!is_tracefs && !has_kernels_tracer(*from)) return By::kThread;
    LT_TRY(const Fd to, place_of(arguments[2], arguments[3], (arguments[4] & kToSymbolicLinks) == 0));
    if (is_tracefs) return show_ours(to);
    LT_TRY(const Fd tree, covered(*from));
    return show(tree, to);
  }

 private:
  Result<void> stand_there() {
    home_ = Fd(::open("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC));
    proc_ = Fd(::open("/proc", O_PATH | O_CLOEXEC));
    LT_TRY(root_, open_place("/"));
    LT_CHECK(asker_.enter());
    return asker_.stand_there();
  }

  // Back to where the guard's folders are, in a namespace of the helper's own; and ours_ is there. Not for every call:
  // such a namespace takes the kernel milliseconds.
  Result<void> go_home() {
    LT_CHECK(asker_.enter());
    // A command in a command has files of its own.
    const auto usual = open_place(kUsualFolder);
    if (usual && magic_of(*usual) == kFuseMagic && has(*usual, "user_events_data")) {
      if (auto tree = copy_tree(*usual)) ours_ = *std::move(tree);
    }
    if (::setns(home_.get(), CLONE_NEWNS) != 0 || ::fchdir(root_.get()) != 0 || ::chroot(".") != 0) return fail(errno);
    if (::unshare(CLONE_NEWNS) != 0) return fail(errno);
    if (ours_) return {};
    LT_TRY(const Fd ours, open_place(kOurs));
    LT_TRY(ours_, copy_tree(ours));
    return {};
  }

  [[nodiscard]] Result<Fd> place_of(std::uint64_t folder, std::uint64_t path_at, bool no_follow) const {
    LT_TRY(const std::string path, asker_.text(path_at));
    LT_TRY(Fd start, asker_.place(path.starts_with('/') ? AT_FDCWD : static_cast<int>(folder)));
    if (path.empty()) return start;
    Fd place(::openat(start.get(), path.c_str(), O_PATH | O_CLOEXEC | (no_follow ? O_NOFOLLOW : 0)));
    if (!place) return fail(errno);
    return place;
  }

  // A copy, attached to nothing, of what is mounted at kWork, with ours in the place of the tracefs that debugfs has.
  Result<Fd> work_covered() {
    LT_TRY(const Fd top, open_place(kWork));
    if (has_kernels_tracer(top)) {
      // So that the kernel mounts its own below, and there is a line for it in /proc/mounts.
      std::ignore = has(top, "tracing/.");
      LT_TRY(const Fd inner, open_place((std::string(kWork) + "/tracing").c_str()));
      LT_CHECK(attach(ours_, inner));
    }
    return copy_tree(top, kRecursive);
  }

  // The same of a tree that is attached to nothing.
  Result<Fd> covered(const Fd& tree) {
    LT_CHECK(go_home());
    LT_TRY(const Fd work, open_place(kWork));
    LT_CHECK(attach(tree, work));
    return work_covered();
  }

  Result<Fd> make_debugfs(const std::string& source, std::uint64_t flags, const std::string& data) {
    LT_CHECK(go_home());
    const char* const options = data.empty() ? nullptr : data.c_str();
    if (::mount(source.c_str(), kWork, "debugfs", flags, options) != 0) return fail(errno);
    return work_covered();
  }

  Result<Fd> make_tracefs(std::uint64_t flags, const std::string& data) {
    LT_CHECK(go_home());
    LT_TRY(const Fd work, open_place(kWork));
    LT_CHECK(attach(ours_, work));
    // As an option of mount(8) changes the kernel's one tracefs for all.
    if (!data.empty() && ::setxattr(kWork, "user.landtrace.remount", data.data(), data.size(), 0) != 0) {
      return fail(errno);
    }
    constexpr std::uint64_t kAlways = MS_NOSUID | MS_NODEV | MS_NOEXEC;
    if ((flags & MS_RDONLY) != 0 &&
        ::mount(nullptr, kWork, nullptr, MS_REMOUNT | MS_BIND | MS_RDONLY | kAlways, nullptr) != 0) {
      return fail(errno);
    }
    LT_TRY(const Fd top, open_place(kWork));
    return copy_tree(top);
  }

  Result<By> show(const Fd& tree, const Fd& place) {
    LT_CHECK(asker_.enter());
    LT_CHECK(attach(tree, place));
    return By::kGuard;
  }

  Result<By> show_ours(const Fd& place) {
    LT_CHECK(go_home());
    return show(ours_, place);
  }

  // A copy of a debugfs leaves behind what is mounted in it, our files too.
  Result<By> bind(const std::string& source, const std::string& target, bool recursive) {
    const auto from = open_place(source.c_str());
    if (!from || recursive) return By::kThread;
    const bool is_tracefs = magic_of(*from) == kTracefsMagic;
    if (!is_tracefs && (magic_of(*from) != kDebugfsMagic || !has(*from, "tracing"))) return By::kThread;
    LT_TRY(const Fd to, open_place(target.c_str(), O_DIRECTORY));
    if (is_tracefs) return show_ours(to);
    LT_TRY(const Fd copied, copy_tree(*from));
    LT_TRY(const Fd tree, covered(copied));
    return show(tree, to);
  }

  [[nodiscard]] bool is_attached(const Fd& place) const {
    const auto mounts = asker_.mounts();
    return mounts && mount_with(*mounts, mount_number(place));
  }

  [[nodiscard]] Result<By> move(const Result<Fd>& from) const {
    if (hides_the_kernels(from)) return busy();
    return By::kThread;
  }

  // Whether the place is ours, with the kernel's tracer below it.
  [[nodiscard]] bool hides_the_kernels(const Result<Fd>& place) const {
    if (!place || magic_of(*place) != kFuseMagic) return false;
    const auto mounts = asker_.mounts();
    const auto mount = mounts ? mount_with(*mounts, mount_number(*place)) : std::nullopt;
    if (!mount || mount->type != "fuse.tracefs") return false;
    const auto below = mount_with(*mounts, mount->parent);
    return below && (below->type == "tracefs" || below->type == "debugfs");
  }

  [[nodiscard]] int mount_number(const Fd& place) const {
    const std::string name = "self/fdinfo/" + std::to_string(place.get());
    const Fd file(::openat(proc_.get(), name.c_str(), O_RDONLY | O_CLOEXEC));
    char text[512] = {};
    if (!file || ::read(file.get(), text, sizeof text - 1) <= 0) return -1;
    constexpr std::string_view kLabel = "mnt_id:";
    const std::size_t at = std::string_view(text).find(kLabel);
    return at == std::string_view::npos ? -1 : std::atoi(text + at + kLabel.size());
  }

  // The kernel takes a tracefs that it has mounted in it away, too; ours would keep it busy.
  Result<By> unmount_debugfs(const std::string& target, int flags) {
    const std::string inner = target + "/tracing";
    while (::umount2(inner.c_str(), MNT_DETACH | UMOUNT_NOFOLLOW) == 0) {
    }
    if (::umount2(target.c_str(), flags) == 0) return By::kGuard;
    const int error = errno;
    LT_TRY(const Fd place, open_place(inner.c_str()));
    LT_CHECK(show_ours(place));
    return fail(error);
  }

  Asker asker_;
  Fd home_;
  Fd proc_;
  Fd root_;
  Fd ours_;  // attached to nothing
};

bool is_compat(const seccomp_data& call) {
#if defined(__x86_64__)
  constexpr std::uint32_t k64Bit = 0x80000000;
  return (call.arch & k64Bit) == 0;
#else
  return call.nr == kCompatMount || call.nr == kCompatUmount || call.nr == kCompatOldUmount;
#endif
}

bool is_mount(const seccomp_data& call) { return call.nr == (is_compat(call) ? kCompatMount : SYS_mount); }

}  // namespace

Result<By> decide(const seccomp_notif& asked, std::span<const std::uint64_t> elsewhere) {
  const seccomp_data& call = asked.data;
  const auto* const arguments = reinterpret_cast<const std::uint64_t*>(call.args);
  // Not to be seen from here: it has entered another pid namespace, of somebody else's.
  if (asked.pid == 0) return By::kThread;
  LT_TRY(Asker asker, Asker::find(asked.pid));
  if (!asker.may_mount(elsewhere)) return By::kThread;
  Helper helper(std::move(asker));
  if (is_mount(call)) return helper.mount(arguments);
  if (call.nr == SYS_move_mount) return helper.move_mount(arguments);
  const bool has_flags = call.nr != kCompatOldUmount || !is_compat(call);
  return helper.unmount(arguments[0], has_flags ? static_cast<int>(arguments[1]) : 0);
}

}  // namespace landtrace::cli::guard
