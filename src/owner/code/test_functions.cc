// Functions for analysis_test.cc, which looks at its own program: their bytes are what matters, nobody calls them.
// FUNCTION NAME … : global, at a multiple of 16.
asm(R"(
  .macro FUNCTION name
    .p2align 4
    .globl \name
    .type \name, @function
  \name:
    .cfi_startproc
  .endm
  .macro END name
    .cfi_endproc
    .size \name, . - \name
  .endm

  .text
  FUNCTION landtest_one_store
    movl $0x12345678, %eax
    ret
  END landtest_one_store

  # The last instruction of an if, where the paths meet behind it: room is before it.
  FUNCTION landtest_last_of_if
    testl %edi, %edi
    je 1f
    addl $2, %eax
    nop
  1:
    addl $1, %eax
    ret
  END landtest_last_of_if

  # Behind a call there is none: it returns to where it was.
  FUNCTION landtest_behind_call
    testl %edi, %edi
    je 1f
    call landtest_one_store
    nop
  1:
    addl $1, %eax
    ret
  END landtest_behind_call

  FUNCTION landtest_quiet
    pushq %rbp
    movq %rsp, %rbp
    subq $16, %rsp
    leave
    ret
  END landtest_quiet

  .p2align 4
  .nops 5
  .globl landtest_alone
  .type landtest_alone, @function
landtest_alone:
  .cfi_startproc
    movl $0x12345678, %eax
    ret
  END landtest_alone

  FUNCTION landtest_padded
    ret
  END landtest_padded

  FUNCTION landtest_tight
    xorl %eax, %eax
    ret
  END landtest_tight
  .globl landtest_after_tight
  .type landtest_after_tight, @function
landtest_after_tight:
  .cfi_startproc
    movl $1, %eax
    ret
  END landtest_after_tight

  FUNCTION landtest_one_byte
    ret
  END landtest_one_byte
  .globl landtest_after_one_byte
  .type landtest_after_one_byte, @function
landtest_after_one_byte:
  .cfi_startproc
    pushq %rbx
  2:
    decl %edi
    jnz 2b
    popq %rbx
    ret
  END landtest_after_one_byte

  FUNCTION landtest_loops
    xorl %eax, %eax
  1:
    addl $1, %eax
    cmpl %edi, %eax
    jb 1b
    ret
  END landtest_loops

  FUNCTION landtest_entered
    movq %rdi, %rax
  landtest_inner_label:
    addq %rsi, %rax
    ret
  END landtest_entered
  FUNCTION landtest_enters
    negq %rsi
    jmp landtest_inner_label
  END landtest_enters

  FUNCTION landtest_entered_behind_data
    pushq %rbx
  landtest_label_behind_data:
    addq %rsi, %rax
    addq %rsi, %rax
    popq %rbx
    ret
  END landtest_entered_behind_data
  FUNCTION landtest_enters_behind_data
    ret
    .byte 0x06  # no instruction; the jump begins behind it
    .byte 0xe9
    .long landtest_label_behind_data - (. + 4)
  END landtest_enters_behind_data

  FUNCTION landtest_switch
    cmpl $2, %edi
    ja 3f
    leaq .Llandtest_cases(%rip), %rdx
    movslq (%rdx, %rdi, 4), %rax
    addq %rdx, %rax
    jmp *%rax
  .globl landtest_before_case
  landtest_before_case:
  0:
    xorl %eax, %eax
  1:
    incl %eax
  2:
    incl %eax
    ret
  3:
    xorl %eax, %eax
    incl %eax
    incl %eax
    decl %eax
    ret
  END landtest_switch
  .section .rodata
  .p2align 2
  .Llandtest_cases:
    .long 0b - .Llandtest_cases
    .long 1b - .Llandtest_cases
    .long 2b - .Llandtest_cases
  .text

  FUNCTION landtest_unseen
    movq (%rsi, %rdi, 8), %rax
    jmp *%rax
    xorl %eax, %eax
    incl %eax
    incl %eax
    movl $5, %eax
    ret
  END landtest_unseen

  .p2align 4
  .globl landtest_signal_frame
  .type landtest_signal_frame, @function
  .cfi_startproc
  .cfi_signal_frame
    nop
  landtest_signal_frame:
    movq $15, %rax
    syscall
  .cfi_endproc
  .size landtest_signal_frame, . - landtest_signal_frame

  FUNCTION landtest_bare
    .cfi_undefined rip
    xorl %ebp, %ebp
    movq %rsp, %rdi
    ret
  END landtest_bare

  FUNCTION landtest_looks_back
    pushq %rbx
    subq $32, %rsp
    movq 40(%rsp), %rax
    addq $32, %rsp
    popq %rbx
    ret
  END landtest_looks_back

  FUNCTION landtest_takes_arguments
    pushq %rbx
    movq 16(%rsp), %rax
    popq %rbx
    ret
  END landtest_takes_arguments

  FUNCTION landtest_traps
    ud2
    nop
    nop
    nop
  END landtest_traps

  FUNCTION landtest_short_call
    call *%rax
    addl $1, %eax
    ret
  END landtest_short_call

  # Without names: one that is called, one that is only jumped to.
  .p2align 4
  .Llandtest_static:
    .cfi_startproc
    movl $7, %eax
    ret
    .cfi_endproc
  .p2align 4
  .Llandtest_cold:
    .cfi_startproc
    movl $8, %eax
    ret
    .cfi_endproc
  FUNCTION landtest_calls
    call .Llandtest_static
    testl %eax, %eax
    je .Llandtest_cold
    leaq landtest_alone(%rip), %rax
    jmp *%rax
  END landtest_calls

  # Relative operands, all within 5 bytes of the beginning.
  FUNCTION landtest_relative
    cmpb $0, landtest_byte(%rip)
    jne 1f
    ret
  1:
    movl $1, %eax
    ret
  END landtest_relative
  .data
  .globl landtest_byte
  .type landtest_byte, @object
  landtest_byte: .byte 0
  .size landtest_byte, 1
  .text

  .purgem FUNCTION
  .purgem END
)");

namespace landtrace::code::test {

// Has a landing pad.
int catches(int (*thrower)()) {
  try {
    return thrower();
  } catch (int value) {
    return value + 1;
  }
}

}  // namespace landtrace::code::test
