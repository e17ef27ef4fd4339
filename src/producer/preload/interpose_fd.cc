// What opens, closes and duplicates descriptors, and ioctl.
#include <cstdarg>
#include <cstdio>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <climits>

#include "bpf_calls/descriptors.hpp"
#include "bpf_calls/perf_buffers.hpp"
#include "bpf_calls/perf_links.hpp"
#include "client/process.hpp"
#include "preload/agent_loader.hpp"
#include "preload/data_file.hpp"
#include "preload/perf_events.hpp"
#include "preload/real.hpp"
#include "preload/requests.hpp"
#include "preload/status_file.hpp"

namespace landtrace::preload {
namespace {

// The library's own connection is not the program's to close; but the number may be the program's by now.
bool is_own(int fd) {
  const client::Process& process = client::Process::get();
  return process.may_be_control_fd(fd) && process.control_fd() == fd;
}

int duplicated(int from, int to) {
  if (to < 0 || from == to) return to;
  const int saved_errno = errno;
  if (bpf_calls::has_descriptors() && !has_own_descriptors()) bpf_calls::copy_descriptor(from, to);
  if ((FdTable::is_ours(from) || FdTable::is_ours(to)) && !has_own_descriptors()) FdTable::copy(from, to);
  errno = saved_errno;
  return to;
}

// Returns what is to be handed to closed().
FdEntry closing(int fd) {
  const FdEntry file = FdTable::get(fd);
  if (bpf_calls::has_descriptors() && !has_own_descriptors()) bpf_calls::forget_descriptor(fd);
  if (file.generation != 0 && !has_own_descriptors()) FdTable::clear(fd);
  return file;
}

void closed(FdEntry file) {
  if (__builtin_expect(is_perf_event(file), 0) && !has_own_descriptors()) perf_descriptor_gone(file);
}

void forget_range(unsigned first, unsigned last) {
  bpf_calls::forget_descriptors(first, last);
  if (!perf_is_used) return FdTable::clear_range(first, last);
  for (unsigned fd = first; fd < FdTable::end() && fd <= last; ++fd) {
    const FdEntry file = FdTable::get(static_cast<int>(fd));
    FdTable::clear(static_cast<int>(fd));
    perf_descriptor_gone(file);
  }
}

// Whether the system takes such a call: without it nothing is forgotten that stays open.
bool can_close_range(int flags) { return real().close_range(UINT_MAX, UINT_MAX, flags) == 0; }

int close_range_sparing(unsigned first, unsigned last, int flags) {
  constexpr int kUnshare = 1 << 1;      // CLOSE_RANGE_UNSHARE: the calling thread's alone, if there are others
  constexpr int kCloseOnExec = 1 << 2;  // CLOSE_RANGE_CLOEXEC closes nothing yet
  const bool leaves = (flags & kUnshare) != 0 && has_company();
  const bool leaves_agent = (flags & kUnshare) != 0 && !leaves && !has_own_descriptors();
  const bool knows_any = FdTable::end() > first || bpf_calls::has_descriptors();
  if ((flags & kCloseOnExec) == 0 && !leaves && knows_any && !has_own_descriptors()) {
    if (!can_close_range(flags & ~kUnshare)) return -1;
    forget_range(first, last);
  }
  const auto call = [&](unsigned from, unsigned to) {
    const auto close = [&] { return real().close_range(from, to, flags); };
    // The agent's thread would keep those of the only thread of the program.
    const int result = leaves_agent ? without_agent_thread(close) : close();
    if (result == 0 && leaves) descriptors_left();
    return result;
  };
  const int own = client::Process::get().control_fd();
  const auto spared = static_cast<unsigned>(own);
  if (own < 0 || spared < first || spared > last) return call(first, last);
  int result = 0;
  if (spared > first) result = call(first, spared - 1);
  if (result == 0 && spared < last) result = call(spared + 1, last);
  return result;
}

int ioctl_on(FdEntry file, int fd, unsigned long request, void* argument) {
  switch (request) {
    case FIOCLEX:
    case FIONCLEX:
    case FIONBIO:
      return real().ioctl(fd, request, argument);  // of the descriptor, not of the file
    default:
      break;
  }
  if (is_perf_event(file) && is_program_request(request)) return set_perf_program(fd, argument);
  if (is_perf_event(file)) return perf_ioctl(file, request, argument);
  const int saved_errno = errno;
  const int result = is_status_file(file) ? -ENOTTY : data_request(fd, file, request, argument);
  errno = result < 0 ? -result : saved_errno;
  return result < 0 ? -1 : result;
}

}  // namespace
}  // namespace landtrace::preload

using namespace landtrace::preload;

LT_EXPORT int close(int fd) {
  if (is_own(fd)) return 0;  // a program that closes whatever there is goes on as it would
  const FdEntry file = closing(fd);
  const int result = real().close(fd);
  closed(file);
  return result;
}

LT_EXPORT int close_range(unsigned first, unsigned last, int flags) noexcept {
  if (real().close_range == nullptr) {
    errno = ENOSYS;
    return -1;
  }
  return first > last ? real().close_range(first, last, flags) : close_range_sparing(first, last, flags);
}

LT_EXPORT void closefrom(int first) noexcept { close_range(static_cast<unsigned>(std::max(first, 0)), UINT_MAX, 0); }

namespace {
// libc closes a stream's descriptor by itself.
template <typename Close>
auto closing_stream(std::FILE* stream, const Close& close) {
  const int errno_before = errno;
  const FdEntry file = stream == nullptr ? FdEntry{} : closing(::fileno(stream));
  errno = errno_before;
  const auto result = close();
  const int errno_after = errno;
  closed(file);
  errno = errno_after;
  return result;
}
}  // namespace

LT_EXPORT int fclose(std::FILE* stream) {
  return closing_stream(stream, [&] { return real().fclose(stream); });
}

LT_EXPORT std::FILE* freopen(const char* path, const char* mode, std::FILE* stream) {
  return closing_stream(stream, [&] { return real().freopen(path, mode, stream); });
}

LT_EXPORT std::FILE* freopen64(const char* path, const char* mode, std::FILE* stream) {
  return closing_stream(stream, [&] { return real().freopen64(path, mode, stream); });
}

LT_EXPORT int dup(int fd) noexcept { return duplicated(fd, real().dup(fd)); }

namespace {
// A descriptor that is about to be replaced stands for nothing from the moment on that it may be another file.
template <typename Duplicate>
int replaced(int from, int to, Duplicate duplicate) {
  const FdEntry before = FdTable::get(to);
  const bool is_known = before.generation != 0 || landtrace::bpf_calls::has_descriptors();
  const bool replaces = is_known && from != to && !has_own_descriptors();
  if (!replaces) return duplicated(from, duplicate());
  landtrace::bpf_calls::Described stood_for = landtrace::bpf_calls::take_descriptor(to);
  if (before.generation != 0) FdTable::clear(to);
  const int result = duplicate();
  const int saved_errno = errno;
  if (result < 0) {
    if (before.generation != 0) FdTable::set(to, before);
    if (!stood_for.is_nothing()) landtrace::bpf_calls::describe(to, std::move(stood_for));
  }
  duplicated(from, result);
  if (result >= 0) perf_descriptor_gone(before);
  errno = saved_errno;
  return result;
}
}  // namespace

LT_EXPORT int dup2(int from, int to) noexcept {
  return replaced(from, to, [&] { return real().dup2(from, to); });
}
LT_EXPORT int dup3(int from, int to, int flags) noexcept {
  return replaced(from, to, [&] { return real().dup3(from, to, flags); });
}

namespace {
// A socket can be read and written, whatever the file was opened for.
int flags_of(FdEntry file, int of_socket) {
  constexpr int kLargeFile = 0100000;
  if (of_socket < 0 || !file.is_data_file()) return of_socket;
  return (of_socket & ~O_ACCMODE) | file.access | kLargeFile;
}

int fcntl_any(int fd, int command, void* argument) {
  const int result = real().fcntl(fd, command, argument);
  if (command == F_GETFL) {
    const FdEntry file = FdTable::get(fd);
    return file.generation == 0 ? result : flags_of(file, result);
  }
  return command == F_DUPFD || command == F_DUPFD_CLOEXEC ? duplicated(fd, result) : result;
}
}  // namespace

#define LT_POINTER_ARGUMENT(after)                 \
  va_list arguments;                               \
  va_start(arguments, after);                      \
  void* const argument = va_arg(arguments, void*); \
  va_end(arguments);

LT_EXPORT int fcntl(int fd, int command, ...) {
  LT_POINTER_ARGUMENT(command)
  return fcntl_any(fd, command, argument);
}

LT_EXPORT int fcntl64(int fd, int command, ...) {
  LT_POINTER_ARGUMENT(command)
  return fcntl_any(fd, command, argument);
}

LT_EXPORT int ioctl(int fd, unsigned long request, ...) noexcept {
  LT_POINTER_ARGUMENT(request)
  const FdEntry file = is_data_request(request) ? find_file(fd) : FdTable::get(fd);
  if (__builtin_expect(perf_is_used, 0) && file.generation == 0 && is_output_request(request)) {
    const FdEntry to = FdTable::get(static_cast<int>(reinterpret_cast<std::intptr_t>(argument)));
    if (is_perf_event(to)) return perf_output_of_kernel(fd, to);
  }
  // They are always on.
  if (__builtin_expect(perf_is_used, 0) && landtrace::bpf_calls::is_perf_buffer(fd)) return 0;
  if (__builtin_expect(perf_is_used, 0)) {
    if (const auto answer = landtrace::bpf_calls::program_event_request(fd, request, argument)) {
      if (*answer >= 0) return static_cast<int>(*answer);
      errno = static_cast<int>(-*answer);
      return -1;
    }
  }
  if (__builtin_expect(file.generation == 0, 1)) return real().ioctl(fd, request, argument);
  return ioctl_on(file, fd, request, argument);
}
