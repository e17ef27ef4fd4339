// The ioctls of user_events_data in their three generations, from the user_events documents and the 2021 proposal: for
// the shim and the owner, which serve them, and for the native library, which can use a kernel that does.
#pragma once

#include <cstdint>

namespace landtrace::abi {

// Which kernel's ways a domain has where kernels differ. In shared memory.
enum class Version : std::uint32_t {
  k6_12,  // 6.4 and later: enable words
  k6_1,   // 6.0 and 6.1: bits in the page of user_events_status
};

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

// Of 6.0 and 6.1.
struct __attribute__((packed)) UserRegStatusBit {
  std::uint32_t size;
  std::uint64_t name_args;
  std::uint32_t status_bit;
  std::uint32_t write_index;
};
static_assert(sizeof(UserRegStatusBit) == 20);

struct __attribute__((packed)) UserUnreg {
  std::uint32_t size;
  std::uint8_t disable_bit;
  std::uint8_t reserved;
  std::uint16_t reserved2;
  std::uint64_t disable_addr;
};
static_assert(sizeof(UserUnreg) == 16);

inline constexpr unsigned long kIoctlRegister = 0xc0082a00;       // DIAG_IOCSREG, _IOWR('*', 0, struct user_reg *)
inline constexpr unsigned long kIoctlDelete = 0x40082a01;         // DIAG_IOCSDEL, _IOW('*', 1, char *)
inline constexpr unsigned long kIoctlUnregister = 0x40082a02;     // DIAG_IOCSUNREG, _IOW('*', 2, struct user_unreg *)
inline constexpr unsigned long kIoctlRegisterPlain = 0x40082a00;  // 2021: _IOW('*', 0, char *)

}  // namespace landtrace::abi
