// A mount that this process makes and the owner of the domain serves. So it lies in the asker's mount namespace, and
// is made with the asker's rights.
//
//   asker                               owner
//   offer()            kOfferMount  ->  would it serve a mount? (before anything is mounted)
//   mount_folder()
//   mount_and_serve()  kServeMount, the /dev/fuse descriptor  ->  daemon::Mounts::serve()
#pragma once

#include <string>

#include "base/fd.hpp"
#include "base/result.hpp"

namespace landtrace::daemon {

class Handover {
 public:
  // Asks the owner at `socket` whether it would serve a mount with this ABI (0: any). ENOENT or ECONNREFUSED: there
  // is no owner.
  static Result<Handover> offer(const std::string& socket, unsigned abi);

  // Mounts at `folder` and hands the mount over. Unmounts it again if that fails.
  Result<void> mount_and_serve(const std::string& folder, bool allow_other);

 private:
  explicit Handover(Fd owner) : owner_(std::move(owner)) {}
  Fd owner_;
};

}  // namespace landtrace::daemon
