// What /proc says of a program that is to be attached, and what of it is in the way.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.hpp"

namespace landtrace::attach {

struct Facts {
  std::uint32_t pid = 0;  // of the process, where a thread was named
  std::string name;
  char state = '?';  // as /proc says; 'X' also of one that has given up its memory to end
  std::uint32_t real_uid = 0;
  std::uint32_t effective_uid = 0;
  std::uint32_t tracer = 0;
  bool is_kernel_thread = false;
};
// ESRCH: there is none.
Result<Facts> facts_of(std::uint32_t pid);
// As of Facts::state; 'X' where there is no such thread.
char state_of_thread(std::uint32_t pid, std::uint32_t tid);
// "1234 (bash)"
std::string name_of(const Facts& facts);

// What kind of file the process runs.
struct Image {
  bool is_readable = false;  // else nothing of it is known
  bool is_elf64 = false;
  bool is_of_this_machine = false;
  std::string interpreter;  // the loader; "": it is static
};
Image image_of(std::uint32_t pid);

// Whom the system lets look into others, and who we are.
struct Rights {
  std::uint32_t uid = 0;  // effective
  int yama = -1;          // kernel.yama.ptrace_scope; -1: there is none
  bool is_ancestor = false;
};
Rights rights_over(std::uint32_t pid);

// Why it cannot be attached, whatever we try: EINVAL, EBUSY and others with a sentence.
Result<void> check(const Facts& facts, const Image& image);
// Why the system does not let us, once it has said so.
std::string why_not_permitted(const Facts& facts, const Rights& rights);

}  // namespace landtrace::attach
