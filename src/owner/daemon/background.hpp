// A daemon that leaves its terminal, and whose starter waits until it serves.
#pragma once

#include <functional>

#include "base/fd.hpp"

namespace landtrace::daemon {

class Background {
 public:
  // Goes on in a child, in a session of its own; the parent exits when the child is ready (0) or has ended (its status).
  // Before any other thread.
  static Result<Background> enter();

  // From here on nobody reads what is said on the standard streams.
  void ready();

 private:
  explicit Background(Fd ready) : ready_(std::move(ready)) {}
  Fd ready_;
};

}  // namespace landtrace::daemon
