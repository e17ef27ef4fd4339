// A library that comes and goes, and whose constructor calls the function that is probed.
#include <cstdint>

// clang-format off
asm(
  ".text\n\t"
  ".p2align 6\n\t"
  ".globl lt_library_function\n\t"
  ".type lt_library_function, @function\n"
  "lt_library_function:\n\t"
  ".byte 0x48, 0x8d, 0x87, 9, 0, 0, 0\n\t"        // leaq 9(%rdi), %rax
  "ret\n");
// clang-format on

extern "C" {
std::uint64_t lt_library_function(std::uint64_t);
std::uint64_t lt_library_constructed;

[[gnu::constructor]] void lt_library_construct() { lt_library_constructed = lt_library_function(1); }
}
