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
    std::optional<std::uint32_t> gid;   // the group of all files; nullopt: the owner's
    std::optional<unsigned> root_mode;  // of the top folder; nullopt: as the tree has it
  };
  // `tree` is the domain's, and outlives the mounts.
  Mounts(domain::Domain& domain, tracefs::Tree& tree, const Permissions& permissions);
  // Ends them all, and unmounts what lies in this process's mount namespace.
  ~Mounts();
  Mounts(const Mounts&) = delete;
  Mounts& operator=(const Mounts&) = delete;

  // Mounts at `folder` as mount_folder() does, and serves it. What a dead owner left there is taken away first.
  // Returns a descriptor that has POLLERR when it is not mounted any more.
  Result<Fd> mount(const std::string& folder, bool allow_other);
  // Serves what another process has mounted. EINVAL for what is no mount, EXDEV from another pid namespace.
  Result<void> serve(host::MountOffer offer);
  void end();

 private:
  struct Served {
    std::unique_ptr<fuse::Session> session;
    std::string folder;  // empty: not in this mount namespace
    std::string device;
  };
  void bury_ended();
  Result<void> add(Fd fuse, const fuse::SessionOptions& options, std::string folder, std::string device);

  domain::Domain& domain_;
  tracefs::Tree& tree_;
  Permissions permissions_;
  std::mutex mutex_;
  std::vector<Served> served_;

  // Takes away sessions that have ended when another one is added: who holds the domain, as serve()'s caller does,
  // may not.
  std::thread undertaker_;
  std::condition_variable added_;
  bool is_over_ = false;
};

// Mounts at `folder` for the calling process, which hands the descriptor on. Who may mount does so, for all users; others
// have fusermount3 do it, which has to be told so in its configuration before it lets them allow other users.
Result<Fd> mount_folder(const std::string& folder, bool allow_other);
// Takes away what is mounted at `folder`, if it is a mount of ours. EINVAL for anything else.
Result<void> unmount_folder(const std::string& folder);

}  // namespace landtrace::daemon
