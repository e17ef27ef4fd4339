// What the shim wants of liblandtrace-perf.so, which it loads when a program asks for its first perf event: functions,
// found under one name. Whatever these return below 0 is an errno. None of them throws.
//
// The library is a consumer of the domain (owner/perf). Few programs call perf_event_open(), and the shim is in all.
#pragma once

#include <cstddef>
#include <cstdint>

namespace landtrace::ipc {

inline constexpr std::uint32_t kPerfLibraryVersion = 2;
inline constexpr const char* kPerfLibraryEntry = "landtrace_perf_library";

// The arguments of perf_event_open(2). `attr` is the program's pointer, which may be bad.
struct PerfOpen {
  void* attr;
  std::int32_t pid;
  std::int32_t cpu;
  // The handle of group_fd; 0: that is none of the library's.
  std::uint32_t group;
  // -1: there is none.
  std::int32_t group_fd;
  std::uint64_t flags;
  // Where the domain is served.
  const char* socket;
};

// An event of the library, by which the shim names it from there on.
struct PerfOpened {
  std::int32_t fd;
  std::uint32_t handle;
};

// PerfLibrary::open: no event of the domain is meant. The kernel answers.
inline constexpr int kNotOfTheDomain = 1;

struct PerfLibrary {
  std::uint32_t version;
  int (*open)(const PerfOpen& wanted, PerfOpened& opened);
  long (*ioctl)(std::uint32_t handle, unsigned long request, void* argument);
  // SET_OUTPUT of the event to another descriptor: with its handle, or 0 where it is the kernel's event; -1: no output.
  long (*set_output)(std::uint32_t handle, int fd, std::uint32_t to);
  // SET_OUTPUT of a kernel's event to one of the library.
  long (*take_output)(int fd, std::uint32_t to);
  long (*read)(std::uint32_t handle, void* buffer, std::size_t size);
  // A descriptor of the event was found readable: it is not any more, until there is more.
  void (*polled)(std::uint32_t handle);
  // What is to be mapped in the place of the event's descriptor.
  int (*memory)(std::uint32_t handle, std::size_t size, int protection, int flags, std::int64_t offset);
  // The program has mapped a kernel's event.
  void (*mapped)(int fd, void* address, std::size_t size);
  // Brings what the domain has recorded into the events' rings. True if there was anything.
  bool (*pull)();
  // Whether no thread is left that the event is about.
  bool (*is_hung_up)(std::uint32_t handle);
  // No descriptor of the event is left.
  void (*drop)(std::uint32_t handle);
  // In a forked child, which has its parent's descriptors, but not its events.
  void (*child)();
  // Whether an event is on whose ring the program may look at without a call: then what it emits itself is pulled at
  // once.
  const bool* watches_memory;
  // Whether an event with a ring waits for a program that is about to be started.
  const bool* awaits_exec;
  // Whether an event with a ring is on, or waits.
  const bool* is_sampling;
};

}  // namespace landtrace::ipc
