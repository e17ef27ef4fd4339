// Readers that wait for something to read, or for what is being made for them, and programs that poll. A producer tells
// nobody when it has written (that makes writing cheap). So the courier looks for new records in rounds, as long as
// somebody waits.
//
//   read() that finds nothing -> park()    each round: serve_one() reads again; answers if there is something, or the
//                                          reader was interrupted or woken
//   poll()                    -> watch()   each round: tell() the kernel if more is ready than it was told
//
// The caller holds the domain.
#pragma once

#include <list>
#include <vector>

#include "fuse/handle.hpp"

namespace landtrace::fuse {

class Waiters {
 public:
  // Takes over a READ that found nothing.
  void park(fuse_req_t request, Handle& handle, const tracefs::Caller& caller, std::size_t size, std::uint64_t offset);
  // Takes over `poll`. The kernel is told once, when something that it wants is ready and is not in `told`.
  void watch(Handle& handle, fuse_pollhandle* poll, short wanted, short told);
  // After a read: what was told about the handle no longer holds, so the next input is told again.
  static void has_read(Handle& handle) { handle.told = 0; }
  // The handle is closed.
  void drop(Handle& handle);

  struct Round {
    bool is_anyone_left = false;
    bool has_served = false;
  };
  Round serve();
  // Answers all parked reads with an error.
  void give_up(int error);

 private:
  struct Parked {
    fuse_req_t request;
    Handle* handle;
    tracefs::Caller caller;
    std::size_t size;
    std::uint64_t offset;
    std::uint64_t wakes;  // OpenFile::wakes() when it began to wait
  };
  bool serve_one(const Parked& parked);
  bool tell(Handle& handle);
  static bool is_waiting(const Handle& handle) { return (handle.wanted & ~handle.told) != 0; }

  std::list<Parked> parked_;
  std::vector<Handle*> watched_;
  std::vector<char> buffer_;
};

}  // namespace landtrace::fuse
