// The registers of the function in which LT_OWN_REGISTERS stands, as they are there. Those that a call may change are
// not among them: no table refers to them.
#pragma once

#include "unwind/registers.hpp"

#if defined(__x86_64__)

#define LT_OWN_REGISTERS(registers)                                                                         \
  do {                                                                                                      \
    std::uint64_t pc_here;                                                                                  \
    asm volatile(                                                                                           \
        "movq %%rbx, 24(%[to])\n\t"                                                                         \
        "movq %%rbp, 48(%[to])\n\t"                                                                         \
        "movq %%rsp, 56(%[to])\n\t"                                                                         \
        "movq %%r12, 96(%[to])\n\t"                                                                         \
        "movq %%r13, 104(%[to])\n\t"                                                                        \
        "movq %%r14, 112(%[to])\n\t"                                                                        \
        "movq %%r15, 120(%[to])\n\t"                                                                        \
        "leaq 0(%%rip), %[pc]\n\t"                                                                          \
        : [pc] "=&r"(pc_here)                                                                               \
        : [to] "r"((registers).value)                                                                       \
        : "memory");                                                                                        \
    (registers).value[landtrace::unwind::kRip] = pc_here;                                                   \
    (registers).known = 1u << 3 | 1u << 6 | 1u << 7 | 1u << 12 | 1u << 13 | 1u << 14 | 1u << 15 | 1u << 16; \
  } while (false)

#else

// Only the chain of frame pointers: such code is built with them. The numbers are those of x86-64 all the same.
#define LT_OWN_REGISTERS(registers)                                                                         \
  do {                                                                                                      \
    const auto frame_here = reinterpret_cast<std::uint64_t>(__builtin_frame_address(0));                    \
    (registers).set(landtrace::unwind::kRbp, frame_here);                                                   \
    (registers).set(landtrace::unwind::kRsp, frame_here);                                                   \
    (registers).set(landtrace::unwind::kRip, reinterpret_cast<std::uint64_t>(&landtrace::unwind::capture)); \
  } while (false)

#endif
