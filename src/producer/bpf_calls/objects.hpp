// The maps, programs and links that this process has from its domain.
//
// Each has a descriptor of its own (an eventfd), so that it can be closed, and waited for, as the kernel's. What the
// owner holds for the process goes with the last reference, which a descriptor has, and whoever is at it just then; or
// with the connection.
#pragma once

#include <linux/bpf.h>

#include <cstdint>

#include "bpf/map_layout.hpp"
#include "bpf_calls/descriptors.hpp"

namespace landtrace::bpf_calls {

enum class Kind : std::uint8_t { kMap, kProgram, kLink };

struct Object {
  Kind kind{};
  // The owner's.
  std::uint32_t number = 0;
  // Which connection the owner holds it for: as connection_now().
  std::uint64_t connection = 0;
  // Of its descriptors.
  std::uint64_t inode = 0;
  char name[16] = {};
  // kMap: where it lies in this process, and how.
  std::byte* data = nullptr;
  bpf::MapLayout layout{};
  // It stays with the process, whatever becomes of its descriptors. Set once.
  mutable bool is_mapped = false;
  // BPF_MAP_FREEZE. Set once.
  mutable bool is_frozen = false;
  // What of a map's elements the tool may do; programs may do what they do.
  [[nodiscard]] bool may_be_read() const { return (layout.flags & BPF_F_WRONLY) == 0; }
  [[nodiscard]] bool may_be_changed() const {
    return (layout.flags & BPF_F_RDONLY) == 0 && !__atomic_load_n(&is_frozen, __ATOMIC_RELAXED);
  }
  // kProgram: `shared` is its offset in the control segment of the domain that it was loaded into.
  const void* control = nullptr;
  std::uint32_t shared = 0;
  // Bytes of its context that it looks at.
  std::uint32_t context_size = 0;
  std::uint32_t type = 0;
  std::uint32_t instructions = 0;
};

// Tells the connection that this process has with the owner from those before it, and from its parent's; 0: it has
// none.
std::uint64_t connection_now();
// What the owner has just made for this process.
ObjectRef hold(Object object);

class Objects {
 public:
  static Objects& get();

  // A descriptor, or a negative errno.
  int add(Object object);
  // nullptr: the descriptor is none of ours, or of another kind.
  ObjectRef find(int fd, Kind kind);
  [[nodiscard]] bool has_map_of(std::uint32_t map_kind);
  // A bpf_prog_type.
  [[nodiscard]] bool has_program_of(std::uint32_t type);
};

// Of a descriptor: what was closed behind our back is noticed where the number is another kind of file's by now. (All
// eventfds have one inode.)
std::uint64_t inode_of(int fd);

}  // namespace landtrace::bpf_calls
