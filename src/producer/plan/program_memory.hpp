// Reads the memory of the program in whose thread this runs, whatever an address leads to.
//
// A page is asked about before it is read, by a system call that changes nothing: rt_sigprocmask with an impossible
// `how` reads its set first, and says EFAULT or EINVAL. A word is loaded by one instruction that the handler of
// SIGSEGV and SIGBUS knows (client/tsc_guard.cc): a fault there is mended, as the page may go at any moment.
//
// But a thread may have these signals blocked, and the program may have put handlers of its own there since. So a
// thread asks whether it has our handlers, once between two ticks of the system's clock (1 to 10 ms), at which it looks
// in each sixteenth hit: where it has, a page that was found since is not asked about again; where it has not, what was
// found is good for one hit, in which only another thread could take the page away. What is left is a program that
// blocks the signals or installs a handler, and takes a page away that the thread has read and reads again, all within
// sixteen hits or a tick.
//
// A program with a filter of system calls may be killed for one that it does not make. Where there may be such a filter
// nobody asks for handlers (set_filters()), and what was found is good for one hit. Asking about a page remains.
//
// Where the handler never was there every word is copied by the kernel.
#pragma once

#include <cstddef>
#include <cstdint>

namespace landtrace::plan {

// Lives no longer than a hit. Async-signal-safe.
class ProgramMemory {
 public:
  ProgramMemory() = default;
  // Of a place where the thread has come from on the same stack, whose page there needs no asking.
  explicit ProgramMemory(std::uint64_t stack_pointer);
  // Copies up to `size` bytes, and says how many there were to copy.
  std::size_t read(std::uint64_t from, void* to, std::size_t size);
  // Copies a text with its NUL, or without where it is longer than `size`. Behind the NUL up to seven more bytes of
  // these may be 0 then, as the kernel leaves them. False where it is not there.
  bool read_text(std::uint64_t from, char* to, std::size_t size, std::size_t& length);

 private:
  bool knows(std::uint64_t page);
  template <typename Take>
  bool read_words(std::uint64_t from, const Take& take);

  bool has_begun_ = false;
  std::uint64_t stack_page_ = 0;
};

// The handler of SIGSEGV, which calls mend_load_fault(); nullptr: there is none. Said by whoever has installed it, for
// SIGBUS, too, where it could.
void set_load_guard(const void* handler);

// So many filters of system calls the process has, or is about to have, as far as anybody knows. Stays where it is.
void set_filters(const std::uint32_t* count);

// In the handler: true where the fault was that of a load in here, which then fails and goes on at the changed `pc`.
bool mend_load_fault(std::int64_t* pc);

}  // namespace landtrace::plan
