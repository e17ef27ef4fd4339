// A process's attachment to one owner: its mappings of the domain's memory, and its threads' places in them.
//
// It does not change once it is made, and it is never taken down: while the process goes on to the next owner, a thread
// may stay inside an emit in it for any time. Leaving it there costs address space, and the pages of its control
// segment; those of its rings are given back, see retire().
#pragma once

#include "ipc/protocol.hpp"
#include "plan/emit.hpp"

namespace landtrace::client {

// A thread's place together with the view to which it belongs, so that an emit sees both of the same owner.
struct alignas(64) Place {
  plan::Thread thread;
  plan::View view;
};

struct Attachment {
  plan::View view;
  std::uint64_t data_bytes;
  std::uint64_t control_inode;  // tells owners apart, for as long as the segment is mapped
  bool foreign;                 // the owner sees the process under another pid: it is in another pid namespace
  Attachment* before;
  Place places[plan::kMaxThreads];  // by thread slot, which no two living threads share; sparse
};

// The inode of a memfd, or 0.
std::uint64_t inode_of_memory(int fd);

// From the reply to kAttach and its descriptors, which the caller closes. nullptr where they are not what they
// should be, or there is no room. Allocates nothing from the heap; async-signal-safe.
Attachment* make_attachment(const ipc::Reply& reply, const int (&fds)[2], Attachment* before);

// Gives the memory behind the rings back, once another owner has come and gone: a thread that is still inside goes on
// in memory that nobody reads.
void retire(const Attachment& attachment);

}  // namespace landtrace::client
