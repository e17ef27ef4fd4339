// USDT places as <sys/sdt.h> makes them (SystemTap's notes, version 3), so that the tests need no package. OPERANDS are
// as the note has them, with %0, %1 … for the values behind; constraints are those of <sys/sdt.h>.
#pragma once

#define USDT_TEXT_(x) #x
#define USDT_TEXT(x) USDT_TEXT_(x)

#define USDT_AT(provider, name, semaphore, operands, ...)                                  \
  asm volatile("990: nop\n"                                                                \
               ".pushsection .note.stapsdt,\"?\",\"note\"\n"                               \
               ".balign 4\n"                                                               \
               ".4byte 992f-991f, 994f-993f, 3\n"                                          \
               "991: .asciz \"stapsdt\"\n"                                                 \
               "992: .balign 4\n"                                                          \
               "993: .8byte 990b\n"                                                        \
               ".8byte _.stapsdt.base\n"                                                   \
               ".8byte " semaphore "\n"                                                    \
               ".asciz \"" provider "\"\n"                                                 \
               ".asciz \"" name "\"\n"                                                     \
               ".asciz \"" operands "\"\n"                                                 \
               "994: .balign 4\n"                                                          \
               ".popsection\n"                                                             \
               ".ifndef _.stapsdt.base\n"                                                  \
               ".pushsection .stapsdt.base,\"aG\",\"progbits\",.stapsdt.base,comdat\n"     \
               ".weak _.stapsdt.base\n"                                                    \
               ".hidden _.stapsdt.base\n"                                                  \
               "_.stapsdt.base: .space 1\n"                                                \
               ".size _.stapsdt.base, 1\n"                                                 \
               ".popsection\n"                                                             \
               ".endif\n" ::__VA_ARGS__)

#define USDT(provider, name, operands, ...) USDT_AT(provider, name, "0", operands, __VA_ARGS__)
// With a variable `provider_name_semaphore`, made by USDT_SEMAPHORE().
#define USDT_GUARDED(provider, name, operands, ...) \
  USDT_AT(provider, name, USDT_TEXT(provider_name_semaphore), operands, __VA_ARGS__)
#define USDT_SEMAPHORE(name) __attribute__((visibility("hidden"), section(".probes"))) volatile unsigned short name
