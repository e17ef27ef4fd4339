#include "programs/assumed_identity.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>

namespace landtrace::programs {
namespace {

// System calls, not the functions of libc: those may change all threads of the process. Both return the id that was in
// force before, also where they fail: whether one has worked is seen by asking again.
std::uint32_t set_fsuid(std::uint32_t uid) { return static_cast<std::uint32_t>(::syscall(SYS_setfsuid, uid)); }
std::uint32_t set_fsgid(std::uint32_t gid) { return static_cast<std::uint32_t>(::syscall(SYS_setfsgid, gid)); }
// Not an id: a call with this changes nothing, and returns the present one.
constexpr std::uint32_t kOnlyAsk = ~0u;

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
  // The group first: once the uid is not root's any more, and the capabilities are gone, it could not be changed.
  gid_before_ = set_fsgid(client.gid);
  uid_before_ = set_fsuid(client.uid);
  succeeded_ = set_fsuid(kOnlyAsk) == client.uid && set_fsgid(kOnlyAsk) == client.gid && drop_capabilities();
}

// A change of the fsuid takes away only the capabilities about files. CAP_SYS_PTRACE, which opens any process's memory,
// goes here. They stay permitted, so that the destructor can have them back.
bool AssumedIdentity::drop_capabilities() {
  Capabilities none;
  for (unsigned i = 0; i < _LINUX_CAPABILITY_U32S_3; ++i) none[i] = {0, before_[i].permitted, before_[i].inheritable};
  auto header = this_thread();
  return ::syscall(SYS_capset, &header, none) == 0;
}

AssumedIdentity::~AssumedIdentity() {
  if (!active_) return;
  set_fsuid(uid_before_);
  // After the uid, whose change sets capabilities; before the group, whose change needs one.
  auto header = this_thread();
  const bool restored = ::syscall(SYS_capset, &header, before_) == 0;
  set_fsgid(gid_before_);
  // The real ids and the permitted capabilities are as they were, so that this cannot be refused. If it is, the thread
  // would go on with another user's rights, and nobody would notice.
  if (!restored || set_fsuid(kOnlyAsk) != uid_before_) std::abort();
}

}  // namespace landtrace::programs
