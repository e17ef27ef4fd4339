// Whether a thread stands where it may be sent on a detour: it then calls pthread_create(), so it must hold none of
// the locks that this takes, those of malloc and the loader. And where the system has interrupted a call of it for our
// sake, how the call is begun anew.
#pragma once

#include <sys/user.h>

#include <cstdint>
#include <string>
#include <vector>

#include "attach/program_memory.hpp"

namespace landtrace::attach {

// A thread, without stopping it, as /proc/PID/task/TID/syscall shows it.
struct Standing {
  enum class Kind {
    kGone,
    kRuns,
    kWaits,      // in a call that nobody makes who holds such a lock, and that the system begins anew by itself
    kWaitsOnce,  // the same, but begun anew it waits for its whole time again: a last resort
    kInTheWay,   // in another call
  } kind = Kind::kGone;
  std::uint64_t fingerprint = 0;  // of what it waits for
};
Standing standing_of(std::uint32_t pid, std::uint32_t tid);

// Of a thread that is stopped. A call in progress shows a negative result that programs never see.
bool is_in_call(const user_regs_struct& registers);
// It would tell the program that it was interrupted, unless it is begun anew by us.
bool answers_by_itself(const user_regs_struct& registers);
// As if the call had not begun. Registers of a thread that is in none stay as they are.
void begin_anew(user_regs_struct& registers);

std::uint64_t place_of(const user_regs_struct& registers);
void set_place(user_regs_struct& registers, std::uint64_t address);

class SafePlaces {
 public:
  static SafePlaces of(const ProgramMemory& memory, const std::vector<MappedRange>& ranges,
                       const std::vector<MappedObject>& objects);

  // `tid` is stopped with these registers. Also looks through its stack: a handler of a signal may have interrupted
  // malloc.
  [[nodiscard]] bool is_safe(std::uint32_t tid, const user_regs_struct& registers) const;

 private:
  explicit SafePlaces(const ProgramMemory& memory) : memory_(memory) {}
  [[nodiscard]] bool is_safe_code(std::uint64_t address) const;
  [[nodiscard]] bool was_safe_when_interrupted(std::uint64_t frame) const;
  [[nodiscard]] bool is_stack_safe(std::uint64_t pointer) const;

  const ProgramMemory& memory_;
  std::vector<MappedRange> ranges_;
  std::vector<std::string> unsafe_;     // paths of libc, the loader and who else has a malloc()
  std::vector<std::uint64_t> returns_;  // where handlers of signals return to
};

}  // namespace landtrace::attach
