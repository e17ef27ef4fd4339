// The thread by which a program that links the library finds the owner that comes after one that has died, or the first
// one, without doing anything itself: its enable words lie in the owner's memory, where only the owner writes.
//
// It blocks in poll: on a connection of its own, which ends with the owner, and while there is no owner on the socket's
// folder. All signals are blocked in it, and its descriptors are its own: a table apart from the program's, which a program
// that closes whatever is open does not reach, and which does not keep the program's files open. It is made when the first
// event is registered, ends with the last one, and a forked child makes its own.
#pragma once

namespace landtrace::client::helper {

// Makes the thread, unless it is there or is not wanted. The list of events is locked. Returns 0 or a negative errno.
int start();
// Ends it and waits for its end. The list of events is not locked.
void stop();
// Whether start() makes one; $LANDTRACE_HELPER=0 says no for good.
void set_wanted(bool wanted);

}  // namespace landtrace::client::helper
