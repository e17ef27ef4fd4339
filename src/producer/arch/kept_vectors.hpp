// Vector registers, kept: for the data plane of probes, which runs where a function is called whose arguments may
// lie in them. It is compiled without vector registers (LANDTRACE_AGENT). Where it is compiled for anything else,
// these are nothing.
#pragma once

#include <cstdint>

#if defined(LANDTRACE_AGENT) && defined(__x86_64__)

namespace landtrace::arch {

// The one that a commit goes through. What is in its upper part stays, too.
class CommitVectorKept {
 public:
  CommitVectorKept() { asm volatile("movups %%xmm0, %0" : "=m"(bytes_)); }
  ~CommitVectorKept() { asm volatile("movups %0, %%xmm0" ::"m"(bytes_)); }
  CommitVectorKept(const CommitVectorKept&) = delete;
  CommitVectorKept& operator=(const CommitVectorKept&) = delete;

 private:
  char bytes_[16];
};

// The low parts of those that code compiled for every x86-64 may use: around a call of the vDSO, which is such code and
// leaves the upper parts as they are. Some 5 ns.
class SseVectorsKept {
 public:
  SseVectorsKept() {
    asm volatile(
        "movups %%xmm0, 0(%0)\n\tmovups %%xmm1, 16(%0)\n\tmovups %%xmm2, 32(%0)\n\tmovups %%xmm3, 48(%0)\n\t"
        "movups %%xmm4, 64(%0)\n\tmovups %%xmm5, 80(%0)\n\tmovups %%xmm6, 96(%0)\n\tmovups %%xmm7, 112(%0)\n\t"
        "movups %%xmm8, 128(%0)\n\tmovups %%xmm9, 144(%0)\n\tmovups %%xmm10, 160(%0)\n\t"
        "movups %%xmm11, 176(%0)\n\tmovups %%xmm12, 192(%0)\n\tmovups %%xmm13, 208(%0)\n\t"
        "movups %%xmm14, 224(%0)\n\tmovups %%xmm15, 240(%0)" ::"r"(bytes_)
        : "memory");
  }
  ~SseVectorsKept() {
    asm volatile(
        "movups 0(%0), %%xmm0\n\tmovups 16(%0), %%xmm1\n\tmovups 32(%0), %%xmm2\n\tmovups 48(%0), %%xmm3\n\t"
        "movups 64(%0), %%xmm4\n\tmovups 80(%0), %%xmm5\n\tmovups 96(%0), %%xmm6\n\tmovups 112(%0), %%xmm7\n\t"
        "movups 128(%0), %%xmm8\n\tmovups 144(%0), %%xmm9\n\tmovups 160(%0), %%xmm10\n\t"
        "movups 176(%0), %%xmm11\n\tmovups 192(%0), %%xmm12\n\tmovups 208(%0), %%xmm13\n\t"
        "movups 224(%0), %%xmm14\n\tmovups 240(%0), %%xmm15" ::"r"(bytes_)
        : "memory");
  }
  SseVectorsKept(const SseVectorsKept&) = delete;
  SseVectorsKept& operator=(const SseVectorsKept&) = delete;

 private:
  char bytes_[256];
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
