// syscall(): programs that go around libc's wrappers, but not around libc.
#include <cerrno>
#include <cstdarg>
#include <fcntl.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "bpf_calls/bpf_call.hpp"
#include "client/locked.hpp"
#include "preload/fd_table.hpp"
#include "preload/perf_events.hpp"
#include "preload/real.hpp"
#include "preload/sandbox.hpp"

using namespace landtrace::preload;

namespace {

struct Arguments {
  long a, b, c, d, e, f;

  template <typename T>
  static T* pointer(long value) {
    return reinterpret_cast<T*>(value);
  }
  [[nodiscard]] int fd() const { return static_cast<int>(a); }
};

// Where syscall() is no place to be cancelled at, and the wrapper is one.
template <typename Call>
long uncancelled(const Call& call) {
  const landtrace::client::NoCancellation no_cancellation;
  return call();
}

}  // namespace

// Those that open, close, duplicate and write descriptors go the way of the wrappers in this library.
LT_EXPORT long syscall(long number, ...) noexcept {
  va_list list;
  va_start(list, number);
  Arguments x{};
  long* const all[] = {&x.a, &x.b, &x.c, &x.d, &x.e, &x.f};
  for (long* const at : all) *at = va_arg(list, long);
  va_end(list);
  const auto forward = [&] { return real().syscall(number, x.a, x.b, x.c, x.d, x.e, x.f); };
  switch (number) {
#ifdef SYS_open
    case SYS_open:
      return uncancelled(
          [&] { return ::open(Arguments::pointer<const char>(x.a), static_cast<int>(x.b), static_cast<mode_t>(x.c)); });
#endif
    case SYS_openat:
      return uncancelled([&] {
        return ::openat(x.fd(), Arguments::pointer<const char>(x.b), static_cast<int>(x.c), static_cast<mode_t>(x.d));
      });
    case SYS_close:
      return uncancelled([&] { return ::close(x.fd()); });
    case SYS_close_range:
      return ::close_range(static_cast<unsigned>(x.a), static_cast<unsigned>(x.b), static_cast<int>(x.c));
    case SYS_fcntl:
      return uncancelled([&] { return ::fcntl(x.fd(), static_cast<int>(x.b), x.c); });
    case SYS_dup:
      return ::dup(x.fd());
#ifdef SYS_dup2
    case SYS_dup2:
      return ::dup2(x.fd(), static_cast<int>(x.b));
#endif
    case SYS_dup3:
      return ::dup3(x.fd(), static_cast<int>(x.b), static_cast<int>(x.c));
    case SYS_ioctl:
      return ::ioctl(x.fd(), static_cast<unsigned long>(x.b), x.c);
    case SYS_perf_event_open:
      return open_perf_event(Arguments::pointer<void>(x.a), static_cast<pid_t>(x.b), static_cast<int>(x.c),
                             static_cast<int>(x.d), static_cast<unsigned long>(x.e));
    case SYS_bpf:
      if (const auto answer = landtrace::bpf_calls::bpf_call(static_cast<int>(x.a), Arguments::pointer<const void>(x.b),
                                                             static_cast<unsigned>(x.c))) {
        if (*answer >= 0) return *answer;
        errno = static_cast<int>(-*answer);
        return -1;
      }
      return forward();
    case SYS_unshare:
      return ::unshare(static_cast<int>(x.a));
    case SYS_setns:
      return ::setns(x.fd(), static_cast<int>(x.b));
    case SYS_prctl:
    case SYS_seccomp:
      return sandbox_syscall(number, x.a, x.b, x.c, x.d, x.e);
    case SYS_write:
      if (!FdTable::is_ours(x.fd())) return written_elsewhere(forward());
      return ::write(x.fd(), Arguments::pointer<const void>(x.b), static_cast<std::size_t>(x.c));
    case SYS_writev:
      if (!FdTable::is_ours(x.fd())) return written_elsewhere(forward());
      return ::writev(x.fd(), Arguments::pointer<const iovec>(x.b), static_cast<int>(x.c));
    default:
      return forward();
  }
}
