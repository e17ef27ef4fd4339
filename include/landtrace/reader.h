/* Landtrace, the reader API in C: the events of a recording, or of a running domain as they happen.
 *
 *     struct landtrace_reader* reader = landtrace_reader_new();
 *     const struct landtrace_record* record;
 *     if (landtrace_reader_open(reader, "trace.dat") == 0) {
 *       while (landtrace_reader_next(reader, -1, &record) == 1) puts(landtrace_reader_text(reader));
 *     }
 *     landtrace_reader_free(reader);
 *
 * Link with -llandtrace-reader (pkg-config landtrace-reader, in CMake landtrace::reader); programs that only emit do
 * not need that library. C++ programs have <landtrace/reader.hpp> on top of this.
 *
 * A struct landtrace_reader is its caller's: for one thread at a time (different ones do not disturb each other), and
 * for the process that made it, not for its children. Nothing here is async-signal-safe but landtrace_reader_stop().
 * No thread is made and no signal is raised; descriptors are close-on-exec. What a function hands out (records, texts)
 * is the reader's, and holds until landtrace_reader_next() is called again or the reader is freed.
 *
 * Files and domains of others are not trusted: what makes no sense is an error.
 *
 * Functions return 0 (or what they say) or a negative errno, and landtrace_reader_failure() says more about the last
 * one. Any of them may return -ENOMEM. */
#ifndef LANDTRACE_READER_H
#define LANDTRACE_READER_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#ifdef LANDTRACE_BUILDS_SHARED /* what the shared library exports */
#pragma GCC visibility push(default)
#endif

struct landtrace_reader;

/* One that reads nothing yet; the caller frees it. NULL: no memory. */
struct landtrace_reader* landtrace_reader_new(void);
/* Ends it: a domain does not record for it any more. NULL is allowed. */
void landtrace_reader_free(struct landtrace_reader* reader);

/* Which events it will give: these two come before open, follow and listen, and hold for the next of those alone. */

/* Events that match "SYSTEM:EVENT", where each part may be a glob; "EVENT" alone names an event or a system. Called
 * several times: all that match one of them; never called: all events. -EINVAL: an invalid pattern. */
int landtrace_reader_add_pattern(struct landtrace_reader* reader, const char* pattern);
/* Those for which the expression, in the language of tracefs' `filter` files, is true: "status >= 500". Events without
 * the fields that it names are left out. In a domain, producers evaluate it. What is wrong with it open, follow
 * and listen say. */
int landtrace_reader_set_filter(struct landtrace_reader* reader, const char* expression);

/* Reads a recording: of landtrace, also while it is written or after its recorder was killed (what had come by now), or
 * of trace-cmd. What was read before is closed.
 *   -ENOENT, -EACCES, …  what open(2) says
 *   -EBADMSG  not a trace file, or a damaged one
 *   -ENOTSUP  a kind that is not read: compressed, of another byte order, of 32 bits
 *   -EINVAL   the filter is invalid, or fits no event of the recording */
int landtrace_reader_open(struct landtrace_reader* reader, const char* path);

/* The same, and goes on with a recording of landtrace as long as it is written: at what is there so far
 * landtrace_reader_next() waits for more, and comes to the end when the recorder has finished the file, or has gone. Of
 * one that nobody writes it is landtrace_reader_open(). An event for the filter may come yet: that it fitted none
 * landtrace_reader_next() says at the end, as -EINVAL. Where the next recording has taken the name meanwhile, the rest
 * is read from PATH.old; where that is another one, too, landtrace_reader_next() says so, as -ESTALE, and then comes to
 * the end. */
int landtrace_reader_follow(struct landtrace_reader* reader, const char* path);

/* Listens to a running domain: from here on its programs record the chosen events, also those that register later. What
 * was read before is closed. `socket` is the domain's; NULL: that of $LANDTRACE_SOCKET, else the user's own.
 * `ring_bytes` is the room for events that were not read yet, for each CPU and each user of the domain, rounded up to a
 * power of two; 0: 4 MiB, or less where the domain has less room. Events that find none are lost, and counted. A
 * program that emits chosen events itself gets those, too.
 *   -ENOENT, -ECONNREFUSED  nobody serves a domain there
 *   -EPERM    this user does not run the domain
 *   -ENOSPC   the domain has no room for the rings
 *   -EPROTO   the owner is of another version, or something else answers
 *   -EINVAL   the filter can be none of any event */
int landtrace_reader_listen(struct landtrace_reader* reader, const char* socket, uint64_t ring_bytes);

/* An event. */
struct landtrace_record {
  uint64_t time_ns;   /* CLOCK_MONOTONIC; in a file, of landtrace_reader_clock() */
  uint64_t lost;      /* events that are missing since the one before that was chosen: in a file, of its CPU;
                     * UINT64_MAX: some */
  const char* system; /* "user_events"; "" for an event that the file does not describe */
  const char* name;   /* likewise */
  const char* comm;   /* the thread's name; "": not known */
  uint32_t tid;       /* the thread */
  uint32_t tgid;      /* its process; 0: not known */
  uint32_t cpu;
  uint32_t id;         /* of the event: the same for all of a name, and of nothing else in what is read */
  size_t fields;       /* how many it has */
  const void* payload; /* as it was emitted, without the common header */
  size_t payload_size; /* in bytes */
};

/* The next event, in the order of time over all CPUs.
 *   1           *record is it
 *   0           there is none, nor will be: the end of the recording; the domain has ended; or landtrace_reader_stop()
 *   -ETIMEDOUT  live, or following: none came within `timeout_ms` (0: does not wait; negative: waits without end)
 *   -EBADMSG    the recording is damaged. One CPU's events end there: further calls give those of the others
 *   -ESTALE     following: another recording has the name, see landtrace_reader_follow()
 *   -EBADF      nothing was opened
 *   -EPROTO     the domain's owner says what makes no sense */
int landtrace_reader_next(struct landtrace_reader* reader, int timeout_ms, const struct landtrace_record** record);

/* From now on landtrace_reader_next() returns 0; one that waits, within 10 ms. For any thread, and async-signal-safe.
 * */
void landtrace_reader_stop(struct landtrace_reader* reader);

/* Events that are missing, as far as it was read, whichever were chosen; UINT64_MAX: some. */
uint64_t landtrace_reader_lost(const struct landtrace_reader* reader);
/* The clock of the times, as tracefs' trace_clock calls it: "mono"; "" where the file does not say. x86-tsc and
 * counter do not count nanoseconds. */
const char* landtrace_reader_clock(const struct landtrace_reader* reader);
/* What to add to a time for nanoseconds since 1970: as it was when the recording began, or, live, as it is. -ENODATA:
 * not known. */
int landtrace_reader_wall_offset(const struct landtrace_reader* reader, int64_t* offset_ns);
/* Why the last call of a function that returns an errno failed, for a person; "" after success. A wrong filter is
 * followed by the expression and, below the mistake, a caret, in lines of their own. */
const char* landtrace_reader_failure(const struct landtrace_reader* reader);

enum landtrace_value_kind {
  LANDTRACE_VALUE_NONE,     /* the event is too short to have it */
  LANDTRACE_VALUE_UNSIGNED, /* `number.as_unsigned` */
  LANDTRACE_VALUE_SIGNED,   /* `number.as_signed` */
  LANDTRACE_VALUE_REAL,     /* `number.as_real`: struct float and struct double */
  LANDTRACE_VALUE_TEXT, /* `text`: char[N] and dynamic strings, up to their NUL, in whatever bytes they were emitted */
  LANDTRACE_VALUE_JSON  /* `text`: arrays, structs and bytes, as `landtrace report --json` prints them */
};
struct landtrace_field_value {
  const char* name;
  const char* type; /* as declared: "u32", "__rel_loc char[]" */
  enum landtrace_value_kind kind;
  union {
    uint64_t as_unsigned;
    int64_t as_signed;
    double as_real;
  } number;
  const char* text; /* NUL-terminated; "" unless kind says otherwise */
  size_t text_size; /* without the NUL */
};
/* A field of the last event, by its place from 0, or by its name. -ENOENT: it has none there, or there is no event. */
int landtrace_reader_field(struct landtrace_reader* reader, size_t index, struct landtrace_field_value* value);
int landtrace_reader_find(struct landtrace_reader* reader, const char* name, struct landtrace_field_value* value);

/* The last event as a line of `landtrace report`, or of `landtrace report --json`; without a newline at the end. ""
 * when there is none, or no memory. */
const char* landtrace_reader_text(struct landtrace_reader* reader);
const char* landtrace_reader_json(struct landtrace_reader* reader);

#ifdef LANDTRACE_BUILDS_SHARED
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif

#endif
