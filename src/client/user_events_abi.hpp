// The kernel's user_events ABI (6.4 and later), from the user_events document: for the shim, which serves it, and for the
// native library, which can use a kernel that does.
#pragma once

#include <cstdint>

namespace landtrace::client::abi {

struct __attribute__((packed)) UserReg {
  std::uint32_t size;
  std::uint8_t enable_bit;
  std::uint8_t enable_size;
  std::uint16_t flags;
  std::uint64_t enable_addr;
  std::uint64_t name_args;
  std::uint32_t write_index;
};
static_assert(sizeof(UserReg) == 28);

struct __attribute__((packed)) UserUnreg {
  std::uint32_t size;
  std::uint8_t disable_bit;
  std::uint8_t reserved;
  std::uint16_t reserved2;
  std::uint64_t disable_addr;
};
static_assert(sizeof(UserUnreg) == 16);

inline constexpr unsigned long kRegister = 0xc0082a00;    // DIAG_IOCSREG, _IOWR('*', 0, struct user_reg *)
inline constexpr unsigned long kDelete = 0x40082a01;      // DIAG_IOCSDEL, _IOW('*', 1, char *)
inline constexpr unsigned long kUnregister = 0x40082a02;  // DIAG_IOCSUNREG, _IOW('*', 2, struct user_unreg *)

}  // namespace landtrace::client::abi
