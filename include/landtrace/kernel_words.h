/* Landtrace: words of the kernel's own code, for code that is brought from there and uses <landtrace/trace_events.h>.
 * Nothing of Landtrace includes this. Macros that the program has defined before stay as they are. A program that has a
 * u64 of its own, which cannot be seen here, defines LANDTRACE_OWN_U64 before. */
#ifndef LANDTRACE_KERNEL_WORDS_H
#define LANDTRACE_KERNEL_WORDS_H

#include <landtrace/trace_events.h>

#ifndef LANDTRACE_OWN_U64
typedef landtrace_u64 u64;
#endif

#ifndef ARRAY_SIZE
#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))
#endif
#ifndef THIS_MODULE
#define THIS_MODULE ((struct module*)0)
#endif
#ifndef smp_processor_id
#define smp_processor_id() landtrace_this_cpu()
#endif
#ifndef ERR_PTR
#define ERR_PTR(error) landtrace_err_ptr(error)
#endif
#ifndef PTR_ERR
#define PTR_ERR(pointer) landtrace_ptr_err(pointer)
#endif
#ifndef IS_ERR
#define IS_ERR(pointer) landtrace_is_err(pointer)
#endif
#ifndef IS_ERR_OR_NULL
#define IS_ERR_OR_NULL(pointer) landtrace_is_err_or_null(pointer)
#endif

#endif
