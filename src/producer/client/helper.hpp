// The thread that finds the next owner, or the first one, for a program that links the library, without the program's
// doing anything: the enable words lie in the owner's memory, where only the owner writes, so nobody else could wake
// the events.
//
// It blocks in poll: on a connection of its own, which ends with the owner, or on the socket's folder while there is no
// owner. While the owner refuses some of the events it asks again now and then. All signals are blocked in it. Its
// descriptors are in a table of its own, so that a program that closes whatever is open does not close them, and so
// that it does not keep the program's files open. It is made when the first event is registered and ends with the last
// one; a forked child makes its own.
#pragma once

namespace landtrace::client::helper {

// Makes the thread, unless it is there or is not wanted. The list of events is locked. Returns 0 or a negative errno.
int start();
// Ends it and waits for its end. The list of events is not locked.
void stop();
// Whether the thread waits for its owner's end alone, and will not look at an event that has found no place. The list
// of events is locked.
bool waits_for_good();
// Has it look at the events again. The list of events is not locked.
void restart();
// Whether start() makes one; $LANDTRACE_HELPER=0 says no for good.
void set_wanted(bool wanted);

}  // namespace landtrace::client::helper
