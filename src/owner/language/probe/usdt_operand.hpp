// The arguments of a USDT place, as its note in the object's file has them. Pure functions.
//
//   -4@%edi   8@-24(%rbp)   4@$5   8@(%rax,%rbx,8)   8@counter+4(%rip)   8f@%rcx   %rdi
//   |  |
//   |  an operand of the assembler, as compilers have put it there
//   bytes; '-': signed; 'f': a floating point number. Without them it is as wide as its register, else 8.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "arch/registers.hpp"

namespace landtrace::language {

struct UsdtOperand {
  enum class Kind : std::uint8_t {
    kNumber,    // `number`
    kRegister,  // `base`
    kMemory,    // what stands there: base + index * scale + number
    kAddress,   // that itself, of a symbol
    // Nothing that a probe can read:
    kVector,       // in a vector register
    kThreadLocal,  // by a segment register
    kNoSymbol,     // relative to a symbol that is not in the file any more
    kUnknown,
  };
  Kind kind = Kind::kUnknown;
  std::uint8_t size = 8;  // 1, 2, 4, 8
  bool is_signed = false;
  bool is_float = false;  // its bits are what is read
  bool is_high = false;   // of the register, the second byte
  std::optional<arch::Register> base{};
  std::optional<arch::Register> index{};
  std::uint8_t scale = 1;
  // The number is a distance from the place: what a symbol has become.
  bool is_from_place = false;
  std::int64_t number = 0;
  std::string symbol{};  // the number is a distance from it

  [[nodiscard]] bool can_be_read() const { return kind <= Kind::kAddress; }
};

std::vector<UsdtOperand> parse_usdt_operands(std::string_view arguments);

// The type that $argN is fetched as: by size and sign; numbers with a point as their bits.
std::string_view usdt_type(const UsdtOperand& operand);

// Why it cannot be read; "" if it can.
std::string_view usdt_refusal(UsdtOperand::Kind kind);

// What a note knows of its place, as far as probes of it go.
struct UsdtPlace {
  std::uint64_t offset = 0;  // in the file
  std::int64_t counter = 0;  // how far its semaphore is from it, once both are loaded; 0: it has none
  std::vector<UsdtOperand> arguments{};
};

}  // namespace landtrace::language
