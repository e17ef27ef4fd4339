/* Landtrace, the C API: declare an event, test whether anybody listens, emit it.
 *
 *     static struct landtrace_event req_done = LANDTRACE_EVENT_INIT;
 *     ...
 *     landtrace_register(&req_done, "req_done u32 id;__rel_loc char[] route", 0);
 *     ...
 *     if (landtrace_enabled(&req_done)) landtrace_emit(&req_done, vectors, 2);
 *
 * The declaration and the payload are those of the kernel's user_events document: `name type field;type field`, and
 * the fields in order without padding. Where an event goes is decided when it is registered: to a Landtrace domain
 * (the one that $LANDTRACE_SOCKET names, else the user's own), to the kernel's user_events where it has them, or
 * nowhere; the program is the same. C++ programs have <landtrace/landtrace.hpp> on top of this.
 *
 * A domain is served by a process, its owner, which may die, be killed, come back or come late. The program goes on in
 * any case, and once there is an owner (again) its events are that owner's, under the same names. So that this needs
 * no doing of the program's, the library has one thread, see landtrace_helper(). It prints nothing.
 *
 * Signals: when the program joins its first domain (with an event of static storage before main(), or when the owner
 * comes), the library installs a handler of SIGSEGV and one of SIGBUS where these are left to the system (SIG_DFL),
 * with SA_SIGINFO and SA_ONSTACK. It mends the faults of the library's own instructions: in a thread that has switched
 * its time stamp counter off (PR_SET_TSC), and where a probe reads memory that is gone. At any other it puts SIG_DFL
 * back and returns, so that the fault happens again and ends the program as without a handler; what was sent (kill(),
 * sigqueue()) it sends again by rt_tgsigqueueinfo(). A handler of the program's stays, and one that comes later takes
 * the place; where the program sets SIG_DFL later that stays. So a runtime that installs a handler only where there is
 * none has none of its own then. The environment variable LANDTRACE_SIGNAL_HANDLERS=0: nothing is installed, memory
 * that a probe reads is copied by the kernel, and no thread may switch its counter off after its first event. */
#ifndef LANDTRACE_LANDTRACE_H
#define LANDTRACE_LANDTRACE_H

#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

#ifdef __cplusplus
extern "C" {
#endif
#ifdef LANDTRACE_BUILDS_SHARED /* what the shared library exports */
#pragma GCC visibility push(default)
#endif

/* Largest payload in bytes. */
#define LANDTRACE_MAX_PAYLOAD 65536

/* Flags of landtrace_register(), the first two as in DIAG_IOCSREG. */
#define LANDTRACE_PERSIST 1u      /* the event stays when the last program that uses it ends */
#define LANDTRACE_MULTI_FORMAT 2u /* other programs may register other fields under the same name */
/* Behind the declaration's NUL stands a second text: what the members of its structs are, so that Landtrace's commands
 * show them. `STRUCT SIZE{TYPE NAME OFFSET SIZE;...}` for each struct, with types u8 ... s64, bool, float, double, ptr,
 * char[] (text) and struct NAME; NAME*COUNT is an array, whose SIZE is that of all of it.
 *
 *     landtrace_register(&event, "moved struct position to 8\0" "position 8{s32 x 0 4;s32 y 4 4}", LANDTRACE_DESCRIBED)
 */
#define LANDTRACE_DESCRIBED 4u
/* For an event that is there as long as the program: where it is refused, for another reason than -EINVAL, it is
 * registered all the same, and ends by landtrace_unregister(). What is in its way may go (another program's event of
 * this name, say), so landtrace_attach() tries it again, and so does the helper with a domain: after a second, and then
 * ever less often, but each minute. What LANDTRACE_EVENT() and <landtrace/landtrace.hpp> declare has it. */
#define LANDTRACE_RETRY 8u

enum landtrace_backend {
  LANDTRACE_NONE = 0,   /* nobody to send to */
  LANDTRACE_DOMAIN = 1, /* a Landtrace domain: shared memory, no system call an event */
  LANDTRACE_KERNEL = 2  /* the kernel's user_events, or another tracefs that serves them: one writev an event */
};

/* An event of this program. It must stay where it is, and in existence, until landtrace_unregister(); static storage is
 * the usual place. The members are the library's. */
struct landtrace_event {
  const uint32_t* enable; /* nonzero there: somebody listens */
  uint32_t word;          /* the enable word, where the kernel writes it; in a domain the generation of its slot */
  int32_t index;          /* event slot of the domain, or write index of the kernel's file */
  uint32_t min_size;
  uint16_t backend; /* enum landtrace_backend */
  uint16_t flags;
  const char* declaration;
  struct landtrace_event* next;
};

extern const uint32_t landtrace_never; /* always 0 */
#define LANDTRACE_EVENT_INIT \
  { &landtrace_never, 0, -1, 0, LANDTRACE_NONE, 0, 0, 0 }

/* Registers `event` under `declaration`, which must stay readable as long as the event. Registering one that is
 * registered does nothing. Thread-safe; not async-signal-safe.
 *
 * Returns 0, also when there is no domain to send to (then the event stays disabled, and landtrace_attach() tries
 * again). Else a negative errno, and the event is not registered, unless LANDTRACE_RETRY says otherwise:
 *   -EINVAL        the declaration is invalid, or a flag is unknown
 *   -EADDRINUSE    the name is registered with other fields
 *   -ENOSPC        the domain, or this user in it, has as many events as it can
 *   -EPERM         the domain or the tracefs does not want this user, or not LANDTRACE_PERSIST of this user
 *   -EMFILE, -ENFILE, -ENOMEM   no descriptor or no memory for the connection with the domain, here or there
 * With the kernel's user_events also what else DIAG_IOCSREG answers, -EFAULT, say. */
int landtrace_register(struct landtrace_event* event, const char* declaration, unsigned flags);

/* Ends what landtrace_register() began; 0, or -ENOENT for an event that is not registered. No other thread may be
 * inside landtrace_emit() of this event. Not async-signal-safe. */
int landtrace_unregister(struct landtrace_event* event);

/* Looks for a domain (or the kernel) again: for events that have found none so far, and for those that the domain has
 * dropped (its owner has died, or a daemon has closed all its descriptors and the connection with them). A program
 * that may start before its domain, and has no helper, calls it now and then. Returns how many events found one. Not
 * async-signal-safe. */
int landtrace_attach(void);

/* The library's helper: a thread that waits for an owner to die or to appear, and registers the program's events with
 * the new one within milliseconds. It is made when the first event is registered (in C++ before main()), ends with the
 * last one, and is made again in a child of fork(). It sleeps in poll() without any timer, blocks all signals, has a
 * stack of 128 KiB and a descriptor table of its own (Linux 5.9; without that, there is no helper), in which is one
 * connection with the owner; where there is no owner it uses one of the user's inotify instances. Only while the owner
 * refuses an event (LANDTRACE_RETRY) does it wake up by itself.
 *
 * A second thread has consequences: unshare(2) and setns(2) refuse some namespaces, and a fork() with its child's end
 * takes some 0.2 ms longer. A program without the helper calls landtrace_attach() now and then. The environment
 * variable LANDTRACE_HELPER=0 switches it off for good.
 *
 * landtrace_helper(0) ends the helper, and returns when it has ended; landtrace_helper(1) allows it again. Returns 0,
 * or a negative errno of pthread_create(). Thread-safe; not async-signal-safe. */
int landtrace_helper(int on);

/* Who may trace the program, under Yama (kernel.yama.ptrace_scope 1): it names the owner of its domain with
 * prctl(PR_SET_PTRACER) when it joins the domain, each later owner as it finds it, and each child of fork() does, where
 * the owner runs as the program's own user. So the owner may bring probes of functions into it; events do not need it.
 * But a process has one such name: whom the program has named itself before, a crash handler or a debugger, cannot
 * attach to it any more. (Under the shim, which sees that, the program's own stays.) Where probes are written into a
 * program with threads, what brings them names another for a moment, and the owner behind it.
 *
 * landtrace_ptracer(0): from now on nobody is named, and a program that names somebody calls it before that.
 * landtrace_ptracer(1) allows it again. The environment variable LANDTRACE_PTRACER=0 switches it off from the start and
 * for good; then `landtrace attach` by root is what brings probes into such a program. Async-signal-safe. */
void landtrace_ptracer(int on);

/* Nonzero when somebody listens. Two loads, a test and a branch; thread-safe and async-signal-safe. */
static inline int landtrace_enabled(const struct landtrace_event* event) {
  return __builtin_expect(__atomic_load_n(event->enable, __ATOMIC_RELAXED) != 0, 0) != 0;
}

/* Emits the event with the payload gathered from the vectors, at most 64 of them. Thread-safe and async-signal-safe;
 * may interrupt itself. In a domain it makes no system call, except at a thread's first event, and where the domain's
 * filters and triggers need one: for a thread's name, a stack, memory that an event probe reads, or to tell other
 * users.
 *
 * Returns 0 if somebody listened (also if a buffer was full: it counts the event as lost), else a negative errno:
 *   -EBADF   nobody listens
 *   -EINVAL  the payload is shorter than the declared fields, or over 64 vectors
 *   -E2BIG   it is longer than LANDTRACE_MAX_PAYLOAD
 *   -EFAULT  (kernel) a dynamic field points outside the payload
 *   -EAGAIN  the thread has no place in the domain (thousands of threads), or this interrupted the search for one */
int landtrace_emit(const struct landtrace_event* event, const struct iovec* vectors, int count);

/* landtrace_emit() without its checks. The caller knows that the event is enabled, that `size` is the sum of the
 * vectors, and that they are at most 64. For <landtrace/landtrace.hpp> and other generated code. */
int landtrace_emit_enabled(const struct landtrace_event* event, const struct iovec* vectors, int count, size_t size);

/* Where the event goes. */
static inline enum landtrace_backend landtrace_event_backend(const struct landtrace_event* event) {
  return (enum landtrace_backend)event->backend;
}

#ifdef LANDTRACE_BUILDS_SHARED
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif

#ifndef LANDTRACE_NO_MACROS
#include <landtrace/detail/event_macros.h>
#endif

#endif
