/* Landtrace, events of C11 and C++11 programs: declared where they are used, packed by the compiler.
 *
 *     LANDTRACE_EVENT(req_done, LT_U32(id), LT_STR(route));        // once a source file, outside of functions
 *     ...
 *     LANDTRACE_EMIT(req_done, 42, "/index");                      // a test and a branch while nobody listens
 *     if (LANDTRACE_ENABLED(req_done)) { ... }                     // where arguments take work to make
 *
 * LANDTRACE_EMIT() evaluates its arguments only if somebody listens. It returns what landtrace_emit() does: 0, or
 * -EBADF while nobody listens, or -E2BIG if the payload with its texts is larger than LANDTRACE_MAX_PAYLOAD. It is
 * thread-safe and async-signal-safe. Arguments are converted as those of a function are.
 *
 * The event registers itself before main(), or when the shared object that has it is loaded, and is taken back when a
 * shared object is unloaded. Source files that declare the same name with the same fields (by a header, say) have one
 * event. Where another program's is in its way it is tried again later (LANDTRACE_RETRY). Up to 32 fields:
 *
 * | field               | argument                              | declared as                              |
 * |---------------------|---------------------------------------|------------------------------------------|
 * | LT_U8(n) ... LT_S64 | an integer                            | u8 ... s64                               |
 * | LT_CHAR, LT_BOOL    | a character; a condition              | char; u8, 0 or 1                         |
 * | LT_FLOAT, LT_DOUBLE | a number                              | struct float n 4, struct double n 8      |
 * | LT_PTR(n)           | a pointer                             | u64                                      |
 * | LT_CHARS(n, SIZE)   | a string, cut or padded with NULs     | char[SIZE]                               |
 * | LT_STR(n)           | a string; NULL is "(null)"            | __rel_loc char[]                         |
 * | LT_TEXT(n)          | two: characters, and how many         | __rel_loc char[], with a NUL behind it   |
 * | LT_BYTES(n)         | two: bytes, and how many              | __rel_loc u8[]                           |
 *
 * SIZE is a number of 1 to 1024 in digits. <landtrace/landtrace.h> includes this file. */
#ifndef LANDTRACE_DETAIL_EVENT_MACROS_H
#define LANDTRACE_DETAIL_EVENT_MACROS_H

#include <errno.h>
#include <landtrace/landtrace.h>
#include <stddef.h>
#include <string.h>

/* -- what programs use --------------------------------------------------------------------------------------------- */

/* LANDTRACE_EVENT(NAME, FIELDS...) */
#define LANDTRACE_EVENT(...) LANDTRACE_EVENT_WITH_(0, __VA_ARGS__, LANDTRACE_END_, LANDTRACE_END_)
/* LANDTRACE_EVENT_FLAGS(FLAGS, NAME, FIELDS...): with LANDTRACE_PERSIST, LANDTRACE_MULTI_FORMAT or both. */
#define LANDTRACE_EVENT_FLAGS(flags, ...) LANDTRACE_EVENT_WITH_(flags, __VA_ARGS__, LANDTRACE_END_, LANDTRACE_END_)
/* LANDTRACE_EMIT(NAME, VALUES...) */
#define LANDTRACE_EMIT(...) LANDTRACE_EMIT_(__VA_ARGS__, 0)
#define LANDTRACE_ENABLED(name) landtrace_enabled(&landtrace_event_of_##name)
/* The struct landtrace_event, for the functions of <landtrace/landtrace.h>. */
#define LANDTRACE_EVENT_OF(name) (&landtrace_event_of_##name)

#define LT_U8(name) (U8, name, )
#define LT_U16(name) (U16, name, )
#define LT_U32(name) (U32, name, )
#define LT_U64(name) (U64, name, )
#define LT_S8(name) (S8, name, )
#define LT_S16(name) (S16, name, )
#define LT_S32(name) (S32, name, )
#define LT_S64(name) (S64, name, )
#define LT_CHAR(name) (CHAR, name, )
#define LT_BOOL(name) (BOOL, name, )
#define LT_FLOAT(name) (FLOAT, name, )
#define LT_DOUBLE(name) (DOUBLE, name, )
#define LT_PTR(name) (PTR, name, )
#define LT_STR(name) (STR, name, )
#define LT_TEXT(name) (TEXT, name, )
#define LT_BYTES(name) (BYTES, name, )
#define LT_CHARS(name, size) (CHARS, name, size)

/* -- the payload --------------------------------------------------------------------------------------------------- */

/* Inlined also without optimisation: stacks begin with the caller. */
#define LANDTRACE_INLINE_ static inline __attribute__((always_inline, unused))

/* An integer of `size` bytes at `offset`. The fixed part is put together in whole words, with shifts: the compiler
 * keeps them in registers, and the ring write, which copies words, finds each stored at once. */
LANDTRACE_INLINE_ void landtrace_put_(uint64_t* words, size_t offset, uint64_t value, size_t size) {
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
  const size_t within = offset % 8;
  if (size < 8) value &= ((uint64_t)1 << (size * 8 % 64)) - 1;
  words[offset / 8] |= value << (within * 8);
  if (within + size > 8) words[offset / 8 + 1] |= value >> ((8 - within) * 8 % 64);
#else
  const char* const bytes = (const char*)&value;
  memcpy((char*)words + offset, bytes + (8 - size), size);
#endif
}

LANDTRACE_INLINE_ uint64_t landtrace_bits_of_float_(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}
LANDTRACE_INLINE_ uint64_t landtrace_bits_of_double_(double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

LANDTRACE_INLINE_ void landtrace_put_chars_(uint64_t* words, size_t offset, const char* text, size_t size) {
  const void* const end = text ? memchr(text, 0, size) : text;
  if (text) memcpy((char*)words + offset, text, end ? (size_t)((const char*)end - text) : size);
}

/* What grows behind the fixed part. */
struct landtrace_dynamic_ {
  struct iovec* vectors;
  int count;
  size_t size; /* of the payload so far */
};

/* The u32 at `offset` says where the data is, from its own end on, and how much. */
LANDTRACE_INLINE_ void landtrace_put_dynamic_(uint64_t* words, size_t offset, struct landtrace_dynamic_* dynamic,
                                              const void* data, size_t length, int terminated) {
  struct iovec* const vector = dynamic->vectors + dynamic->count;
  const size_t size = length + (terminated ? 1 : 0);
  landtrace_put_(words, offset, (uint64_t)size << 16 | ((dynamic->size - offset - 4) & 0xffff), 4);
  vector->iov_base = (void*)data;
  vector->iov_len = length;
  ++dynamic->count;
  if (terminated) {
    vector[1].iov_base = (void*)"";
    vector[1].iov_len = 1;
    ++dynamic->count;
  }
  /* So large a one is refused, and cannot make the sum wrap. */
  dynamic->size = length > LANDTRACE_MAX_PAYLOAD ? (size_t)1 << 31 : dynamic->size + size;
}
/* A string has its NUL already. */
LANDTRACE_INLINE_ void landtrace_put_string_(uint64_t* words, size_t offset, struct landtrace_dynamic_* dynamic,
                                             const char* text) {
  const char* const string = text ? text : "(null)";
  landtrace_put_dynamic_(words, offset, dynamic, string, strlen(string) + 1, 0);
}

/* -- what each kind of field is: its text in the declaration, member of the fixed part, parameter of the function that
 *    emits, how it is put there, and how many vectors it takes ----------------------------------------------------- */

#define LANDTRACE_AT_(name) landtrace_words_, offsetof(struct landtrace_fixed_, name)
/* What is true stays true, whatever its type: an int would cut 1ull << 40 to 0. */
#ifdef __cplusplus
#define LANDTRACE_CONDITION_ bool
#else
#define LANDTRACE_CONDITION_ _Bool
#endif

#define LANDTRACE_TEXT_U8(separator, name, x) separator "u8 " #name
#define LANDTRACE_MEMBER_U8(name, x) uint8_t name;
#define LANDTRACE_PARAMETER_U8(name, x) uint8_t name,
#define LANDTRACE_PUT_U8(name, x) landtrace_put_(LANDTRACE_AT_(name), (uint64_t)name, sizeof(name));
#define LANDTRACE_VECTORS_U8(name, x)

#define LANDTRACE_TEXT_U16(separator, name, x) separator "u16 " #name
#define LANDTRACE_MEMBER_U16(name, x) uint16_t name;
#define LANDTRACE_PARAMETER_U16(name, x) uint16_t name,
#define LANDTRACE_PUT_U16(name, x) landtrace_put_(LANDTRACE_AT_(name), (uint64_t)name, sizeof(name));
#define LANDTRACE_VECTORS_U16(name, x)

#define LANDTRACE_TEXT_U32(separator, name, x) separator "u32 " #name
#define LANDTRACE_MEMBER_U32(name, x) uint32_t name;
#define LANDTRACE_PARAMETER_U32(name, x) uint32_t name,
#define LANDTRACE_PUT_U32(name, x) landtrace_put_(LANDTRACE_AT_(name), (uint64_t)name, sizeof(name));
#define LANDTRACE_VECTORS_U32(name, x)

#define LANDTRACE_TEXT_U64(separator, name, x) separator "u64 " #name
#define LANDTRACE_MEMBER_U64(name, x) uint64_t name;
#define LANDTRACE_PARAMETER_U64(name, x) uint64_t name,
#define LANDTRACE_PUT_U64(name, x) landtrace_put_(LANDTRACE_AT_(name), (uint64_t)name, sizeof(name));
#define LANDTRACE_VECTORS_U64(name, x)

#define LANDTRACE_TEXT_S8(separator, name, x) separator "s8 " #name
#define LANDTRACE_MEMBER_S8(name, x) int8_t name;
#define LANDTRACE_PARAMETER_S8(name, x) int8_t name,
#define LANDTRACE_PUT_S8(name, x) landtrace_put_(LANDTRACE_AT_(name), (uint64_t)name, sizeof(name));
#define LANDTRACE_VECTORS_S8(name, x)

#define LANDTRACE_TEXT_S16(separator, name, x) separator "s16 " #name
#define LANDTRACE_MEMBER_S16(name, x) int16_t name;
#define LANDTRACE_PARAMETER_S16(name, x) int16_t name,
#define LANDTRACE_PUT_S16(name, x) landtrace_put_(LANDTRACE_AT_(name), (uint64_t)name, sizeof(name));
#define LANDTRACE_VECTORS_S16(name, x)

#define LANDTRACE_TEXT_S32(separator, name, x) separator "s32 " #name
#define LANDTRACE_MEMBER_S32(name, x) int32_t name;
#define LANDTRACE_PARAMETER_S32(name, x) int32_t name,
#define LANDTRACE_PUT_S32(name, x) landtrace_put_(LANDTRACE_AT_(name), (uint64_t)name, sizeof(name));
#define LANDTRACE_VECTORS_S32(name, x)

#define LANDTRACE_TEXT_S64(separator, name, x) separator "s64 " #name
#define LANDTRACE_MEMBER_S64(name, x) int64_t name;
#define LANDTRACE_PARAMETER_S64(name, x) int64_t name,
#define LANDTRACE_PUT_S64(name, x) landtrace_put_(LANDTRACE_AT_(name), (uint64_t)name, sizeof(name));
#define LANDTRACE_VECTORS_S64(name, x)

#define LANDTRACE_TEXT_CHAR(separator, name, x) separator "char " #name
#define LANDTRACE_MEMBER_CHAR(name, x) char name;
#define LANDTRACE_PARAMETER_CHAR(name, x) char name,
#define LANDTRACE_PUT_CHAR(name, x) landtrace_put_(LANDTRACE_AT_(name), (uint64_t)name, sizeof(name));
#define LANDTRACE_VECTORS_CHAR(name, x)

#define LANDTRACE_TEXT_BOOL(separator, name, x) separator "u8 " #name
#define LANDTRACE_MEMBER_BOOL(name, x) uint8_t name;
#define LANDTRACE_PARAMETER_BOOL(name, x) LANDTRACE_CONDITION_ name,
#define LANDTRACE_PUT_BOOL(name, x) landtrace_put_(LANDTRACE_AT_(name), name, 1);
#define LANDTRACE_VECTORS_BOOL(name, x)

#define LANDTRACE_TEXT_PTR(separator, name, x) separator "u64 " #name
#define LANDTRACE_MEMBER_PTR(name, x) uint64_t name;
#define LANDTRACE_PARAMETER_PTR(name, x) const void *name,
#define LANDTRACE_PUT_PTR(name, x) landtrace_put_(LANDTRACE_AT_(name), (uint64_t)(uintptr_t)name, 8);
#define LANDTRACE_VECTORS_PTR(name, x)

#define LANDTRACE_TEXT_FLOAT(separator, name, x) separator "struct float " #name " 4"
#define LANDTRACE_MEMBER_FLOAT(name, x) float name;
#define LANDTRACE_PARAMETER_FLOAT(name, x) float name,
#define LANDTRACE_PUT_FLOAT(name, x) landtrace_put_(LANDTRACE_AT_(name), landtrace_bits_of_float_(name), 4);
#define LANDTRACE_VECTORS_FLOAT(name, x)

#define LANDTRACE_TEXT_DOUBLE(separator, name, x) separator "struct double " #name " 8"
#define LANDTRACE_MEMBER_DOUBLE(name, x) double name;
#define LANDTRACE_PARAMETER_DOUBLE(name, x) double name,
#define LANDTRACE_PUT_DOUBLE(name, x) landtrace_put_(LANDTRACE_AT_(name), landtrace_bits_of_double_(name), 8);
#define LANDTRACE_VECTORS_DOUBLE(name, x)

#define LANDTRACE_TEXT_CHARS(separator, name, x) separator "char[" #x "] " #name
#define LANDTRACE_MEMBER_CHARS(name, x) char name[x];
#define LANDTRACE_PARAMETER_CHARS(name, x) const char *name,
#define LANDTRACE_PUT_CHARS(name, x) landtrace_put_chars_(LANDTRACE_AT_(name), name, x);
#define LANDTRACE_VECTORS_CHARS(name, x)

#define LANDTRACE_TEXT_STR(separator, name, x) separator "__rel_loc char[] " #name
#define LANDTRACE_MEMBER_STR(name, x) uint32_t name;
#define LANDTRACE_PARAMETER_STR(name, x) const char *name,
#define LANDTRACE_PUT_STR(name, x) landtrace_put_string_(LANDTRACE_AT_(name), &landtrace_dynamic_, name);
#define LANDTRACE_VECTORS_STR(name, x) +1

#define LANDTRACE_TEXT_TEXT(separator, name, x) separator "__rel_loc char[] " #name
#define LANDTRACE_MEMBER_TEXT(name, x) uint32_t name;
#define LANDTRACE_PARAMETER_TEXT(name, x) const char *name, size_t name##_length,
#define LANDTRACE_PUT_TEXT(name, x) \
  landtrace_put_dynamic_(LANDTRACE_AT_(name), &landtrace_dynamic_, name, name##_length, 1);
#define LANDTRACE_VECTORS_TEXT(name, x) +2

#define LANDTRACE_TEXT_BYTES(separator, name, x) separator "__rel_loc u8[] " #name
#define LANDTRACE_MEMBER_BYTES(name, x) uint32_t name;
#define LANDTRACE_PARAMETER_BYTES(name, x) const void *name, size_t name##_length,
#define LANDTRACE_PUT_BYTES(name, x) \
  landtrace_put_dynamic_(LANDTRACE_AT_(name), &landtrace_dynamic_, name, name##_length, 0);
#define LANDTRACE_VECTORS_BYTES(name, x) +1

/* Behind the last field. */
#define LANDTRACE_END_ (NOTHING, , )
#define LANDTRACE_TEXT_NOTHING(separator, name, x) ""
#define LANDTRACE_MEMBER_NOTHING(name, x)
#define LANDTRACE_PARAMETER_NOTHING(name, x)
#define LANDTRACE_PUT_NOTHING(name, x)
#define LANDTRACE_VECTORS_NOTHING(name, x)

#define LANDTRACE_FIRST_TEXT_(kind, name, x) LANDTRACE_TEXT_##kind(" ", name, x)
#define LANDTRACE_NEXT_TEXT_(kind, name, x) LANDTRACE_TEXT_##kind(";", name, x)
#define LANDTRACE_MEMBER_(kind, name, x) LANDTRACE_MEMBER_##kind(name, x)
#define LANDTRACE_PARAMETER_(kind, name, x) LANDTRACE_PARAMETER_##kind(name, x)
#define LANDTRACE_PUT_(kind, name, x) LANDTRACE_PUT_##kind(name, x)
#define LANDTRACE_VECTORS_(kind, name, x) LANDTRACE_VECTORS_##kind(name, x)

/* -- the event ----------------------------------------------------------------------------------------------------- */

#ifdef __cplusplus
#define LANDTRACE_ASSERT_ static_assert
#else
#define LANDTRACE_ASSERT_ _Static_assert
#endif

/* A shared object (-fPIC, not -fPIE) takes its events back for dlclose(); a program leaves them alone, so that other
 * threads may emit until the very end. */
#if defined(__PIC__) && !defined(__PIE__)
#define LANDTRACE_UNLOADED_(name)                                         \
  __attribute__((destructor)) static void landtrace_unload_##name(void) { \
    landtrace_unregister(&landtrace_event_of_##name);                     \
  }
#else
#define LANDTRACE_UNLOADED_(name)
#endif

#define LANDTRACE_DECLARATION_(name, first, ...) \
#name LANDTRACE_CALL_(LANDTRACE_FIRST_TEXT_, first) LANDTRACE_EACH_(LANDTRACE_NEXT_TEXT_, __VA_ARGS__)

/* With the kernel's limit, and in the end what wants the semicolon that the program writes. */
#define LANDTRACE_EVENT_WITH_(flags, name, ...)                                                                        \
  static struct landtrace_event landtrace_event_of_##name = LANDTRACE_EVENT_INIT;                                      \
  __attribute__((constructor)) static void landtrace_load_##name(void) {                                               \
    landtrace_register(&landtrace_event_of_##name, LANDTRACE_DECLARATION_(name, __VA_ARGS__),                          \
                       (flags) | LANDTRACE_RETRY);                                                                     \
  }                                                                                                                    \
  LANDTRACE_UNLOADED_(name)                                                                                            \
  LANDTRACE_INLINE_ int landtrace_emit_##name(LANDTRACE_EACH_(LANDTRACE_PARAMETER_, __VA_ARGS__) int landtrace_end_) { \
    struct landtrace_fixed_ {                                                                                          \
      LANDTRACE_EACH_(LANDTRACE_MEMBER_, __VA_ARGS__)                                                                  \
      char landtrace_end;                                                                                              \
    } __attribute__((packed));                                                                                         \
    enum { landtrace_size_ = offsetof(struct landtrace_fixed_, landtrace_end) };                                       \
    uint64_t landtrace_words_[(landtrace_size_ + 7) / 8 + (landtrace_size_ == 0)] = {0};                               \
    struct iovec landtrace_vectors_[1 LANDTRACE_EACH_(LANDTRACE_VECTORS_, __VA_ARGS__)];                               \
    struct landtrace_dynamic_ landtrace_dynamic_ = {landtrace_vectors_, 1, landtrace_size_};                           \
    (void)landtrace_end_;                                                                                              \
    LANDTRACE_EACH_(LANDTRACE_PUT_, __VA_ARGS__)                                                                       \
    if (landtrace_dynamic_.size > LANDTRACE_MAX_PAYLOAD) return -E2BIG;                                                \
    landtrace_vectors_[0].iov_base = landtrace_words_;                                                                 \
    landtrace_vectors_[0].iov_len = landtrace_size_;                                                                   \
    return landtrace_emit_enabled(&landtrace_event_of_##name, landtrace_vectors_, landtrace_dynamic_.count,            \
                                  landtrace_dynamic_.size);                                                            \
  }                                                                                                                    \
  LANDTRACE_ASSERT_(sizeof(LANDTRACE_DECLARATION_(name, __VA_ARGS__)) <= 512,                                          \
                    "the event's declaration is longer than the kernel's 511 bytes")

#define LANDTRACE_EMIT_(name, ...) (LANDTRACE_ENABLED(name) ? landtrace_emit_##name(__VA_ARGS__) : -EBADF)

/* -- for each field: LANDTRACE_EACH_(MACRO, (KIND, name, x), ...) -------------------------------------------------- */

#define LANDTRACE_CALL_(macro, arguments) macro arguments
#define LANDTRACE_JOIN_(a, b) LANDTRACE_JOIN_NOW_(a, b)
#define LANDTRACE_JOIN_NOW_(a, b) a##b
#define LANDTRACE_EACH_(macro, ...) LANDTRACE_JOIN_(LANDTRACE_EACH_, LANDTRACE_COUNT_(__VA_ARGS__))(macro, __VA_ARGS__)
#define LANDTRACE_COUNT_(...)                                                                                         \
  LANDTRACE_COUNTED_(__VA_ARGS__, 34, 33, 32, 31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19, 18, 17, 16, 15, 14, \
                     13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)
#define LANDTRACE_COUNTED_(_1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11, _12, _13, _14, _15, _16, _17, _18, _19, _20, \
                           _21, _22, _23, _24, _25, _26, _27, _28, _29, _30, _31, _32, _33, _34, count, ...)          \
  count
#define LANDTRACE_EACH_1(m, a) LANDTRACE_CALL_(m, a)
#define LANDTRACE_EACH_2(m, a, ...) LANDTRACE_CALL_(m, a) LANDTRACE_EACH_1(m, __VA_ARGS__)
#define LANDTRACE_EACH_3(m, a, ...) LANDTRACE_CALL_(m, a) LANDTRACE_EACH_2(m, __VA_ARGS__)
#define LANDTRACE_EACH_4(m, a, ...) LANDTRACE_CALL_(m, a) LANDTRACE_EACH_3(m, __VA_ARGS__)
#define LANDTRACE_EACH_5(m, a, ...) LANDTRACE_CALL_(m, a) LANDTRACE_EACH_4(m, __VA_ARGS__)
#define LANDTRACE_EACH_6(m, a, ...) LANDTRACE_CALL_(m, a) LANDTRACE_EACH_5(m, __VA_ARGS__)
#define LANDTRACE_EACH_7(m, a, ...) LANDTRACE_CALL_(m, a) LANDTRACE_EACH_6(m, __VA_ARGS__)
#define LANDTRACE_EACH_8(m, a, ...) LANDTRACE_CALL_(m, a) LANDTRACE_EACH_7(m, __VA_ARGS__)
#define LANDTRACE_EACH_9(m, a, ...) LANDTRACE_CALL_(m, a) LANDTRACE_EACH_8(m, __VA_ARGS__)
#define LANDTRACE_EACH_10(m, a, ...) LANDTRACE_CALL_(m, a) LANDTRACE_EACH_9(m, __VA_ARGS__)
#define LANDTRACE_EACH_11(m, a, ...) LANDTRACE_CALL_(m, a) LANDTRACE_EACH_10(m, __VA_ARGS__)
#define LANDTRACE_EACH_12(m, a, ...) LANDTRACE_CALL_(m, a) LANDTRACE_EACH_11(m, __VA_ARGS__)
#define LANDTRACE_EACH_13(m, a, ...) LANDTRACE_CALL_(m, a) LANDTRACE_EACH_12(m, __VA_ARGS__)
#define LANDTRACE_EACH_14(m, a, ...) LANDTRACE_CALL_(m, a) LANDTRACE_EACH_13(m, __VA_ARGS__)
#define LANDTRACE_EACH_15(m, a, ...) LANDTRACE_CALL_(m, a) LANDTRACE_EACH_14(m, __VA_ARGS__)
#define LANDTRACE_EACH_16(m, a, ...) LANDTRACE_CALL_(m, a) LANDTRACE_EACH_15(m, __VA_ARGS__)
#define LANDTRACE_EACH_17(m, a, ...) LANDTRACE_CALL_(m, a) LANDTRACE_EACH_16(m, __VA_ARGS__)
#define LANDTRACE_EACH_18(m, a, ...) LANDTRACE_CALL_(m, a) LANDTRACE_EACH_17(m, __VA_ARGS__)
#define LANDTRACE_EACH_19(m, a, ...) LANDTRACE_CALL_(m, a) LANDTRACE_EACH_18(m, __VA_ARGS__)
#define LANDTRACE_EACH_20(m, a, ...) LANDTRACE_CALL_(m, a) LANDTRACE_EACH_19(m, __VA_ARGS__)
#define LANDTRACE_EACH_21(m, a, ...) LANDTRACE_CALL_(m, a) LANDTRACE_EACH_20(m, __VA_ARGS__)
#define LANDTRACE_EACH_22(m, a, ...) LANDTRACE_CALL_(m, a) LANDTRACE_EACH_21(m, __VA_ARGS__)
#define LANDTRACE_EACH_23(m, a, ...) LANDTRACE_CALL_(m, a) LANDTRACE_EACH_22(m, __VA_ARGS__)
#define LANDTRACE_EACH_24(m, a, ...) LANDTRACE_CALL_(m, a) LANDTRACE_EACH_23(m, __VA_ARGS__)
#define LANDTRACE_EACH_25(m, a, ...) LANDTRACE_CALL_(m, a) LANDTRACE_EACH_24(m, __VA_ARGS__)
#define LANDTRACE_EACH_26(m, a, ...) LANDTRACE_CALL_(m, a) LANDTRACE_EACH_25(m, __VA_ARGS__)
#define LANDTRACE_EACH_27(m, a, ...) LANDTRACE_CALL_(m, a) LANDTRACE_EACH_26(m, __VA_ARGS__)
#define LANDTRACE_EACH_28(m, a, ...) LANDTRACE_CALL_(m, a) LANDTRACE_EACH_27(m, __VA_ARGS__)
#define LANDTRACE_EACH_29(m, a, ...) LANDTRACE_CALL_(m, a) LANDTRACE_EACH_28(m, __VA_ARGS__)
#define LANDTRACE_EACH_30(m, a, ...) LANDTRACE_CALL_(m, a) LANDTRACE_EACH_29(m, __VA_ARGS__)
#define LANDTRACE_EACH_31(m, a, ...) LANDTRACE_CALL_(m, a) LANDTRACE_EACH_30(m, __VA_ARGS__)
#define LANDTRACE_EACH_32(m, a, ...) LANDTRACE_CALL_(m, a) LANDTRACE_EACH_31(m, __VA_ARGS__)
#define LANDTRACE_EACH_33(m, a, ...) LANDTRACE_CALL_(m, a) LANDTRACE_EACH_32(m, __VA_ARGS__)
#define LANDTRACE_EACH_34(m, a, ...) LANDTRACE_CALL_(m, a) LANDTRACE_EACH_33(m, __VA_ARGS__)

#endif
