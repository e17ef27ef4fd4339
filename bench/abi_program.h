/* What a program does that knows only the kernel's user_events document. */
#ifndef ABI_PROGRAM_H
#define ABI_PROGRAM_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Opens user_events_data and registers `declaration`, whose enable word is `word`. The write index, or -1
 * with errno. */
int abi_register(const char* declaration, uint32_t* word, int* fd);
/* The same with the path of user_events_data. */
int abi_register_at(const char* path, const char* declaration, uint32_t* word, int* fd);

#ifdef __cplusplus
}
#endif

#endif
