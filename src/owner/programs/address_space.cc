#include "programs/address_space.hpp"

#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

#include "programs/assumed_identity.hpp"
#include "programs/memory_map.hpp"
#include "programs/space_identity.hpp"

namespace landtrace::programs {
namespace {

// Only the byte with the bit is read and written, not the whole word: other bits of it may be other events', or may
// change while we look. The machine is little-endian.
std::uint64_t byte_of(EnableBit bit) { return bit.address + bit.bit / 8; }
std::byte changed(std::byte byte, EnableBit bit, bool on) {
  const auto mask = static_cast<std::byte>(1u << bit.bit % 8);
  return on ? byte | mask : byte & ~mask;
}

Result<Fd> open_proc_file(std::uint32_t pid, const char* name, int flags) {
  const std::string path = "/proc/" + std::to_string(pid) + "/" + name;
  Fd fd(::open(path.c_str(), flags | O_CLOEXEC));
  if (!fd) return fail_errno("open " + path);
  return fd;
}

bool is_permitted(int maps, const MemoryMap* seen, std::uint64_t address, std::size_t size, Access access) {
  return seen != nullptr ? seen->permits(address, size, access) : permits(maps, address, size, access);
}

// Kernels may be built without process_vm_readv, sandboxes answer as such, and qemu-user has none.
bool can_touch_by_pid() {
  char byte = 0;
  char copy = 0;
  const iovec from{&byte, 1};
  const iovec to{&copy, 1};
  return ::process_vm_readv(::getpid(), &to, 1, &from, 1, 0) == 1 || errno != ENOSYS;
}

}  // namespace

Result<std::shared_ptr<AddressSpace>> AddressSpace::open(std::uint32_t pid, Identity client) {
  const AssumedIdentity identity(client);
  if (!identity.succeeded()) return fail(EPERM, "cannot act as the client's user");
  auto space = std::make_shared<AddressSpace>();
  space->pid = pid;
  space->uid = client.uid;
  // First the descriptor, then the number of the program: the number is read through the descriptor, so that it is that
  // of the program which the descriptor is bound to, or 0.
  LT_TRY(space->mem, open_proc_file(pid, "mem", O_RDWR));
  if (must_assume(client) || !can_touch_by_pid()) {
    LT_TRY(space->maps, open_proc_file(pid, "maps", O_RDONLY));
  }
  if (auto pagemap = open_proc_file(pid, "pagemap", O_RDONLY)) space->pagemap = *std::move(pagemap);
  space->identity = space_identity(pid, space->mem.get());
  return space;
}

bool AddressSpace::is_alive() const {
  char byte;
  // A place between two entries: EINVAL while the address space is there, 0 once it is gone.
  if (pagemap) return ::pread(pagemap.get(), &byte, 1, 1) != 0;
  // Address 0 is never mapped: EIO while the address space is there, 0 once it is gone.
  return ::pread(mem.get(), &byte, 1, 0) != 0;
}

// There are two ways to touch the memory as the process could, by whether the owner has rights that the client lacks.
//
// It has, or the calls of the other way are missing (`maps` is open): by the descriptors alone, because the pid may
// belong to a setuid program by now. /proc/PID/mem writes to read-only pages, too, so the map is asked first. A client
// that changes the map in between spoils its own memory only.
//
// It has not: by pid, with calls that respect the rights of the pages. Whatever runs under that pid by now, the kernel
// lets the owner touch no more of it than it would let the client.

std::optional<MemoryMap> AddressSpace::look() const {
  return maps ? std::optional<MemoryMap>(maps.get()) : std::nullopt;
}

bool AddressSpace::read(std::uint64_t from, void* to, std::size_t size) const { return read(from, to, size, nullptr); }

bool AddressSpace::read(std::uint64_t from, void* to, std::size_t size, const MemoryMap* seen) const {
  if (maps) {
    return is_permitted(maps.get(), seen, from, size, Access::kRead) &&
           ::pread(mem.get(), to, size, static_cast<off_t>(from)) == static_cast<ssize_t>(size);
  }
  const iovec local{to, size};
  const iovec remote{reinterpret_cast<void*>(from), size};
  return ::process_vm_readv(static_cast<pid_t>(pid), &local, 1, &remote, 1, 0) == static_cast<ssize_t>(size);
}

bool AddressSpace::write(std::uint64_t to, std::span<const std::byte> bytes) const { return write(to, bytes, nullptr); }

bool AddressSpace::write(std::uint64_t to, std::span<const std::byte> bytes, const MemoryMap* seen) const {
  const auto size = static_cast<ssize_t>(bytes.size());
  if (maps) {
    return is_permitted(maps.get(), seen, to, bytes.size(), Access::kWrite) &&
           ::pwrite(mem.get(), bytes.data(), bytes.size(), static_cast<off_t>(to)) == size;
  }
  const iovec local{const_cast<std::byte*>(bytes.data()), bytes.size()};
  const iovec remote{reinterpret_cast<void*>(to), bytes.size()};
  return ::process_vm_writev(static_cast<pid_t>(pid), &local, 1, &remote, 1, 0) == size;
}

int AddressSpace::set_as_the_process_would(EnableBit bit, bool on, const Cancelled& cancelled,
                                           const MemoryMap* seen) const {
  std::byte byte{};
  if (!read(byte_of(bit), &byte, 1, seen)) return EFAULT;
  byte = changed(byte, bit, on);
  if (cancelled) return ECANCELED;
  return write(byte_of(bit), std::span(&byte, 1), seen) ? 0 : EFAULT;
}

int AddressSpace::set(EnableBit bit, bool on, const Cancelled& cancelled) const {
  std::byte byte{};
  const auto offset = static_cast<off_t>(byte_of(bit));
  if (::pread(mem.get(), &byte, 1, offset) != 1) return EFAULT;
  const std::byte wanted = changed(byte, bit, on);
  if (wanted == byte) return 0;
  if (cancelled) return ECANCELED;
  return ::pwrite(mem.get(), &wanted, 1, offset) == 1 ? 0 : EFAULT;
}

}  // namespace landtrace::programs
