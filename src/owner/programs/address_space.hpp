// Another process's memory: what is open of it, and how its bytes are touched. All of these may block, perhaps for ever: see
// ForeignMemory, which calls them where that does no harm.
#pragma once

#include <atomic>
#include <memory>
#include <span>

#include "base/fd.hpp"
#include "programs/identity.hpp"
#include "event/data_request.hpp"

namespace landtrace::programs {

// Bit `bit` of the word at `address`, which is 4 or 8 bytes wide.
struct EnableBit {
  std::uint64_t address;
  std::uint8_t bit;

  friend bool operator==(const EnableBit&, const EnableBit&) = default;
};

// The descriptors are bound to the address space: once that is gone (exec, exit) reads and writes return 0, whatever
// process has the pid then.
struct AddressSpace final : event::CallerMemory {
  std::uint32_t pid = 0;
  Fd mem;   // /proc/PID/mem
  Fd maps;  // /proc/PID/maps; only for a client whom the owner's own rights must not serve (see must_assume())
  std::uint64_t identity = 0;  // of the program in it, see space_identity(); 0: not known
  std::atomic<bool> unresponsive = false;

  // The memory of process `pid`, as far as `client` may touch it. EPERM/EACCES where the system does not let it.
  static Result<std::shared_ptr<AddressSpace>> open(std::uint32_t pid, Identity client);

  // False once the process has called exec or is gone. Does not block.
  [[nodiscard]] bool is_alive() const;

  // As the process itself could: false where it could not read or write all of it, though the mem descriptor could.
  [[nodiscard]] bool read(std::uint64_t from, void* to, std::size_t size) const override;
  [[nodiscard]] bool write(std::uint64_t to, std::span<const std::byte> bytes) const;

  // These return an errno, and ECANCELED where `cancelled` became true before the write.
  using Cancelled = std::atomic<bool>;
  [[nodiscard]] int set_as_the_process_would(EnableBit bit, bool on, const Cancelled& cancelled) const;
  // The same faster, where it was seen before that the process may write there.
  [[nodiscard]] int set(EnableBit bit, bool on, const Cancelled& cancelled) const;
};

}  // namespace landtrace::programs
