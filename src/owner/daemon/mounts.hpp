// The mounts at which a domain is served as a file tree.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "domain/domain.hpp"
#include "fuse/session.hpp"
#include "host/server.hpp"
#include "tracefs/tree.hpp"

namespace landtrace::daemon {

class Mounts {
 public:
  struct Permissions {
    // The group of all files; nullopt: the owner's.
    std::optional<std::uint32_t> gid;
    // Of the top folder; nullopt: the tree's.
    std::optional<unsigned> root_mode;
  };
  // `tree` is the domain's, and outlives the mounts.
  Mounts(domain::Domain& domain, tracefs::Tree& tree, const Permissions& permissions);
  // Ends them all, and unmounts what lies in this process's mount namespace.
  ~Mounts();
  Mounts(const Mounts&) = delete;
  Mounts& operator=(const Mounts&) = delete;

  // Mounts at `folder` as mount_folder() does, and serves it. A mount that a dead owner left there is removed first.
  // Returns a descriptor that has POLLERR when it is no longer mounted.
  Result<Fd> mount(const std::string& folder, bool allow_other);
  // Serves a mount that another process has made (handover.hpp). EINVAL: the descriptor is not of /dev/fuse. EXDEV:
  // the process is in another pid namespace.
  Result<void> serve(host::MountOffer offer);
  void end();

 private:
  struct Served {
    std::unique_ptr<fuse::Session> session;
    std::string folder;  // empty: it lies in another mount namespace
    std::string device;
  };
  void bury_ended();
  Result<void> add(Fd fuse, const fuse::SessionOptions& options, std::string folder, std::string device);

  domain::Domain& domain_;
  tracefs::Tree& tree_;
  Permissions permissions_;
  std::mutex mutex_;
  std::vector<Served> served_;

  // Destroys sessions that have ended, each time another one is added. A thread of its own does this, since a session
  // must not be destroyed by a thread that holds the domain, as serve()'s caller does.
  std::thread undertaker_;
  std::condition_variable added_;
  bool is_over_ = false;
};

// Mounts at `folder` and returns the descriptor to be served. A process that may mount does so itself, for all users.
// Others have fusermount3 do it, which lets other users in only if its configuration says so (user_allow_other).
Result<Fd> mount_folder(const std::string& folder, bool allow_other);
// Unmounts a mount of ours at `folder`. EINVAL: there is none.
Result<void> unmount_folder(const std::string& folder);

}  // namespace landtrace::daemon
