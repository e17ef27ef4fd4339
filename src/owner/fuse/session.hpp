// Serves a tree to the kernel: everything that is done with the files below a mount point.
#pragma once

#include <memory>
#include <optional>

#include "base/fd.hpp"
#include "domain/domain.hpp"
#include "fuse/ids.hpp"
#include "tracefs/node.hpp"

namespace landtrace::fuse {

struct SessionOptions {
  std::uint32_t gid = 0;  // group and owner that the files show, as the mounter's namespace has them
  using IdRange = fuse::IdRange;
  std::vector<IdRange> uids, gids;  // ids in requests -> ours; empty: the same
  std::uint32_t uid = 0;
  std::optional<unsigned> root_mode;  // permissions of the top folder; nullopt: as the tree has it
};

class Session {
 public:
  // Serves the tree on an open, mounted /dev/fuse descriptor from threads of its own until it is unmounted or this object
  // goes. Programs that have files open then get ENOTCONN from them. The domain outlives the session; nobody who holds
  // it may destroy one.
  static Result<std::unique_ptr<Session>> serve(domain::Domain& domain, std::shared_ptr<tracefs::Folder> root, Fd fuse,
                                                const SessionOptions& options);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // Unmounted, by whomever. What programs had open has been closed.
  [[nodiscard]] bool has_ended() const;
  // The bytes [offset, offset + size) of what File::page() gave have changed: every mapping of the file is to show them.
  // For whoever holds the domain. It has happened by the time a request is answered that caused it. The domain's own status
  // pages are seen to without this.
  void page_changed(const std::byte* page, std::size_t offset, std::size_t size);

 private:
  class Connection;
  explicit Session(std::unique_ptr<Connection> connection);
  std::unique_ptr<Connection> connection_;
};

}  // namespace landtrace::fuse
