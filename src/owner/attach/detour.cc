#include "attach/detour.hpp"

#include <cstring>

namespace landtrace::attach {

#if defined(__x86_64__)

extern "C" {
extern const char lt_detour_begin[];
extern const char lt_detour_entry[];
extern const char lt_detour_parameters[];
extern const char lt_detour_end[];
}

namespace {

// What the code refers to by offsets from lt_detour_parameters.
struct Parameters {
  std::uint64_t way_back;
  std::uint64_t block;
  std::uint64_t all_signals;
  LibcFunctions libc;
  std::uint32_t socket;  // from here
  std::uint32_t reserved;
  char symbol[24];
};
static_assert(sizeof(Parameters) == 24 + 48 + 8 + 24);

}  // namespace

// The code, in order:
//
//   entry   past the red zone; all registers to the stack
//           block all signals: no handler finds the thread on our stack
//           map the block; without it there is nothing to do
//           vector registers into the block; pthread_create(thread, block) on the block's stack; all of it back
//           the way back
//   thread  pthread_detach(itself); dlopen(agent); dlsym(its beginning)(socket)
//           what came of it into the block; wait until it was read, 10 s at most; unmap the block; end
//
// r12: 0 if the signals are blocked; rbp: the saved registers; rbx: the block; r13, r14: errno and where it is.
// Numbers of system calls: 9 mmap, 11 munmap, 14 rt_sigprocmask, 35 nanosleep.
asm(R"(
  .pushsection .rodata.lt_detour, "a"
  .p2align 4
  .globl lt_detour_begin, lt_detour_entry, lt_detour_parameters, lt_detour_end
  .hidden lt_detour_begin, lt_detour_entry, lt_detour_parameters, lt_detour_end
lt_detour_begin:
  .ascii "LTdetour"
lt_detour_entry:
  leaq -128(%rsp), %rsp
  pushfq
  cld
  pushq %rax
  pushq %rcx
  pushq %rdx
  pushq %rbx
  pushq %rbp
  pushq %rsi
  pushq %rdi
  pushq %r8
  pushq %r9
  pushq %r10
  pushq %r11
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, %rbp
  subq $16, %rsp
  movl $14, %eax
  movl $2, %edi
  leaq lt_detour_parameters+16(%rip), %rsi
  movq %rsp, %rdx
  movl $8, %r10d
  syscall
  movq %rax, %r12
  movl $9, %eax
  movq lt_detour_parameters+8(%rip), %rdi
  movl $0x20000, %esi
  movl $3, %edx
  movl $0x100022, %r10d
  movq $-1, %r8
  xorl %r9d, %r9d
  syscall
  cmpq lt_detour_parameters+8(%rip), %rax
  jne 3f
  movq %rax, %rbx
  movl $-1, %eax
  movl $-1, %edx
  xsave64 4096(%rbx)
  leaq 0x20000(%rbx), %rsp
  call *lt_detour_parameters+64(%rip)
  movq %rax, %r14
  movl (%rax), %r13d
  leaq 24(%rbx), %rdi
  xorl %esi, %esi
  leaq 5f(%rip), %rdx
  movq %rbx, %rcx
  call *lt_detour_parameters+24(%rip)
  movl %r13d, (%r14)
  movl %eax, 4(%rbx)
  leaq -16(%rbp), %rsp
  movl $-1, %eax
  movl $-1, %edx
  xrstor64 4096(%rbx)
  movl $1, 8(%rbx)
3:
  testq %r12, %r12
  jne 4f
  movl $14, %eax
  movl $2, %edi
  movq %rsp, %rsi
  xorl %edx, %edx
  movl $8, %r10d
  syscall
4:
  movq %rbp, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %r11
  popq %r10
  popq %r9
  popq %r8
  popq %rdi
  popq %rsi
  popq %rbp
  popq %rbx
  popq %rdx
  popq %rcx
  popq %rax
  popfq
  leaq 128(%rsp), %rsp
  jmp *lt_detour_parameters(%rip)

5:
  pushq %rbx
  pushq %r12
  subq $24, %rsp
  movq %rdi, %rbx
  movq %fs:16, %rdi
  call *lt_detour_parameters+32(%rip)
  leaq lt_detour_end(%rip), %rdi
  movl $2, %esi
  call *lt_detour_parameters+40(%rip)
  testq %rax, %rax
  je 6f
  movq %rax, %rdi
  leaq lt_detour_parameters+80(%rip), %rsi
  call *lt_detour_parameters+48(%rip)
  testq %rax, %rax
  je 6f
  leaq lt_detour_parameters(%rip), %rdi
  movl lt_detour_parameters+72(%rip), %ecx
  addq %rcx, %rdi
  call *%rax
  movl %eax, 16(%rbx)
  movl $2, %r12d
  jmp 9f
6:
  call *lt_detour_parameters+56(%rip)
  movl $1, %r12d
  testq %rax, %rax
  je 9f
  leaq 32(%rbx), %rdi
  movl $1023, %ecx
7:
  movb (%rax), %dl
  testb %dl, %dl
  je 9f
  movb %dl, (%rdi)
  incq %rax
  incq %rdi
  decl %ecx
  jne 7b
9:
  movl %r12d, (%rbx)
  movl $10000, %r12d
10:
  movq $0, (%rsp)
  movq $1000000, 8(%rsp)
  movl $35, %eax
  movq %rsp, %rdi
  xorl %esi, %esi
  syscall
  cmpl $0, 8(%rbx)
  je 10b
  cmpl $0, 12(%rbx)
  jne 11f
  decl %r12d
  jg 10b
11:
  movl $11, %eax
  movq %rbx, %rdi
  movl $0x20000, %esi
  syscall
  xorl %eax, %eax
  addq $24, %rsp
  popq %r12
  popq %rbx
  ret
  .p2align 3
lt_detour_parameters:
  .skip 104
lt_detour_end:
  .popsection
)");

std::string make_detour(const DetourPlan& plan) {
  Parameters parameters{};
  parameters.block = plan.block;
  parameters.all_signals = ~0ull;
  parameters.libc = plan.libc;
  parameters.socket = static_cast<std::uint32_t>(sizeof parameters + plan.agent.size() + 1);
  std::strcpy(parameters.symbol, "landtrace_agent_start");
  std::string bytes(lt_detour_begin, lt_detour_parameters);
  bytes.append(reinterpret_cast<const char*>(&parameters), sizeof parameters);
  return bytes.append(plan.agent).append(1, '\0').append(plan.socket).append(1, '\0');
}

std::uint64_t detour_entry() { return static_cast<std::uint64_t>(lt_detour_entry - lt_detour_begin); }
std::uint64_t detour_way_back() { return static_cast<std::uint64_t>(lt_detour_parameters - lt_detour_begin); }

#else

std::string make_detour(const DetourPlan&) { return {}; }
std::uint64_t detour_entry() { return 0; }
std::uint64_t detour_way_back() { return 0; }

#endif

bool is_detour(const std::string& begin) { return begin.compare(0, 8, "LTdetour") == 0; }

}  // namespace landtrace::attach
