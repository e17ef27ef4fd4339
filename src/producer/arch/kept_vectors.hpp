// Vector registers, kept: for the data plane of probes, which runs where a function is called whose arguments may
// lie in them. It is compiled without vector registers (LANDTRACE_AGENT). Where it is compiled for anything else,
// these are nothing.
#pragma once

#include <cstdint>

#if defined(LANDTRACE_AGENT) && defined(__x86_64__)

namespace landtrace::arch {

// The two that a commit goes through. What is in their upper parts stays, too.
class KeptVectors {
 public:
  KeptVectors() { asm volatile("movups %%xmm0, %0\n\tmovups %%xmm1, %1" : "=m"(first_), "=m"(second_)); }
  ~KeptVectors() { asm volatile("movups %0, %%xmm0\n\tmovups %1, %%xmm1" ::"m"(first_), "m"(second_)); }
  KeptVectors(const KeptVectors&) = delete;
  KeptVectors& operator=(const KeptVectors&) = delete;

 private:
  struct Bytes {
    char byte[16];
  };
  Bytes first_;
  Bytes second_;
};

// All of them, and the x87: around a call of libc. Some 100 ns.
class AllVectorsKept {
 public:
  AllVectorsKept() { asm volatile("xsave %0" : "+m"(area_) : "a"(kParts), "d"(0)); }
  ~AllVectorsKept() { asm volatile("xrstor %0" ::"m"(area_), "a"(kParts), "d"(0) : "memory"); }
  AllVectorsKept(const AllVectorsKept&) = delete;
  AllVectorsKept& operator=(const AllVectorsKept&) = delete;

 private:
  static constexpr std::uint32_t kParts = 0xe7;  // x87, SSE, AVX, the three of AVX-512
  struct alignas(64) Area {
    std::uint64_t word[2688 / 8];
  };
  Area area_{};
};

}  // namespace landtrace::arch

#else

namespace landtrace::arch {

class AllVectorsKept {
 public:
  AllVectorsKept() {}  // NOLINT: not unused
};

}  // namespace landtrace::arch

#endif
