// A thread that waits in a system call for the guard's answer.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <span>
#include <string>

#include "base/fd.hpp"
#include "base/result.hpp"

namespace landtrace::cli::guard {

// The number of a namespace below /proc/PID/ns, 0 if it cannot be told.
std::uint64_t namespace_number(const std::string& path);

// The guard's process must see all processes at /proc.
class Asker {
 public:
  static Result<Asker> find(std::uint32_t tid);

  // Whether the kernel would let it mount a debugfs, in a mount namespace that is none of those.
  [[nodiscard]] bool may_mount(std::span<const std::uint64_t> elsewhere) const;
  // Its text there, as the kernel would read it; "" for a null pointer. EFAULT.
  [[nodiscard]] Result<std::string> text(std::uint64_t address) const;
  // The place that its descriptor is, as a start for a path; AT_FDCWD is its own folder. EBADF.
  [[nodiscard]] Result<Fd> place(int number) const;
  // Gives the calling process its mount namespace; then, by stand_there(), its root and folder, so that paths mean the
  // same to both. The process must have one thread.
  [[nodiscard]] Result<void> enter() const;
  [[nodiscard]] Result<void> stand_there() const;
  // Its /proc/PID/mountinfo.
  [[nodiscard]] Result<std::string> mounts() const;

 private:
  Asker(std::uint32_t tid, Fd process, Fd names, Fd root, Fd folder)
      : tid_(tid),
        process_(std::move(process)),
        namespace_(std::move(names)),
        root_(std::move(root)),
        folder_(std::move(folder)) {}
  [[nodiscard]] Result<std::string> file(const char* name) const;

  std::uint32_t tid_;
  Fd process_;  // /proc/TID: for after enter(), when /proc is another
  Fd namespace_;
  Fd root_;
  Fd folder_;
};

}  // namespace landtrace::cli::guard
