// The file tree of a domain that runs elsewhere, without a mount. One thread at a time.
#pragma once

#include <string>
#include <vector>

#include "base/fd.hpp"

namespace landtrace::consumer {

class RemoteTree {
 public:
  struct Entry {
    unsigned mode = 0;  // with the file's type, as of stat(2)
    std::string name;

    [[nodiscard]] bool is_folder() const { return (mode & 0170000) == 0040000; }
  };

  // ENOENT or ECONNREFUSED where no domain runs at `socket`.
  static Result<RemoteTree> connect(const std::string& socket);

  // Paths are from the tree's root. Errors are those that a mount would give.
  Result<Entry> stat(const std::string& path);
  Result<std::vector<Entry>> list(const std::string& path);
  Result<void> make_folder(const std::string& path);
  Result<void> remove_folder(const std::string& path);

  // One file is open at a time; another takes its place.
  Result<void> open(const std::string& path, int flags);
  // The next bytes; none at the end. EAGAIN: nothing now.
  Result<std::string> read();
  // All of `bytes`, in as many steps as the file takes them in. EPIPE where it takes none.
  Result<void> write(std::string_view bytes);

 private:
  explicit RemoteTree(Fd socket) : socket_(std::move(socket)) {}

  Fd socket_;
  std::uint64_t position_ = 0;
};

}  // namespace landtrace::consumer
