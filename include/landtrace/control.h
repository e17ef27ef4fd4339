/* Landtrace, the control API in C: say from a program what a domain does with its events.
 *
 *     struct landtrace_control* control;
 *     if (landtrace_control_open(&control, NULL) == 0) {
 *       landtrace_control_set_filter(control, NULL, "user_events:req_done", "status >= 500");
 *       landtrace_control_add_trigger(control, NULL, "user_events:req_done", "traceoff if status == 503");
 *       landtrace_control_enable(control, NULL, "user_events:req_done", 1);
 *       ...
 *       landtrace_control_close(control);
 *     }
 *
 * It is the domain's file tree without a mount: each call does what a shell does to a file of /sys/kernel/tracing,
 * with the same meaning and the same errno. C++ programs have <landtrace/control.hpp> on top of this.
 *
 * `instance` is the name of one below instances/; NULL or "" is the tree's top. `event` is "SYSTEM:EVENT", or "SYSTEM"
 * for all events of a system where it says so. The events must be there: registered by some program, or lasting.
 *
 * A struct landtrace_control is one connection to the domain's owner, and is its caller's: for one thread at a time
 * (different ones do not disturb each other), and for the process that opened it, not for its children. Nothing here
 * is async-signal-safe; every call waits for the owner's answer. No thread is made and no signal is raised; the
 * descriptor is close-on-exec. What was set stays when the connection is closed.
 *
 * Functions return 0 (or what they say) or a negative errno. Any of them may return
 *   -EPIPE   the owner has ended; close the connection and open another
 *   -EPROTO  the owner is of another version, or something else answers
 *   -EACCES  the file's mode does not let this user do it: files belong to the user who runs the domain, and to its
 *            group
 *   -ENOENT  there is no such instance, event or file
 *   -ENODEV  the event or instance went away meanwhile
 *   -EINVAL  a name that holds a '/' or is not of that form
 * landtrace_control_failure() says more about the last one. */
#ifndef LANDTRACE_CONTROL_H
#define LANDTRACE_CONTROL_H

#include <stddef.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif
#ifdef LANDTRACE_BUILDS_SHARED /* what the shared library exports */
#pragma GCC visibility push(default)
#endif

struct landtrace_control;

/* Connects to the domain whose socket is at `socket`; NULL: to the one that $LANDTRACE_SOCKET names, else the user's
 * own. The caller closes `*control`, which is NULL after an error. -ENOENT or -ECONNREFUSED: there is no domain. */
int landtrace_control_open(struct landtrace_control** control, const char* socket);

/* Ends it; NULL is allowed. */
void landtrace_control_close(struct landtrace_control* control);

/* Why the last call failed. */
struct landtrace_failure {
  int code;             /* the errno, positive; 0: the last call succeeded */
  int position;         /* how many characters of the filter or trigger stand before the mistake; -1: not
                         * known. An unknown field's place is behind its name, as in the kernel's files */
  const char* sentence; /* for a person: in a filter, the kernel's ("Field not found"); never NULL */
};
/* Never NULL; it and its sentence are the connection's, and hold until its next call. */
const struct landtrace_failure* landtrace_control_failure(const struct landtrace_control* control);

/* Makes an instance, with nothing enabled; or removes one. -EEXIST, -ENOSPC (as many as a domain can have), -EBUSY (a
 * file of it is open), -EINVAL (an invalid name). */
int landtrace_control_make_instance(struct landtrace_control* control, const char* instance);
int landtrace_control_remove_instance(struct landtrace_control* control, const char* instance);

/* Records the event in the instance, or stops; also for a whole "SYSTEM". -ENOSPC: the domain has no room for another
 * plan. */
int landtrace_control_enable(struct landtrace_control* control, const char* instance, const char* event, int on);

/* The instance takes the event only if `expression` is true; NULL: always. Producers evaluate it, from the next event
 * of each on. Of a whole "SYSTEM": each of its events gets it. Those that it does not fit have no filter then, their
 * `filter` file says so, and the call succeeds.
 *   -EINVAL  the expression is invalid for this event. The event has no filter then, and its `filter` file shows the
 *            failure
 *   -EPERM, -ENOENT, -ESRCH, -E2BIG  the same, for mistakes for which the kernel has these: parentheses that do not
 *            match, a term too many. landtrace_control_failure() tells a wrong expression from a missing event
 *   -EINVAL  it is longer than 4095 bytes; the filter before stays
 *   -ENOSPC  the domain has no room for it */
int landtrace_control_set_filter(struct landtrace_control* control, const char* instance, const char* event,
                                 const char* expression);

/* Adds a trigger: traceon, traceoff, snapshot, stacktrace, enable_event:SYSTEM:EVENT or disable_event:SYSTEM:EVENT,
 * each with ":COUNT" and " if EXPRESSION" after it if wanted. It acts in the producers, at once.
 *   -EINVAL  the trigger is invalid for this event, or begins with '!', or the event that it switches is missing, or
 *            the expression is refused (with the errnos of landtrace_control_set_filter(), too)
 *   -ERANGE  the count is no number of 64 bits
 *   -EEXIST  the event has a trigger of this kind (traceon and traceoff are one kind; so are enable_event and
 *            disable_event of the same event)
 *   -ENOSPC, -ENOMEM  the domain has no room for it, or for the rings of a snapshot */
int landtrace_control_add_trigger(struct landtrace_control* control, const char* instance, const char* event,
                                  const char* trigger);

/* Removes a trigger, by the text with which it was added; count and expression may be left out. It is no error if the
 * event does not have it. -EINVAL: the text is no trigger. */
int landtrace_control_remove_trigger(struct landtrace_control* control, const char* instance, const char* event,
                                     const char* trigger);

/* Copies the event's `filter` or `trigger` file to `text`, at most `size` - 1 bytes and a NUL. Returns how many bytes
 * the file has. `text` may be NULL if `size` is 0. */
ssize_t landtrace_control_filter(struct landtrace_control* control, const char* instance, const char* event, char* text,
                                 size_t size);
ssize_t landtrace_control_triggers(struct landtrace_control* control, const char* instance, const char* event,
                                   char* text, size_t size);

/* Any other file, by its path from the tree's root ("instances/mine/tracing_on"). Reading is as above, from the file's
 * beginning to its end; -EAGAIN where it would wait for events. Writing is one write() behind what is there (as >>
 * does), and may return any errno of that file. */
ssize_t landtrace_control_read(struct landtrace_control* control, const char* path, char* text, size_t size);
int landtrace_control_write(struct landtrace_control* control, const char* path, const char* text);

#ifdef LANDTRACE_BUILDS_SHARED
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif

#endif
