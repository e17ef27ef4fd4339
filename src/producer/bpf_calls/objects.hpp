// The maps, programs and links that this process has from its domain, by descriptor.
//
// Each has a descriptor of its own (an eventfd), so that it can be closed, and waited for, as the kernel's. What the
// owner holds for the process goes when the descriptor is closed, or with the process.
#pragma once

#include <pthread.h>

#include <cstdint>
#include <map>
#include <memory>

#include "bpf/map_layout.hpp"

namespace landtrace::bpf_calls {

enum class Kind : std::uint8_t { kMap, kProgram, kLink };

struct Object {
  Kind kind{};
  // The owner's.
  std::uint32_t number = 0;
  // Of a process that has forked: whose the descriptor is.
  std::uint64_t inode = 0;
  char name[16] = {};
  // kMap: where it lies in this process, and how.
  std::byte* data = nullptr;
  bpf::MapLayout layout{};
  bool is_mapped = false;
  // kProgram: `shared` is its offset in the control segment of the domain that it was loaded into.
  const void* control = nullptr;
  std::uint32_t shared = 0;
  // Bytes of its context that it looks at.
  std::uint32_t context_size = 0;
  std::uint32_t type = 0;
  std::uint32_t instructions = 0;
};
using ObjectRef = std::shared_ptr<const Object>;

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
  // The map stays with the process when the descriptor is closed.
  void keep_mapped(int fd);
  // The descriptor is about to be closed.
  void forget(int fd);
  // Looked at before each close().
  [[nodiscard]] bool has_any() const { return __atomic_load_n(&count_, __ATOMIC_RELAXED) != 0; }

 private:
  pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
  std::map<int, ObjectRef> objects_;
  std::size_t count_ = 0;
};

}  // namespace landtrace::bpf_calls
