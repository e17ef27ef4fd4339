#include "fuse/mounted_tree.hpp"

namespace landtrace::fuse {
namespace {

constexpr unsigned kMaxWrite = 1u << 20;
// Closing a file is a background request. None must wait for room: a program that closes a file and then looks at the
// tree is to find it closed.
constexpr unsigned kMaxBackground = 4096;

void start(void*, fuse_conn_info* connection) {
  // Above all no readahead: each page of trace_pipe_raw that is read is taken, so only what the reader asks for may
  // be read.
  connection->want = connection->capable & (FUSE_CAP_ATOMIC_O_TRUNC | FUSE_CAP_PARALLEL_DIROPS);
  connection->max_readahead = 0;
  connection->max_write = kMaxWrite;
  connection->max_background = kMaxBackground;
}

}  // namespace

thread_local domain::Proxy* this_thread_records_by = nullptr;

MountedTree& tree_of(fuse_req_t request) { return *static_cast<MountedTree*>(fuse_req_userdata(request)); }

tracefs::Caller caller_of(fuse_req_t request) {
  const MountedTree& tree = tree_of(request);
  const fuse_ctx& context = *fuse_req_ctx(request);
  // The kernel's "pid" is that of the calling thread.
  return {static_cast<std::uint32_t>(context.pid), {tree.uids.to_owner(context.uid), tree.gids.to_owner(context.gid)}};
}

fuse_lowlevel_ops operations() {
  fuse_lowlevel_ops operations{};
  operations.init = start;
  add_tree_operations(operations);
  add_file_operations(operations);
  add_wait_operations(operations);
  return operations;
}

}  // namespace landtrace::fuse
