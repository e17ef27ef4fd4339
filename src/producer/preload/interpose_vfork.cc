// The functions that make a child with the caller's memory. vfork() returns to its caller's frame twice, so what stands
// in front of it has no frame of its own by then; nor has what stands in front of clone(), whose arguments are many.
#include <sched.h>

#include <cstdio>
#include <cstdlib>

#include "client/process.hpp"
#include "preload/children.hpp"
#include "preload/real.hpp"

namespace landtrace::preload {
namespace {

// A probe of the function itself, and a signal's.
constexpr std::uint32_t kEventsBefore = 8;

}  // namespace
}  // namespace landtrace::preload

using namespace landtrace::preload;

extern "C" {
[[gnu::visibility("hidden"), gnu::used]] void* landtrace_before_vfork() {
  expect_child_for(kEventsBefore);
  return real().vfork;
}
[[gnu::visibility("hidden"), gnu::used]] void* landtrace_before_clone(void*, void*, int flags) {
  const bool runs_in_place = (flags & CLONE_VM) != 0 && (flags & CLONE_SETTLS) == 0;
  // Else it runs beside its parent for as long as it likes, and nobody will say that it is gone.
  const bool is_waited_for = (flags & CLONE_VFORK) != 0;
  if (runs_in_place) expect_child_for(is_waited_for ? kEventsBefore : landtrace::client::Process::kUntilGone);
  return real().clone;
}
}

// Assembly reads by its columns.
// clang-format off
#if defined(__x86_64__)
#define LT_PUSH(what) "pushq " what "\n\t.cfi_adjust_cfa_offset 8\n\t"
#define LT_POP(what) "popq " what "\n\t.cfi_adjust_cfa_offset -8\n\t"
#define LT_JUMP_AFTER(before)                                                                       \
  LT_PUSH("%rdi") LT_PUSH("%rsi") LT_PUSH("%rdx") LT_PUSH("%rcx") LT_PUSH("%r8") LT_PUSH("%r9")     \
  LT_PUSH("%rax")                                                                                   \
  "call " before "\n\t"                                                                             \
  "movq %rax, %r11\n\t"                                                                             \
  LT_POP("%rax")                                                                                    \
  LT_POP("%r9") LT_POP("%r8") LT_POP("%rcx") LT_POP("%rdx") LT_POP("%rsi") LT_POP("%rdi")           \
  "jmp *%r11\n\t"
#elif defined(__aarch64__)
#define LT_JUMP_AFTER(before)                                                                       \
  "stp x29, x30, [sp, #-80]!\n\t"                                                                   \
  ".cfi_def_cfa_offset 80\n\t.cfi_offset 29, -80\n\t.cfi_offset 30, -72\n\t"                        \
  "stp x0, x1, [sp, #16]\n\tstp x2, x3, [sp, #32]\n\tstp x4, x5, [sp, #48]\n\tstp x6, x7, [sp, #64]\n\t" \
  "bl " before "\n\t"                                                                               \
  "mov x16, x0\n\t"                                                                                 \
  "ldp x0, x1, [sp, #16]\n\tldp x2, x3, [sp, #32]\n\tldp x4, x5, [sp, #48]\n\tldp x6, x7, [sp, #64]\n\t" \
  "ldp x29, x30, [sp], #80\n\t"                                                                     \
  ".cfi_def_cfa_offset 0\n\t.cfi_restore 29\n\t.cfi_restore 30\n\t"                                 \
  "br x16\n\t"
#endif

#if defined(LT_JUMP_AFTER)
#define LT_IN_FRONT(name, before)                                                                   \
  asm(".pushsection .text\n\t.p2align 4\n\t.globl " name "\n\t.type " name ", %function\n"          \
      name ":\n\t.cfi_startproc\n\t" LT_JUMP_AFTER(before)                                          \
      ".cfi_endproc\n\t.size " name ", . - " name "\n\t.popsection")
LT_IN_FRONT("vfork", "landtrace_before_vfork");
LT_IN_FRONT("clone", "landtrace_before_clone");
#endif
// clang-format on

LT_EXPORT int system(const char* command) {
  const ChildExpected expected;
  return real().system(command);
}

LT_EXPORT FILE* popen(const char* command, const char* mode) {
  const ChildExpected expected;
  return real().popen(command, mode);
}
