// Files whose owner has died, and the owner that has taken them over.
#pragma once

#include "preload/fd_table.hpp"

namespace landtrace::preload {

// For all of one answer: files are reopened in the middle of somebody's write. A variable for tests, which cannot know
// when their owner gets a CPU.
extern int reopen_patience_ms;

// Makes the process's descriptors of data files descriptors of the next owner: the same files where it knows them, else
// new ones. They keep their numbers, and what close-on-exec and O_NONBLOCK were. Allocates nothing; async-signal-safe.
void reopen_files();

// The same for one descriptor, which came from elsewhere, if its owner has died.
void reopen_if_dead(int fd);

// Of a file that its owner does not know: the owner may have been too busy to answer when files were reopened. Tries
// again, now and then. False: the file is a dead owner's still. Keeps errno; async-signal-safe.
bool reopen_late(int fd);

}  // namespace landtrace::preload
