// The file tree of a domain, by its socket: without a mount. One thread at a time.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.hpp"
#include "ipc/protocol.hpp"

namespace landtrace::ipc {

struct Answer;

class TreeClient {
 public:
  struct Entry {
    unsigned mode = 0;  // with the file's type, as of stat(2)
    std::string name;

    [[nodiscard]] bool is_folder() const { return (mode & 0170000) == 0040000; }
  };

  // ENOENT or ECONNREFUSED where no domain runs at `socket`.
  static Result<TreeClient> connect(const std::string& socket);
  // By a connection that is there.
  static TreeClient over(Fd socket);

  // Paths are from the tree's root. Errors are those that a mount would give, with a sentence where the owner has one;
  // EPIPE when the owner is gone.
  Result<Entry> stat(const std::string& path);
  Result<std::vector<Entry>> list(const std::string& path);
  Result<void> make_folder(const std::string& path);
  Result<void> remove_folder(const std::string& path);

  // One file is open at a time; another takes its place. Read and write go on where they were.
  Result<void> open(const std::string& path, int flags);
  // An open file may keep an instance from being removed.
  void close();
  // The next bytes; none at the end. EAGAIN: nothing now.
  Result<std::string> read();
  // All of `bytes`, in as many steps as the file takes them in. EPIPE where it takes none.
  Result<void> write(std::string_view bytes);
  // `bytes` as one write(): how many of them the file took. E2BIG for more than kMaxText.
  Result<std::size_t> write_once(std::string_view bytes);

  // When this connection ends, by the owner; the open file is closed. EOPNOTSUPP: the owner is an older one.
  Result<void> write_at_end(std::string_view bytes);
  void forget_at_end(std::string_view bytes);
  // When this connection ends, a folder goes. ENOENT: it is not there; an older owner answers EBADF or EOPNOTSUPP.
  Result<void> remove_folder_at_end(const std::string& path);

  // Where in its bytes the last write was wrong, if that is known.
  [[nodiscard]] std::optional<std::uint64_t> refused_at() const { return refused_at_; }

 private:
  explicit TreeClient(Fd socket) : socket_(std::move(socket)) {}
  Result<std::size_t> try_write(std::string_view bytes);
  Result<Answer> ask(Operation operation, std::string_view text = {}, std::uint64_t a = 0, std::uint64_t b = 0);

  Fd socket_;
  std::uint64_t position_ = 0;  // in the open file
  std::optional<std::uint64_t> refused_at_;
};

}  // namespace landtrace::ipc
