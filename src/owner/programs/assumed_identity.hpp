// Lets the calling thread of a root owner open files as a client of another user would, so that the kernel refuses
// what it would refuse the client: a pid may have become a setuid program since the client sent it.
//
// Only the file-system ids and the effective capabilities change, and only of this thread. Its real ids stay root's: with
// a client's real uid the client could kill the thread, and so the owner.
#pragma once

#include <linux/capability.h>

#include "programs/identity.hpp"

namespace landtrace::programs {

// Whether an owner with these rights has to be careful for that client: it is root, and the client is not.
bool must_assume(Identity client);

class AssumedIdentity {
 public:
  // Does nothing unless must_assume(client).
  explicit AssumedIdentity(Identity client);
  ~AssumedIdentity();
  AssumedIdentity(const AssumedIdentity&) = delete;
  AssumedIdentity& operator=(const AssumedIdentity&) = delete;

  // False: the system did not let us, and nothing may be done for the client.
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
