#include "cli/own_namespace.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/fd.hpp"

namespace landtrace::cli {
namespace {

Result<void> write_once(const char* path, const std::string& text) {
  const Fd fd(::open(path, O_WRONLY | O_CLOEXEC));
  if (!fd) return fail_errno(path);
  if (::write(fd.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size())) return fail_errno(path);
  return {};
}

// False also where this kernel does not have the file.
bool sysctl_is(const char* path, const char* value) {
  const auto text = read_file(path);
  return text && text->starts_with(value);
}

std::string why_no_user_namespace(int error) {
  if (sysctl_is("/proc/sys/kernel/unprivileged_userns_clone", "0")) {
    return "users may not make namespaces here; root can allow it: sysctl kernel.unprivileged_userns_clone=1";
  }
  if (sysctl_is("/proc/sys/user/max_user_namespaces", "0\n")) {
    return "there may be no user namespaces here; root can allow them: sysctl user.max_user_namespaces=10000";
  }
  if (sysctl_is("/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1")) {
    return "AppArmor keeps users from making namespaces here; root can allow it: "
           "sysctl kernel.apparmor_restrict_unprivileged_userns=0";
  }
  return fmt::format("no user namespace to be had ({}); a container's seccomp profile may forbid it",
                     errno_text(error));
}

Result<void> map_ids(Ids ids, uid_t uid, gid_t gid) {
  LT_CHECK(write_once("/proc/self/setgroups", "deny"));
  LT_CHECK(write_once("/proc/self/uid_map", fmt::format("{} {} 1", ids == Ids::kRoot ? 0 : uid, uid)));
  return write_once("/proc/self/gid_map", fmt::format("{} {} 1", ids == Ids::kRoot ? 0 : gid, gid));
}

}  // namespace

Result<void> enter_own_namespace(Ids ids) {
  const uid_t uid = ::geteuid();
  const gid_t gid = ::getegid();
  if (uid != 0 || ::unshare(CLONE_NEWNS) != 0) {
    if (::unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return fail(EPERM, why_no_user_namespace(errno));
    if (auto mapped = map_ids(ids, uid, gid); !mapped) {
      return fail(EPERM, fmt::format("{}; AppArmor or SELinux may restrict user namespaces", mapped.error().message));
    }
  }
  if (::mount(nullptr, "/", nullptr, MS_REC | MS_SLAVE, nullptr) != 0) {
    return fail_errno("mounting in a namespace of our own");
  }
  return {};
}

}  // namespace landtrace::cli
