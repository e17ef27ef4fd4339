// Under Yama (kernel.yama.ptrace_scope 1) a process is traced by its ancestors, by root, and by whom it has named. A
// program of a domain names the owner, if that is the same user: it brings the agent of probes into programs that were
// in the domain before there were probes (owner/daemon/late_programs.hpp). Each owner anew, and each child.
//
// A process has one such name, which the kernel tells nobody. Where the shim has seen that the program has named one
// itself, a crash handler, say, it keeps that one. Without the shim nobody knows: see landtrace_ptracer().
#pragma once

#include <sys/types.h>

#include <cstdint>

struct ucred;

namespace landtrace::client {

// What the file says; -1: there is no Yama.
int yama_scope(const char* file);
// The process to be named; 0: none.
pid_t owner_to_name(int scope, std::uint32_t own_uid, const ucred& owner);

// $LANDTRACE_PTRACER=0: nobody is named. Looks at the environment, the first time.
bool naming_is_switched_off();
// landtrace_ptracer().
void set_naming_wanted(bool is_wanted);

// The owner is at the other end of the connection. Nothing happens where it makes no difference.
void let_owner_trace(int connection);
// Of a program that has nothing to say to the owner yet.
void let_owner_trace(const char* socket);

}  // namespace landtrace::client
