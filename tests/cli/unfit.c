// Functions that cannot be probed in this program, though their file says nothing of that.
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

__attribute__((noinline)) int spoilt(int n) {
  __asm__ volatile("movl $0, %%eax\n\tmovl $0, %%eax" : "+r"(n) : : "eax");
  return n + 1;
}
__attribute__((noinline)) int fine(int n) {
  __asm__ volatile("movl $0, %%eax\n\tmovl $0, %%eax" : "+r"(n) : : "eax");
  return n + 1;
}

// Before anything that is preloaded has begun. It makes no difference but to who compares the bytes.
static void spoil(void) {
  char* const page = (char*)((unsigned long)spoilt & ~4095ul);
  mprotect(page, 8192, PROT_READ | PROT_WRITE | PROT_EXEC);
  memcpy((char*)spoilt, "\xb8\1\0\0\0", 5);
  mprotect(page, 8192, PROT_READ | PROT_EXEC);
}
__attribute__((section(".preinit_array"), used)) static void (*const before_all)(void) = spoil;

// Two functions that have room for a jump of 2 bytes each, and within its reach padding for one of 5.
int near_a(int n);
int near_b(int n);
__asm__(
    ".text\n.p2align 4\n.globl near_a, near_b\n"
    ".type before, @function\nbefore: .cfi_startproc\n.rept 60\nmovl $0x12345678, %eax\n.endr\nret\n.cfi_endproc\n"
    ".size before, . - before\n"
    ".type near_a, @function\nnear_a: .cfi_startproc\nmovl %edi, %eax\nret\n.cfi_endproc\n.size near_a, . - near_a\n"
    ".type near_b, @function\nnear_b: .cfi_startproc\nmovl %edi, %eax\nret\n.cfi_endproc\n.size near_b, . - near_b\n"
    ".byte 0xcc, 0xcc, 0xcc, 0xcc, 0xcc\n"
    ".type behind, @function\nbehind: .cfi_startproc\n.rept 60\nmovl $0x12345678, %eax\n.endr\nret\n.cfi_endproc\n"
    ".size behind, . - behind\n");

int main(void) {
  int sum = 0;
  for (int i = 0; i < 10; ++i) sum += spoilt(i) + fine(i) + near_a(i) + near_b(i);
  printf("%d\n", sum);
  return 0;
}
