// Readers that wait for something to read, and those who poll. Nothing tells when a producer has written (that is what
// makes writing cheap), so who waits is looked after in rounds, and only while somebody waits.
//
// Whoever uses this holds the domain.
#pragma once

#include <list>
#include <vector>

#include "fuse/handle.hpp"

namespace landtrace::fuse {

class Waiters {
 public:
  // Takes over a READ that found nothing.
  void park(fuse_req_t request, Handle& handle, const tracefs::Caller& caller, std::size_t size, std::uint64_t offset);
  // Takes over `poll`: told once, when more of what the handle wants is ready than `told`.
  void watch(Handle& handle, fuse_pollhandle* poll, short wanted, short told);
  // Somebody has read: whoever polls knows nothing any more, and wants to hear of what there is next.
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
    std::uint64_t wakes;  // of the file, when it began to wait
  };
  bool serve_one(const Parked& parked);
  bool tell(Handle& handle);
  static bool is_waiting(const Handle& handle) { return (handle.wanted & ~handle.told) != 0; }

  std::list<Parked> parked_;
  std::vector<Handle*> watched_;
  std::vector<char> buffer_;
};

}  // namespace landtrace::fuse
