#include "fuse/mounted_tree.hpp"

namespace landtrace::fuse {
namespace {

short wanted_of(unsigned events) {
  short wanted = 0;
  if ((events & (POLLIN | POLLRDNORM)) != 0) wanted = static_cast<short>(wanted | POLLIN);
  if ((events & (POLLOUT | POLLWRNORM)) != 0) wanted = static_cast<short>(wanted | POLLOUT);
  return wanted;
}

// The kernel's files set these together with POLLIN and POLLOUT.
short with_normal(short ready) {
  if ((ready & POLLIN) != 0) ready = static_cast<short>(ready | POLLRDNORM);
  if ((ready & POLLOUT) != 0) ready = static_cast<short>(ready | POLLWRNORM);
  return ready;
}

void poll(fuse_req_t request, fuse_ino_t, fuse_file_info* info, fuse_pollhandle* waiting) {
  MountedTree& tree = tree_of(request);
  Handle& handle = Handles::named(info->fh);
  const short wanted = wanted_of(info->poll_events);
  short ready = 0;
  {
    const auto access = tree.domain.enter();
    ready = handle.file->ready();
    if (waiting != nullptr) tree.waiters.watch(handle, waiting, wanted, ready);
  }
  if (waiting != nullptr && (wanted & ~ready) != 0) tree.courier.poke();
  fuse_reply_poll(request, static_cast<unsigned>(with_normal(ready)));
}

}  // namespace

void add_wait_operations(fuse_lowlevel_ops& operations) { operations.poll = poll; }

}  // namespace landtrace::fuse
