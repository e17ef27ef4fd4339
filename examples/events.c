/* Events of a C program: declared by macros, packed by the compiler. C++11 programs do the same.
 *
 *     landtrace record -o trace.dat -- example_events 3 && landtrace report trace.dat */
#include <landtrace/landtrace.h>
#include <stdio.h>
#include <stdlib.h>

LANDTRACE_EVENT(req_done, LT_U32(id), LT_STR(route));
LANDTRACE_EVENT(sample, LT_U8(small), LT_S16(negative), LT_U64(large), LT_BOOL(is_set), LT_CHAR(letter), LT_FLOAT(part),
                LT_DOUBLE(whole), LT_PTR(where), LT_CHARS(name, 8), LT_TEXT(text), LT_BYTES(bytes), LT_S32(last));
LANDTRACE_EVENT(tick);

int main(int argc, char** argv) {
  const long count = argc > 1 ? atol(argv[1]) : 1;
  const uint64_t flags = 1ull << 40;
  const unsigned char bytes[] = {1, 0xfe};
  long heard = 0;
  for (long i = 0; i < count; ++i) {
    if (LANDTRACE_EMIT(req_done, (uint32_t)i, i % 2 == 0 ? "/index" : NULL) == 0) ++heard;
  }
  LANDTRACE_EMIT(sample, 200, -3, flags, flags & (1ull << 40), 'x', 0.5f, -2.25, (void*)0x1000, "cut at eight",
                 "text, not all", 4, bytes, sizeof bytes, -5);
  LANDTRACE_EMIT(tick);
  printf("%ld of %ld had a listener\n", heard, count);
  return 0;
}
