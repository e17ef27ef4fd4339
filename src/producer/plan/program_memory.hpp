// Reads the memory of the program in whose thread this runs, whatever an address leads to.
//
// A word is loaded by one instruction that the handler of SIGSEGV knows (client/tsc_guard.cc): a fault there is
// mended. A thread may have SIGSEGV blocked, or the program may have taken the handler away; a fault would then be
// the end. So a page is asked about before it is read, by a system call that changes nothing: rt_sigprocmask with
// an impossible `how` reads its set first, and says EFAULT or EINVAL. While the handler is there each thread
// remembers the pages that it found last; without it every word is copied by the kernel.
#pragma once

#include <cstddef>
#include <cstdint>

namespace landtrace::plan {

// Copies up to `size` bytes, and says how many there were to copy. Async-signal-safe; never faults.
std::size_t read_program(std::uint64_t from, void* to, std::size_t size);

// Copies a text with its NUL, or without where it is longer than `size`. False where it is not there.
bool read_program_text(std::uint64_t from, char* to, std::size_t size, std::size_t& length);

// Whether the handler of SIGSEGV calls mend_load_fault(). Said by whoever has installed it.
void set_load_guard(bool is_there);

// In the handler: true where the fault was that of a load in here, which then fails and goes on at the changed `pc`.
bool mend_load_fault(std::int64_t* pc);

}  // namespace landtrace::plan
