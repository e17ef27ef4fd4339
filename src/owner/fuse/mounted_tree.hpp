// A tree and all that the kernel knows about it through one mount. The requests work on this.
#pragma once

#include <atomic>
#include <functional>

#include "domain/domain.hpp"
#include "domain/proxy.hpp"
#include "fuse/courier.hpp"
#include "fuse/errands.hpp"
#include "fuse/folder_listing.hpp"
#include "fuse/handle.hpp"
#include "fuse/ids.hpp"
#include "fuse/inodes.hpp"
#include "fuse/waiters.hpp"
#include "tracefs/node.hpp"

namespace landtrace::fuse {

struct MountedTree {
  MountedTree(domain::Domain& domain_in, std::shared_ptr<tracefs::Folder> root, Inodes::Shown shown, Ids uids_in,
              Ids gids_in)
      : domain(domain_in), uids(std::move(uids_in)), gids(std::move(gids_in)), inodes(std::move(root), shown) {}

  domain::Domain& domain;
  Ids uids;
  Ids gids;
  // Only with the domain held.
  Inodes inodes;
  Handles handles;
  FolderListings listings;
  Waiters waiters;

  Courier courier{domain, waiters};
  Errands errands{courier};
  // Between parts of a long request, and without the domain: requests that wait for it are answered.
  std::function<void()> let_pass = [] {};
  // The kernel's first request (INIT), if its answer has to say that files which are read past the page cache can be
  // mapped.
  // The number is all that the two threads exchange; its partners are greet() and write_answer(), session.cc.
  std::atomic<std::uint64_t> init_to_allow_pages{0};
};

// The tree that a request is about, and who asks.
MountedTree& tree_of(fuse_req_t request);
tracefs::Caller caller_of(fuse_req_t request);

// By this the calling thread, which serves requests, records events for programs.
extern thread_local domain::Proxy* this_thread_records_by;

// What libfuse is to call for each kind of request.
fuse_lowlevel_ops operations();
void add_tree_operations(fuse_lowlevel_ops& operations);
void add_file_operations(fuse_lowlevel_ops& operations);
void add_wait_operations(fuse_lowlevel_ops& operations);

}  // namespace landtrace::fuse
