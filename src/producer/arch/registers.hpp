// The registers at a place in code, as the stubs of probes save them and fetch arguments name them.
//
//   0    8     …    112  120   128     136
//   +----+----+-----+----+-----+-------+----+
//   | r15, r14 … rdi     | rsp | flags | ip |
//   +----+----+-----+----+-----+-------+----+
#pragma once

#include <cstdint>

namespace landtrace::arch {

enum Register : std::uint8_t {
  kR15,
  kR14,
  kR13,
  kR12,
  kRbp,
  kRbx,
  kR11,
  kR10,
  kR9,
  kR8,
  kRax,
  kRcx,
  kRdx,
  kRsi,
  kRdi,
  kRsp,
  kRflags,
  kRip,
  kRegisters,
};

}  // namespace landtrace::arch
