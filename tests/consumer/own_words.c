/* A program that has what the kernel's code has, too. */
#include <landtrace/control.h>
#include <landtrace/landtrace.h>
#include <landtrace/trace_events.h>

typedef unsigned long u64;
#define ARRAY_SIZE(array) own_size(array)
#define THIS_MODULE "own"
#define smp_processor_id() 7
static inline void* ERR_PTR(long error) { return (void*)(error * 2); }
static inline long PTR_ERR(const void* pointer) { return (long)pointer / 2; }
static inline int IS_ERR(const void* pointer) { return pointer == (void*)2; }
static inline int IS_ERR_OR_NULL(const void* pointer) { return !pointer; }
static u64 own_size(const char* text) { return (u64)text[0]; }

LANDTRACE_EVENT(greeting, LT_STR(text), LT_U64(size));

int main(void) {
  const int result = LANDTRACE_EMIT(greeting, THIS_MODULE, ARRAY_SIZE("a"));
  if (result != 0 && result != -EBADF) return 1;
  if (own_size("a") != 'a' || smp_processor_id() != 7) return 1;
  if (PTR_ERR(ERR_PTR(1)) != 1 || !IS_ERR(ERR_PTR(1)) || !IS_ERR_OR_NULL(NULL)) return 1;
  return landtrace_is_err(landtrace_err_ptr(-EINVAL)) && !landtrace_is_err(&result) ? 0 : 1;
}

/* Behind what its macros would change: the other words do not clash either. */
#define LANDTRACE_OWN_U64
#include <landtrace/kernel_words.h>
