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
  // The group that the files show, and below their owner: ids of the mounter's namespace.
  std::uint32_t gid = 0;
  using IdRange = fuse::IdRange;
  // Ids in requests -> ours; empty: the same.
  std::vector<IdRange> uids, gids;
  std::uint32_t uid = 0;
  // Permissions of the top folder; nullopt: those of the tree.
  std::optional<unsigned> root_mode;
};

class Session {
 public:
  // Serves the tree on `fuse`, an open and mounted /dev/fuse, from threads of its own until it is unmounted or this
  // object goes. Files that programs have open then say ENOTCONN. The domain must outlive the session, and the caller
  // of the destructor must not hold it.
  static Result<std::unique_ptr<Session>> serve(domain::Domain& domain, std::shared_ptr<tracefs::Folder> root, Fd fuse,
                                                const SessionOptions& options);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // Whether it was unmounted, by anybody. What programs had open is closed then.
  [[nodiscard]] bool has_ended() const;
  // The bytes [offset, offset + size) of a File::page() have changed, and every mapping of the file has to show them.
  // The caller holds the domain. A request that caused the change is answered after it has arrived. For the domain's
  // own status pages the session does this itself.
  void page_changed(const std::byte* page, std::size_t offset, std::size_t size);

 private:
  class Connection;
  explicit Session(std::unique_ptr<Connection> connection);
  std::unique_ptr<Connection> connection_;
};

}  // namespace landtrace::fuse
