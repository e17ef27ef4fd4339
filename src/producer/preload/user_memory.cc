#include "preload/user_memory.hpp"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "arch/thread_time.hpp"
#include "base/system_call.hpp"

namespace landtrace::preload {
namespace {

constexpr std::uintptr_t kPageShift = 12;
constexpr std::size_t kRemembered = 64;

// Page number + 1; 0 is an empty place.
thread_local std::uintptr_t readable_pages[kRemembered] __attribute__((tls_model("initial-exec")));

// Of the thread and not of the process: a main thread that has ended leaves an id that nothing can be asked about.
pid_t own_id() { return static_cast<pid_t>(::syscall(SYS_gettid)); }

// Emulators of kernels do not have the calls that copy.
bool is_unknown(ssize_t copied) { return copied < 0 && errno == ENOSYS; }

// Fails with EFAULT as well where either end is not there.
bool copy_through_pipe(void* to, const void* from, std::size_t size) {
  constexpr std::size_t kPiece = 4096;  // a pipe takes as much without waiting
  int ends[2];
  if (system_call(SYS_pipe2, ends, O_CLOEXEC) < 0) return false;
  long result = 0;
  for (std::size_t done = 0; result >= 0 && done < size;) {
    const std::size_t piece = std::min(size - done, kPiece);
    const auto wanted = static_cast<long>(piece);
    result = system_call(SYS_write, ends[1], static_cast<const char*>(from) + done, wanted);
    if (result >= 0 && result != wanted) result = -EFAULT;
    if (result >= 0) result = system_call(SYS_read, ends[0], static_cast<char*>(to) + done, wanted);
    if (result >= 0 && result != wanted) result = -EFAULT;
    done += piece;
  }
  system_call(SYS_close, ends[0]);
  system_call(SYS_close, ends[1]);
  if (result < 0) errno = static_cast<int>(-result);
  return result >= 0;
}

bool page_is_readable(std::uintptr_t page) {
  std::uintptr_t& remembered = readable_pages[(page ^ page >> 6) % kRemembered];
  if (__builtin_expect(remembered == page + 1, 1) || !arch::may_call()) return true;
  char byte;
  const int saved_errno = errno;
  // Where the call itself is refused (a sandbox) there is no telling, and the program is believed.
  const bool readable = copy_in(&byte, reinterpret_cast<const void*>(page << kPageShift), 1) || errno != EFAULT;
  errno = saved_errno;
  if (readable) remembered = page + 1;
  return readable;
}

}  // namespace

bool copy_in(void* to, const void* from, std::size_t size) {
  const iovec local{to, size};
  const iovec remote{const_cast<void*>(from), size};
  const ssize_t copied = ::process_vm_readv(own_id(), &local, 1, &remote, 1, 0);
  return copied == static_cast<ssize_t>(size) || (is_unknown(copied) && copy_through_pipe(to, from, size));
}

bool copy_out(void* to, const void* from, std::size_t size) {
  const iovec local{const_cast<void*>(from), size};
  const iovec remote{to, size};
  const ssize_t copied = ::process_vm_writev(own_id(), &local, 1, &remote, 1, 0);
  return copied == static_cast<ssize_t>(size) || (is_unknown(copied) && copy_through_pipe(to, from, size));
}

bool is_readable(const void* at, std::size_t size) {
  if (size == 0) return true;
  const auto first = reinterpret_cast<std::uintptr_t>(at);
  const std::uintptr_t last = first + size - 1;
  if (last < first) return false;
  for (std::uintptr_t page = first >> kPageShift; page <= last >> kPageShift; ++page) {
    if (!page_is_readable(page)) return false;
  }
  return true;
}

bool point_to_readable(const iovec* vectors, int count) {
  return std::all_of(vectors, vectors + count,
                     [](const iovec& vector) { return is_readable(vector.iov_base, vector.iov_len); });
}

}  // namespace landtrace::preload
