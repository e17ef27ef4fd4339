#include "programs/assumed_identity.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>

namespace landtrace::programs {
namespace {

// Raw calls: glibc's would change every thread of the process, or may come to. Both answer what was before, and say
// nothing of failure.
std::uint32_t set_fsuid(std::uint32_t uid) { return static_cast<std::uint32_t>(::syscall(SYS_setfsuid, uid)); }
std::uint32_t set_fsgid(std::uint32_t gid) { return static_cast<std::uint32_t>(::syscall(SYS_setfsgid, gid)); }
constexpr std::uint32_t kNobody = ~0u;  // not an id: only asks

__user_cap_header_struct this_thread() { return {_LINUX_CAPABILITY_VERSION_3, 0}; }

}  // namespace

bool must_assume(Identity client) { return client.uid != 0 && ::geteuid() == 0; }

AssumedIdentity::AssumedIdentity(Identity client) : active_(must_assume(client)) {
  if (!active_) return;
  auto header = this_thread();
  succeeded_ = ::syscall(SYS_capget, &header, before_) == 0;
  if (!succeeded_) {
    active_ = false;
    return;
  }
  gid_before_ = set_fsgid(client.gid);
  uid_before_ = set_fsuid(client.uid);
  succeeded_ = set_fsuid(kNobody) == client.uid && set_fsgid(kNobody) == client.gid && drop_capabilities();
}

// CAP_SYS_PTRACE among them, which would open any process's memory.
bool AssumedIdentity::drop_capabilities() {
  Capabilities none;
  for (unsigned i = 0; i < _LINUX_CAPABILITY_U32S_3; ++i) none[i] = {0, before_[i].permitted, before_[i].inheritable};
  auto header = this_thread();
  return ::syscall(SYS_capset, &header, none) == 0;
}

AssumedIdentity::~AssumedIdentity() {
  if (!active_) return;
  set_fsuid(uid_before_);
  auto header = this_thread();
  const bool restored = ::syscall(SYS_capset, &header, before_) == 0;
  set_fsgid(gid_before_);
  // Both go back to ids and rights that the thread still has, which cannot be refused.
  if (!restored || set_fsuid(kNobody) != uid_before_) std::abort();
}

}  // namespace landtrace::programs
