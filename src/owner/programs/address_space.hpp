// The memory of another process: opening it, and reading and writing its bytes.
//
// Each of these calls may block for as long as the other process likes (userfaultfd, a hung FUSE mapping).
// ForeignMemory makes them in a thread of their own, where that does no harm.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <span>

#include "abi/data_request.hpp"
#include "base/fd.hpp"
#include "programs/identity.hpp"
#include "programs/memory_map.hpp"

namespace landtrace::programs {

// Bit `bit` of the word at `address`, which is 4 or 8 bytes wide.
struct EnableBit {
  std::uint64_t address;
  std::uint8_t bit;

  friend bool operator==(const EnableBit&, const EnableBit&) = default;
};

// The descriptors are bound to the program that the process ran when they were opened. Once that is gone (exec, exit)
// reads and writes return 0, whatever process has the pid then.
struct AddressSpace final : abi::CallerMemory {
  std::uint32_t pid = 0;
  std::uint32_t uid = 0;  // for whom it was opened
  // /proc/PID/mem
  Fd mem;
  // /proc/PID/maps. Open only where the owner has rights that the client lacks (see must_assume()), and where the
  // system has no call that asks by itself: then the owner looks there what the client may do.
  Fd maps;
  // /proc/PID/pagemap, of which nothing is read. Not open where the system has none.
  Fd pagemap;
  // The number of the program, see space_identity(); 0: not known.
  std::uint64_t identity = 0;
  // ForeignMemory's. The memory has not answered in time, and the thread that touched it then has not come back.
  // Without a partner: whoever sees late that it is set waits once more, and that it is cleared, touches it later.
  std::atomic<bool> is_silent = false;
  // Bits were not brought up to date meanwhile.
  bool has_missed = false;

  // The memory of process `pid`, as far as `client` may touch it. EPERM or EACCES where the system does not allow it.
  static Result<std::shared_ptr<AddressSpace>> open(std::uint32_t pid, Identity client);

  // False once the process has called exec or has ended. The only call that never blocks, also while a page is waited
  // for and the process waits to change its map: it takes no lock of the memory's.
  [[nodiscard]] bool is_alive() const;

  // These touch the memory as the process itself could: they return false where it could not read or write all of it,
  // though /proc/PID/mem would let us.
  [[nodiscard]] bool read(std::uint64_t from, void* to, std::size_t size) const override;
  [[nodiscard]] bool write(std::uint64_t to, std::span<const std::byte> bytes) const;
  // For who touches many places one after the other: these ask `seen`, which is what look() gave, where the map is to
  // be asked.
  [[nodiscard]] std::optional<MemoryMap> look() const;
  [[nodiscard]] bool read(std::uint64_t from, void* to, std::size_t size, const MemoryMap* seen) const;

  // Sets the bit if `on`, else clears it. Returns 0; EFAULT where the process itself could not write there; ECANCELED
  // if `cancelled` became true before the write. That has no partner: whoever cancels has stopped waiting, and looks at
  // nothing that the call did.
  using Cancelled = std::atomic<bool>;
  [[nodiscard]] int set_as_the_process_would(EnableBit bit, bool on, const Cancelled& cancelled,
                                             const MemoryMap* seen = nullptr) const;
  // The same, faster, for a bit that has been set that way before: it does not ask again whether the process could.
  [[nodiscard]] int set(EnableBit bit, bool on, const Cancelled& cancelled) const;

 private:
  [[nodiscard]] bool write(std::uint64_t to, std::span<const std::byte> bytes, const MemoryMap* seen) const;
};

}  // namespace landtrace::programs
