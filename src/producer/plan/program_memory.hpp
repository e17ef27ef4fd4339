// Reads the memory of the program in whose thread this runs, whatever an address leads to.
//
// A page is asked about before it is read, by a system call that changes nothing: rt_sigprocmask with an impossible
// `how` reads its set first, and says EFAULT or EINVAL. What was found is good for one hit: the program does not go on
// meanwhile, and may do anything to its memory in between. Only another thread could take the page away just then; so
// a word is loaded by one instruction that the handler of SIGSEGV knows (client/tsc_guard.cc), and a fault there is
// mended, unless the thread has the signal blocked, the program has put a handler of its own there since, or the page
// was a file's that another thread has made shorter. Where the handler never was there every word is copied by the
// kernel.
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
  // Copies a text with its NUL, or without where it is longer than `size`. False where it is not there.
  bool read_text(std::uint64_t from, char* to, std::size_t size, std::size_t& length);

 private:
  bool knows(std::uint64_t page);
  bool load(std::uint64_t address, std::uint64_t& word);
  template <typename Take>
  bool read_words(std::uint64_t from, const Take& take);

  static constexpr unsigned kPages = 8;
  unsigned found_ = 0;  // how many; the last ones are remembered
  std::uint64_t pages_[kPages];
};

// Whether the handler of SIGSEGV calls mend_load_fault(). Said by whoever has installed it.
void set_load_guard(bool is_there);

// In the handler: true where the fault was that of a load in here, which then fails and goes on at the changed `pc`.
bool mend_load_fault(std::int64_t* pc);

}  // namespace landtrace::plan
