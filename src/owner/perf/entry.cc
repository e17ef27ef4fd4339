// The functions that the shim calls. Nothing is thrown past them.
#include <exception>
#include <new>

#include "perf/library.hpp"

namespace landtrace::perf {
namespace {

// The result, or a negative errno.
template <typename Call>
long guarded(const Call& call) {
  try {
    const std::scoped_lock lock(Library::get().mutex());
    const auto result = call(Library::get());
    return result ? static_cast<long>(*result) : -static_cast<long>(result.error().code);
  } catch (const std::bad_alloc&) {
    return -ENOMEM;
  } catch (const std::exception&) {
    return -EIO;
  }
}

int open(const ipc::PerfOpen& wanted, ipc::PerfOpened& opened) {
  const long is_ours = guarded([&](Library& library) { return library.open(wanted, opened); });
  if (is_ours == 1) return 0;
  return is_ours == 0 ? ipc::kNotOfTheDomain : static_cast<int>(is_ours == -EPERM ? -EACCES : is_ours);
}
long ioctl(std::uint32_t handle, unsigned long request, void* argument) {
  return guarded([&](Library& library) { return library.ioctl(handle, request, argument); });
}
long set_output(std::uint32_t handle, int fd, std::uint32_t to) {
  return guarded([&](Library& library) { return library.set_output(handle, fd, to); });
}
long take_output(int fd, std::uint32_t to) {
  return guarded([&](Library& library) { return library.take_output(fd, to); });
}
long read(std::uint32_t handle, void* buffer, std::size_t size) {
  return guarded([&](Library& library) { return library.read(handle, buffer, size); });
}
void polled(std::uint32_t handle) {
  guarded([&](Library& library) {
    library.polled(handle);
    return Result<int>(0);
  });
}
int memory(std::uint32_t handle, std::size_t size, int protection, int flags, std::int64_t offset) {
  return static_cast<int>(
      guarded([&](Library& library) { return library.memory(handle, size, protection, flags, offset); }));
}
void mapped(int fd, void* address, std::size_t size) {
  guarded([&](Library& library) {
    library.mapped(fd, address, size);
    return Result<int>(0);
  });
}
// Waits for a thread that is at it: it may have begun before what is looked for happened.
bool pull() {
  return guarded([](Library& library) { return Result<bool>(library.pull()); }) == 1;
}
bool is_hung_up(std::uint32_t handle) {
  return guarded([&](Library& library) { return Result<bool>(library.is_hung_up(handle)); }) == 1;
}
void drop(std::uint32_t handle) {
  guarded([&](Library& library) {
    library.drop(handle);
    return Result<int>(0);
  });
}
// Other threads are not there any more, and one of them may have had the lock.
void child() {
  new (&Library::get().mutex()) std::mutex();
  guarded([](Library& library) {
    library.child();
    return Result<int>(0);
  });
}

constexpr ipc::PerfLibrary kLibrary{ipc::kPerfLibraryVersion,
                                    open,
                                    ioctl,
                                    set_output,
                                    take_output,
                                    read,
                                    polled,
                                    memory,
                                    mapped,
                                    pull,
                                    is_hung_up,
                                    drop,
                                    child,
                                    &Library::watches_memory,
                                    &Library::awaits_exec,
                                    &Library::is_sampling};

}  // namespace
}  // namespace landtrace::perf

extern "C" __attribute__((visibility("default"))) const landtrace::ipc::PerfLibrary* landtrace_perf_library() {
  return &landtrace::perf::kLibrary;
}
