// Programs whose system calls seccomp limits. Where it lets a thread make all those that the detour, the loader and the
// agent make, it is attached as any other; where one of them might end the program, it is not.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "attach/seccomp_filter.hpp"
#include "base/result.hpp"

namespace landtrace::attach {

// Of a process's threads.
enum class Limits {
  kNone,
  kFilters,  // all have as many
  kMixed,    // not all of them
  kStrict,
};
Limits limits_of(std::uint32_t pid);

// How many it has; 0 also where the kernel does not say (before 5.9).
unsigned filters_of(std::uint32_t tid);

// Whether the system shows us the filters of others: to root that has none itself.
bool may_read_filters();

// Which of those calls the filters do not let a thread make, whatever its arguments: "clone3 (it may end the program)";
// "": none.
std::string call_in_the_way(const std::vector<SeccompFilter>& filters);

// Of one program. The errors say behind a colon why it cannot be attached.
class Confinement {
 public:
  // With no more than so many filters, that are known, its threads are let in.
  explicit Confinement(unsigned harmless_filters = 0) : harmless_(harmless_filters) {}
  // What can be seen without a thread's filters.
  [[nodiscard]] Result<void> check(std::uint32_t pid) const;
  // A thread with these filters may be sent on the detour: they were judged before. For a thread that is stopped,
  // which should not be for as long as that takes.
  [[nodiscard]] bool lets_in(const std::vector<SeccompFilter>& filters) const;
  Result<void> judge(const std::vector<SeccompFilter>& filters);
  // Of a thread that is stopped.
  [[nodiscard]] bool has_harmless_ones(std::uint32_t tid) const;

 private:
  unsigned harmless_;
  std::vector<SeccompFilter> judged_;  // they let it in
};

}  // namespace landtrace::attach
