#include "arch/rseq.hpp"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

// glibc's public variables (sys/rseq.h); weak, so that a program built here also starts where libc is older.
extern "C" {
extern const std::ptrdiff_t __rseq_offset __attribute__((weak));
extern const unsigned int __rseq_size __attribute__((weak));
}

namespace landtrace::arch {
namespace {

// What the commit of write_rseq.cc needs to be seen whole; such processors have its other instructions, too.
bool stores_16_bytes_at_once() {
#if defined(__x86_64__)
  // Asked once, as a virtual machine answers in its host. Orders nothing, without a partner: all come to the same.
  enum : int { kUnknown, kNo, kYes };
  static int known = kUnknown;
  int answer = __atomic_load_n(&known, __ATOMIC_RELAXED);
  if (answer == kUnknown) {
    unsigned a = 0, b = 0, c = 0, d = 0;
    answer = __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_AVX) != 0 ? kYes : kNo;
    __atomic_store_n(&known, answer, __ATOMIC_RELAXED);
  }
  return answer == kYes;
#elif defined(__aarch64__)
  return true;  // by exclusive instructions, which all have
#else
  return false;
#endif
}

}  // namespace

// Null on CPUs that no restartable write is for.
RseqArea* rseq_area() {
#if defined(__x86_64__) || defined(__aarch64__)
  if (&__rseq_size == nullptr || &__rseq_offset == nullptr || __rseq_size == 0) return nullptr;
  char* const thread_pointer = static_cast<char*>(__builtin_thread_pointer());
  return reinterpret_cast<RseqArea*>(thread_pointer + __rseq_offset);
#else
  return nullptr;
#endif
}

bool rseq_usable() {
  const RseqArea* const area = rseq_area();
  return area != nullptr && static_cast<std::int32_t>(area->cpu_id) >= 0 && stores_16_bytes_at_once();
}

}  // namespace landtrace::arch
