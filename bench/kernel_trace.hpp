// The kernel's real tracefs, mounted where nobody else sees it, with an instance of our own in it.
#pragma once

#include <cstdint>
#include <string>

#include "setting.hpp"

namespace landtrace::bench {

class KernelTrace {
 public:
  // Moves the calling process into a mount namespace of its own, for which it must be root.
  explicit KernelTrace(const std::string& folder);
  ~KernelTrace();
  KernelTrace(const KernelTrace&) = delete;
  KernelTrace& operator=(const KernelTrace&) = delete;

  [[nodiscard]] const Peer& peer() const { return peer_; }
  // True when /run is ours alone.
  [[nodiscard]] bool is_private() const { return private_; }

 private:
  bool private_ = false;
  Peer peer_;
};

// How many entries the instance's buffers took so far, kept or overwritten.
std::uint64_t kernel_entries(const std::string& instance);

}  // namespace landtrace::bench
