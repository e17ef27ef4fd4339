// Lets a thread of an owner that is root open files with the rights of a client, so that the kernel refuses what it
// would refuse the client. Permissions cannot be asked beforehand: the pid that a client names may become a setuid
// program's meanwhile.
//
// Only the file-system ids and the effective capabilities change, and only those of the calling thread. The real ids
// stay root's: a thread with the client's real uid could be killed by the client, and the owner with it.
#pragma once

#include <linux/capability.h>

#include "programs/identity.hpp"

namespace landtrace::programs {

// Whether this process has rights that the client lacks: it is root, and the client is not.
bool must_assume(Identity client);

class AssumedIdentity {
 public:
  // The calling thread has the client's rights until this is destroyed, which must happen in the same thread. Does
  // nothing unless must_assume(client).
  explicit AssumedIdentity(Identity client);
  ~AssumedIdentity();
  AssumedIdentity(const AssumedIdentity&) = delete;
  AssumedIdentity& operator=(const AssumedIdentity&) = delete;

  // False: the thread does not have exactly the rights of the client. The caller must do nothing for the client then.
  [[nodiscard]] bool succeeded() const { return succeeded_; }

 private:
  using Capabilities = __user_cap_data_struct[_LINUX_CAPABILITY_U32S_3];
  bool drop_capabilities();

  bool active_;
  bool succeeded_ = true;
  std::uint32_t uid_before_ = 0;
  std::uint32_t gid_before_ = 0;
  Capabilities before_{};
};

}  // namespace landtrace::programs
