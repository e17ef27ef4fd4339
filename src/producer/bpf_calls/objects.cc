#include "bpf_calls/objects.hpp"

#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <new>

#include "client/process.hpp"

namespace landtrace::bpf_calls {
namespace {

class Lock {
 public:
  explicit Lock(pthread_mutex_t& mutex) : mutex_(mutex) { ::pthread_mutex_lock(&mutex_); }
  ~Lock() { ::pthread_mutex_unlock(&mutex_); }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

 private:
  pthread_mutex_t& mutex_;
};

// All eventfds have one inode: what was closed behind our back is noticed where its number is another kind of file's.
std::uint64_t inode_of(int fd) {
  struct stat status;
  return ::fstat(fd, &status) == 0 ? status.st_ino + 1 : 0;
}

}  // namespace

// Never destroyed: threads may go on after main().
Objects& Objects::get() {
  alignas(Objects) static std::byte memory[sizeof(Objects)];
  static Objects* const objects = new (memory) Objects;
  return *objects;
}

int Objects::add(Object object) {
  const int fd = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (fd < 0) return -errno;
  object.inode = inode_of(fd);
  const Lock lock(mutex_);
  objects_[fd] = std::make_shared<const Object>(object);
  __atomic_store_n(&count_, objects_.size(), __ATOMIC_RELAXED);
  return fd;
}

ObjectRef Objects::find(int fd, Kind kind) {
  const Lock lock(mutex_);
  const auto found = objects_.find(fd);
  if (found == objects_.end() || found->second->kind != kind || inode_of(fd) != found->second->inode) return nullptr;
  return found->second;
}

bool Objects::has_map_of(std::uint32_t map_kind) {
  if (!has_any()) return false;
  const Lock lock(mutex_);
  return std::any_of(objects_.begin(), objects_.end(), [&](const auto& one) {
    return one.second->kind == Kind::kMap && one.second->layout.kind == map_kind;
  });
}

bool Objects::has_program_of(std::uint32_t type) {
  if (!has_any()) return false;
  const Lock lock(mutex_);
  return std::any_of(objects_.begin(), objects_.end(),
                     [&](const auto& one) { return one.second->kind == Kind::kProgram && one.second->type == type; });
}

void Objects::keep_mapped(int fd) {
  const Lock lock(mutex_);
  const auto found = objects_.find(fd);
  if (found == objects_.end() || found->second->is_mapped) return;
  Object mapped = *found->second;
  mapped.is_mapped = true;
  found->second = std::make_shared<const Object>(mapped);
}

void Objects::forget(int fd) {
  std::uint32_t number = 0;
  bool is_mapped = false;
  {
    const Lock lock(mutex_);
    const auto found = objects_.find(fd);
    if (found == objects_.end()) return;
    number = found->second->number;
    is_mapped = found->second->is_mapped;
    objects_.erase(found);
    __atomic_store_n(&count_, objects_.size(), __ATOMIC_RELAXED);
  }
  if (is_mapped) return;
  const int saved_errno = errno;
  static_cast<void>(client::Process::get().ask({.operation = ipc::Operation::kBpfDrop, .a = number}));
  errno = saved_errno;
}

}  // namespace landtrace::bpf_calls
