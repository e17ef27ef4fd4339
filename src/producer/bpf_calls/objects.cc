#include "bpf_calls/objects.hpp"

#include <sys/eventfd.h>
#include <sys/stat.h>

#include <cerrno>

#include "client/process.hpp"

namespace landtrace::bpf_calls {
namespace {

void let_go(const Object* object) {
  const std::unique_ptr<const Object> gone(object);
  if (__atomic_load_n(&gone->is_mapped, __ATOMIC_RELAXED)) return;
  const int saved_errno = errno;
  // Of another connection the owner has let go already, or it is this process's parent's.
  if (gone->connection != 0 && connection_now() == gone->connection) {
    static_cast<void>(client::Process::get().ask({.operation = ipc::Operation::kBpfDrop, .a = gone->number}));
  }
  errno = saved_errno;
}

}  // namespace

std::uint64_t inode_of(int fd) {
  struct stat status;
  return ::fstat(fd, &status) == 0 ? status.st_ino + 1 : 0;
}

std::uint64_t connection_now() {
  const int fd = client::Process::get().control_fd();
  return fd < 0 ? 0 : inode_of(fd);
}

ObjectRef hold(Object object) {
  object.connection = connection_now();
  return {new Object(object), let_go};
}

Objects& Objects::get() {
  static Objects objects;
  return objects;
}

int Objects::add(Object object) {
  const int fd = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  const int error = errno;
  if (fd >= 0) object.inode = inode_of(fd);
  ObjectRef held = hold(object);
  if (fd < 0) return -error;
  describe(fd, {.object = std::move(held)});
  return fd;
}

ObjectRef Objects::find(int fd, Kind kind) {
  ObjectRef found = described(fd).object;
  if (found != nullptr && (found->kind != kind || inode_of(fd) != found->inode)) found = nullptr;
  return found;
}

bool Objects::has_map_of(std::uint32_t map_kind) {
  bool has_one = false;
  each_descriptor([&](int, const Described& one) {
    has_one |= one.object != nullptr && one.object->kind == Kind::kMap && one.object->layout.kind == map_kind;
  });
  return has_one;
}

bool Objects::has_program_of(std::uint32_t type) {
  bool has_one = false;
  each_descriptor([&](int, const Described& one) {
    has_one |= one.object != nullptr && one.object->kind == Kind::kProgram && one.object->type == type;
  });
  return has_one;
}

}  // namespace landtrace::bpf_calls
