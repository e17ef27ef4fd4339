// The asking side of a mount: made here, served by whoever owns the domain.
#pragma once

#include <string>

#include "base/fd.hpp"
#include "base/result.hpp"

namespace landtrace::daemon {

class Handover {
 public:
  // Asks the owner at `socket` whether it would serve a mount with this ABI (0: whatever it has). ENOENT or ECONNREFUSED
  // when nobody is there.
  static Result<Handover> offer(const std::string& socket, unsigned abi);

  // Mounts at `folder` and hands the mount over; undoes the first when the second fails.
  Result<void> mount_and_serve(const std::string& folder, bool allow_other);

 private:
  explicit Handover(Fd owner) : owner_(std::move(owner)) {}
  Fd owner_;
};

}  // namespace landtrace::daemon
