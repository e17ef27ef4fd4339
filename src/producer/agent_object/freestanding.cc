// What compilers call without being told to, and the little of libc that the data plane counts on: hidden in this
// shared object, so that a probe on libc's memcpy, say, is not hit by the tracing of another one, and that nothing
// touches a vector register. Plain, as what is copied here is short.
#include <sys/syscall.h>
#include <sched.h>

#include <cstddef>
#include <cstdint>
#include <ctime>

#include "agent_object/vdso.hpp"
#include "arch/kept_vectors.hpp"
#include "base/system_call.hpp"

// A function of ours that the linker knows by libc's name, in this object alone.
#define LT_INSTEAD_OF(name, result, ours, ...)                                    \
  __attribute__((visibility("hidden"), used)) result ours(__VA_ARGS__) asm(name); \
  result ours(__VA_ARGS__)

namespace {

constexpr std::size_t kLong = 128;  // from here on the start-up cost of the string instructions is worth it

using Word [[gnu::may_alias, gnu::aligned(1)]] = std::uint64_t;

}  // namespace

LT_INSTEAD_OF("memcpy", void*, copy, void* __restrict to, const void* __restrict from, std::size_t size) {
  auto* out = static_cast<unsigned char*>(to);
  const auto* in = static_cast<const unsigned char*>(from);
  if (size >= kLong) {
    asm volatile("rep movsb" : "+D"(out), "+S"(in), "+c"(size)::"memory");
    return to;
  }
  for (; size >= sizeof(Word); size -= sizeof(Word), out += sizeof(Word), in += sizeof(Word)) {
    *reinterpret_cast<Word*>(out) = *reinterpret_cast<const Word*>(in);
  }
  for (; size > 0; --size) *out++ = *in++;
  return to;
}

LT_INSTEAD_OF("memmove", void*, move, void* to, const void* from, std::size_t size) {
  auto* out = static_cast<unsigned char*>(to);
  const auto* in = static_cast<const unsigned char*>(from);
  if (out <= in || out >= in + size) {
    for (; size > 0; --size) *out++ = *in++;
  } else {
    while (size-- > 0) out[size] = in[size];
  }
  return to;
}

LT_INSTEAD_OF("memset", void*, fill, void* to, int value, std::size_t size) {
  auto* out = static_cast<unsigned char*>(to);
  if (size >= kLong) {
    asm volatile("rep stosb" : "+D"(out), "+c"(size) : "a"(value) : "memory");
    return to;
  }
  const std::uint64_t word = 0x0101010101010101ull * static_cast<unsigned char>(value);
  for (; size >= sizeof(Word); size -= sizeof(Word), out += sizeof(Word)) *reinterpret_cast<Word*>(out) = word;
  for (; size > 0; --size) *out++ = static_cast<unsigned char>(value);
  return to;
}

LT_INSTEAD_OF("memcmp", int, compare, const void* a, const void* b, std::size_t size) {
  const auto* left = static_cast<const unsigned char*>(a);
  const auto* right = static_cast<const unsigned char*>(b);
  for (; size > 0; --size, ++left, ++right) {
    if (*left != *right) return *left - *right;
  }
  return 0;
}

LT_INSTEAD_OF("memchr", const void*, find_byte, const void* in, int value, std::size_t size) {
  const auto* at = static_cast<const unsigned char*>(in);
  for (; size > 0; --size, ++at) {
    if (*at == static_cast<unsigned char>(value)) return at;
  }
  return nullptr;
}

LT_INSTEAD_OF("strnlen", std::size_t, bounded_length, const char* text, std::size_t most) {
  std::size_t size = 0;
  while (size < most && text[size] != '\0') ++size;
  return size;
}

LT_INSTEAD_OF("strlen", std::size_t, length, const char* text) { return bounded_length(text, SIZE_MAX); }

// Of threads without a restartable sequence.
LT_INSTEAD_OF("sched_getcpu", int, current_cpu, void) {
  unsigned cpu = 0;
  return landtrace::system_call(SYS_getcpu, &cpu, 0, 0) == 0 ? static_cast<int>(cpu) : -1;
}

LT_INSTEAD_OF("clock_gettime", int, get_time, clockid_t clock, timespec* time) {
  if (const auto in_vdso = landtrace::agent_object::vdso_clock(); in_vdso != nullptr) {
    const landtrace::arch::SseVectorsKept vectors;
    return in_vdso(clock, time);
  }
  return landtrace::system_call(SYS_clock_gettime, clock, time) == 0 ? 0 : -1;
}
