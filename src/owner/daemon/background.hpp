// A daemon that leaves its terminal. The process that starts it waits until it serves.
#pragma once

#include <functional>

#include "base/fd.hpp"

namespace landtrace::daemon {

class Background {
 public:
  // Returns in a child, in a session of its own. The parent exits when the child is ready (status 0) or has ended
  // (its status). To be called before any thread is started.
  static Result<Background> enter();

  // Lets the parent exit. From here on the standard streams are /dev/null.
  void ready();

 private:
  explicit Background(Fd ready) : ready_(std::move(ready)) {}
  Fd ready_;
};

}  // namespace landtrace::daemon
