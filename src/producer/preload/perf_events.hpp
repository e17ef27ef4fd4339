// Perf events of the domain's events, for programs that call perf_event_open() through libc. What there is to do is
// done by liblandtrace-perf.so, which is loaded at the first such call (ipc/perf_library.hpp); here is what stands
// between it and the program's descriptors.
#pragma once

#include <poll.h>
#include <signal.h>
#include <sys/types.h>

#include <cerrno>

#include "ipc/perf_library.hpp"
#include "preload/fd_table.hpp"

namespace landtrace::preload {

// How a descriptor's entry says that it is one: FdEntry::access. Its generation is the library's handle.
inline constexpr std::uint16_t kPerfEvent = 6;
// As FdEntry::slot: it never happens, and nobody need look while a thread waits for it.
inline constexpr std::uint16_t kPerfDummy = 1;
inline bool is_perf_event(FdEntry entry) { return entry.access == kPerfEvent && entry.generation != 0; }
// What lseek() and reads and writes at a place answer.
inline ssize_t refuse_position() {
  errno = ESPIPE;
  return -1;
}

// Whether the process has, or had, such events. Until then nothing costs more than this.
inline bool perf_is_used = false;

// perf_event_open(2), with errno. What is not of the domain goes to the kernel.
long open_perf_event(void* attr, pid_t pid, int cpu, int group, unsigned long flags);

// As ioctl(), read() and mmap() of such a descriptor, and ioctl() of another one that may have to do with one.
int perf_ioctl(FdEntry entry, unsigned long request, void* argument);
bool is_output_request(unsigned long request);
// PERF_EVENT_IOC_SET_BPF, of an event of ours.
bool is_program_request(unsigned long request);
int set_perf_program(int fd, void* argument);
int perf_output_of_kernel(int fd, FdEntry to);
ssize_t read_perf_event(FdEntry entry, void* buffer, std::size_t size);
void* map_perf_event(FdEntry entry, void* address, std::size_t size, int protection, int flags, off_t offset);
void perf_event_mapped(int fd, void* address, std::size_t size);

// A descriptor of the event was closed or replaced; it may have been the last.
void perf_descriptor_gone(FdEntry entry);
// Brings what was recorded to where the program looks for it. True if there was anything.
bool pull_perf_events();
// After a write of this program, whatever it was to: perf lets its command go by one, and writes to its file before it
// looks at its memory for the last time.
//
// perf ends when its command does, without another call where SIGCHLD comes before it first waits. So that signal is
// held back from the first write to the first wait, which finds what the command has emitted: also in threads that
// begin meanwhile, as perf's does that waits for dummy events; what is asked of those lets it not through.
void perf_after_write();
inline ssize_t written_elsewhere(ssize_t result) {
  if (__builtin_expect(perf_is_used, 0)) perf_after_write();
  return result;
}
// perf_after_write() may hold SIGCHLD back, until this is called: where a program waits, or asks for something.
void let_child_signal_through();
// For who sets its mask itself: the mask without what was held back, which is not held any more.
sigset_t without_held_signal(sigset_t mask);
// After an event of this program itself, which may look for it without another call.
void perf_after_own_event();
// How many of the descriptors are of events whose threads have all ended; marks them.
int mark_hung_up(pollfd* fds, nfds_t count);
// A poll of the program has found these readable. As of the kernel's events, they are not until there is more.
void perf_events_polled(const pollfd* fds, nfds_t count);
// In a forked child.
void perf_after_fork();

}  // namespace landtrace::preload
