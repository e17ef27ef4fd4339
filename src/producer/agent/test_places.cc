#include "agent/test_places.hpp"

#include <sys/stat.h>

#include <cstring>

// clang-format off
asm(
  ".text\n\t"
  ".p2align 6\n\t"
  ".globl lt_test_add_one\n"
  "lt_test_add_one:\n\t"
  ".cfi_startproc\n\t"
  ".byte 0x48, 0x8d, 0x87, 1, 0, 0, 0\n\t"        // leaq 1(%rdi), %rax
  "ret\n\t"
  ".cfi_endproc\n\t"

  ".p2align 6\n\t"
  ".globl lt_test_push\n"
  "lt_test_push:\n\t"
  ".cfi_startproc\n\t"
  "pushq %rbp\n\t"
  ".cfi_def_cfa_offset 16\n\t"
  ".cfi_offset %rbp, -16\n\t"
  "movq %rsp, %rbp\n\t"
  "pushq %rbx\n\t"
  ".cfi_def_cfa_offset 24\n\t"
  "movq %rdi, %rbx\n\t"
  "leaq 2(%rbx), %rax\n\t"
  "popq %rbx\n\t"
  "popq %rbp\n\t"
  ".cfi_def_cfa_offset 8\n\t"
  "ret\n\t"
  ".cfi_endproc\n\t"

  ".p2align 6\n\t"
  ".skip 5, 0x90\n\t"
  ".globl lt_test_crossing\n"
  "lt_test_crossing:\n\t"
  "pushq %rbp\n\t"
  "movq %rsp, %rbp\n\t"
  "pushq %rbx\n\t"
  "movq %rdi, %rbx\n\t"
  "leaq 2(%rbx), %rax\n\t"
  "popq %rbx\n\t"
  "popq %rbp\n\t"
  "ret\n\t"

  ".p2align 6\n\t"
  ".globl lt_test_variable\n"
  "lt_test_variable:\n\t"
  "movl lt_test_a_variable(%rip), %eax\n\t"
  "ret\n\t"
  ".pushsection .data\n\t"
  ".globl lt_test_a_variable\n"
  "lt_test_a_variable: .quad 1234\n\t"
  ".popsection\n\t"

  ".p2align 6\n\t"
  ".globl lt_test_middle\n"
  "lt_test_middle:\n\t"
  "leaq 5(%rdi), %rax\n\t"
  "movq %rax, -8(%rsp)\n\t"
  "movq %rdi, -120(%rsp)\n\t"
  "cmpq $10, %rdi\n\t"
  ".p2align 4\n\t"
  ".globl lt_test_middle_place\n"
  "lt_test_middle_place:\n\t"
  ".byte 0x48, 0x8d, 0x87, 0, 0, 0, 0\n\t"        // leaq 0(%rdi), %rax
  "cmovbq -8(%rsp), %rax\n\t"
  "cmovaeq -120(%rsp), %rax\n\t"
  "ret\n\t"

  ".p2align 6\n\t"
  ".globl lt_test_call\n"
  "lt_test_call:\n\t"
  ".cfi_startproc\n\t"
  ".byte 0x48, 0x81, 0xec, 8, 0, 0, 0\n\t"        // subq $8, %rsp
  ".cfi_def_cfa_offset 16\n\t"
  "movq %rdi, %rax\n\t"
  "movq %rsi, %rdi\n\t"
  "call *%rax\n\t"
  "addq $8, %rsp\n\t"
  ".cfi_def_cfa_offset 8\n\t"
  "ret\n\t"
  ".cfi_endproc\n\t"

  ".p2align 6\n\t"
  ".globl lt_test_tail_call\n"
  "lt_test_tail_call:\n\t"
  ".cfi_startproc\n\t"
  ".byte 0x48, 0x8d, 0xbf, 0, 0, 0, 0\n\t"        // leaq 0(%rdi), %rdi
  "jmp lt_test_call\n\t"
  ".cfi_endproc\n\t"

  ".p2align 6\n\t"
  ".globl lt_test_recurse\n"
  "lt_test_recurse:\n\t"
  ".cfi_startproc\n\t"
  ".byte 0x48, 0x81, 0xec, 8, 0, 0, 0\n\t"        // subq $8, %rsp
  ".cfi_def_cfa_offset 16\n\t"
  "xorl %eax, %eax\n\t"
  "testq %rdi, %rdi\n\t"
  "jz 1f\n\t"
  "decq %rdi\n\t"
  "call lt_test_recurse\n\t"
  "incq %rax\n\t"
  "1:\n\t"
  "addq $8, %rsp\n\t"
  ".cfi_def_cfa_offset 8\n\t"
  "ret\n\t"
  ".cfi_endproc\n\t"

  ".p2align 6\n\t"
  ".globl lt_test_tail_recurse\n"
  "lt_test_tail_recurse:\n\t"
  ".byte 0x48, 0x8d, 0x87, 7, 0, 0, 0\n\t"        // leaq 7(%rdi), %rax
  "testq %rdi, %rdi\n\t"
  "jz 1f\n\t"
  "decq %rdi\n\t"
  "jmp lt_test_tail_recurse\n\t"
  "1:\n\t"
  "ret\n\t"

  ".p2align 6\n\t"
  ".globl lt_test_doubles\n"
  "lt_test_doubles:\n\t"
  ".byte 0x48, 0x8d, 0x87, 0, 0, 0, 0\n\t"        // leaq 0(%rdi), %rax
  "movapd %xmm0, %xmm2\n\t"
  "addsd %xmm1, %xmm0\n\t"
  "subsd %xmm1, %xmm2\n\t"
  "movapd %xmm2, %xmm1\n\t"
  "ret\n\t"

  // Loads all registers from the array, calls the place, and stores all behind them.
  ".p2align 6\n\t"
  ".globl lt_test_all_registers_place\n"
  "lt_test_all_registers_place:\n\t"
  ".byte 0x0f, 0x1f, 0x80, 0, 0, 0, 0\n\t"        // nopl 0(%rax)
  "ret\n\t"
  ".globl lt_test_all_registers\n"
  "lt_test_all_registers:\n\t"
  "pushq %rbx\n\t pushq %rbp\n\t pushq %r12\n\t pushq %r13\n\t pushq %r14\n\t pushq %r15\n\t pushq %rdi\n\t"
  "movq 0(%rdi), %r15\n\t"
  "movq 8(%rdi), %r14\n\t"
  "movq 16(%rdi), %r13\n\t"
  "movq 24(%rdi), %r12\n\t"
  "movq 32(%rdi), %rbp\n\t"
  "movq 40(%rdi), %rbx\n\t"
  "movq 48(%rdi), %r11\n\t"
  "movq 56(%rdi), %r10\n\t"
  "movq 64(%rdi), %r9\n\t"
  "movq 72(%rdi), %r8\n\t"
  "movq 80(%rdi), %rax\n\t"
  "movq 88(%rdi), %rcx\n\t"
  "movq 96(%rdi), %rdx\n\t"
  "movq 104(%rdi), %rsi\n\t"
  "movq 112(%rdi), %rdi\n\t"
  "call lt_test_all_registers_place\n\t"
  "xchgq %rdi, (%rsp)\n\t"
  "movq %r15, 120(%rdi)\n\t"
  "movq %r14, 128(%rdi)\n\t"
  "movq %r13, 136(%rdi)\n\t"
  "movq %r12, 144(%rdi)\n\t"
  "movq %rbp, 152(%rdi)\n\t"
  "movq %rbx, 160(%rdi)\n\t"
  "movq %r11, 168(%rdi)\n\t"
  "movq %r10, 176(%rdi)\n\t"
  "movq %r9, 184(%rdi)\n\t"
  "movq %r8, 192(%rdi)\n\t"
  "movq %rax, 200(%rdi)\n\t"
  "movq %rcx, 208(%rdi)\n\t"
  "movq %rdx, 216(%rdi)\n\t"
  "movq %rsi, 224(%rdi)\n\t"
  "popq %rax\n\t"
  "movq %rax, 232(%rdi)\n\t"
  "popq %r15\n\t popq %r14\n\t popq %r13\n\t popq %r12\n\t popq %rbp\n\t popq %rbx\n\t"
  "ret\n");
// clang-format on

extern "C" const char lt_test_all_registers_place[];
extern "C" std::uint64_t lt_test_a_variable;

namespace landtrace::agent {

TestPlace test_place(const void* address, Way way, std::uint8_t displaced, std::uint8_t flags) {
  TestPlace place = {address, {}};
  place.recipe.way = way;
  place.recipe.displaced = displaced;
  place.recipe.copy_size = displaced;
  place.recipe.flags = flags;
  std::memcpy(place.recipe.expected, address, sizeof place.recipe.expected);
  std::memcpy(place.recipe.copy, address, displaced);
  return place;
}

TestPlace with_push_and_move(TestPlace place) {
  place.recipe.copy_at[1] = 1;
  place.recipe.copy_at[4] = 4;
  return place;
}

namespace {
const void* at(std::uint64_t (*function)(std::uint64_t)) { return reinterpret_cast<const void*>(function); }
}  // namespace

TestPlace add_one_place() { return test_place(at(lt_test_add_one), Way::kOneStore, 7); }
TestPlace push_place() { return with_push_and_move(test_place(at(lt_test_push), Way::kQuiet, 5)); }
TestPlace crossing_place() { return with_push_and_move(test_place(at(lt_test_crossing), Way::kAlone, 5)); }
TestPlace variable_place() {
  const auto* address = reinterpret_cast<const char*>(&lt_test_variable);
  TestPlace place = test_place(address, Way::kOneStore, 6);
  place.recipe.fixup_count = 1;
  place.recipe.fixups[0].target =
      static_cast<std::int32_t>(reinterpret_cast<const char*>(&lt_test_a_variable) - address);
  place.recipe.fixups[0].at = 2;
  place.recipe.fixups[0].next = 6;
  place.recipe.fixups[0].kind = FixupKind::kRelative32;
  return place;
}
TestPlace middle_place() { return test_place(lt_test_middle_place, Way::kOneStore, 7, 0); }
TestPlace call_place() { return test_place(reinterpret_cast<const void*>(&lt_test_call), Way::kOneStore, 7); }
TestPlace tail_call_place() { return test_place(reinterpret_cast<const void*>(&lt_test_tail_call), Way::kOneStore, 7); }
TestPlace recurse_place() { return test_place(at(lt_test_recurse), Way::kOneStore, 7); }
TestPlace tail_recurse_place() { return test_place(at(lt_test_tail_recurse), Way::kOneStore, 7); }
TestPlace doubles_place() { return test_place(reinterpret_cast<const void*>(&lt_test_doubles), Way::kOneStore, 7); }
TestPlace registers_place() { return test_place(lt_test_all_registers_place, Way::kOneStore, 7); }

Wanted wanted(const TestPlace& place, std::uint32_t number, std::uint32_t wants, std::uint32_t limit) {
  Wanted one = {};
  const auto maps = read_maps();
  const Mapped* mapped = find(maps, reinterpret_cast<std::uint64_t>(place.address));
  struct stat status;
  if (mapped != nullptr && ::stat(mapped->path.c_str(), &status) == 0) {
    one.object.device = status.st_dev;
    one.object.inode = status.st_ino;
    one.offset = reinterpret_cast<std::uint64_t>(place.address) - mapped->begin + mapped->offset;
  }
  one.recipe = &place.recipe;
  one.number = number;
  one.wants = wants;
  one.limit = limit;
  return one;
}

Outcome apply(Agent& agent, const Wanted& one) {
  Outcome outcome;
  // As whoever has an agent does: beside other programs the threads may be preempted where nothing can be changed.
  for (int i = 0; i < 100; ++i) {
    agent.apply({&one, 1}, {&outcome, 1});
    if (outcome.reason != Reason::kBusy) break;
  }
  return outcome;
}

void drop(Agent& agent, std::initializer_list<std::uint32_t> numbers) { agent.drop({numbers.begin(), numbers.size()}); }

}  // namespace landtrace::agent
