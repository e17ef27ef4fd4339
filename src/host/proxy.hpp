// Emits events on behalf of programs that write to a file past the shim: by a raw system call, from stdio's own write,
// from a shell's printf >&3. The file is a socket to the owner, so what they write arrives as a datagram.
#pragma once

#include <span>
#include <unordered_map>

#include "domain/domain.hpp"
#include "plan/emit.hpp"

namespace landtrace::host {

class Proxy {
 public:
  explicit Proxy(domain::Domain& domain) : domain_(domain) {}

  // `bytes` is what process `pid` of user `uid` wrote. It is recorded as that process's, in its user's rings, or it is
  // dropped for the reasons for which write() would have failed: there is nobody to tell any more. Always from the same
  // thread.
  void write(domain::FileId file, std::uint32_t pid, std::uint32_t uid, std::span<const std::byte> bytes);

 private:
  // The serving thread's place in that user's segment; nullptr when there is no slot free.
  plan::Thread* thread_of(std::uint32_t user);

  domain::Domain& domain_;
  std::unordered_map<std::uint32_t, plan::Thread> threads_;  // by user index
};

}  // namespace landtrace::host
