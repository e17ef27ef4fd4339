// A library whose functions have names that a shell must not read: linkers allow any.
#define FUNCTION(NAME)                                                                     \
  __asm__(".text\n.p2align 4\n.globl \"" NAME "\"\n.type \"" NAME "\", %function\n\"" NAME \
          "\":\n.rept 8\nnop\n.endr\nret\n.size \"" NAME "\", . - \"" NAME "\"\n");

FUNCTION("odd_$(touch${IFS}evaluated)")
FUNCTION("odd_`touch${IFS}evaluated`")
FUNCTION("odd_'quoted'")
FUNCTION("odd_[a-z]*")
FUNCTION("odd_with space")
FUNCTION("_ZN4core3ptr10drop$LT$T$GT$17h0123456789abcdefE")
