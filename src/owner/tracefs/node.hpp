// What the virtual file tree is made of: nodes, folders and files; no mount here. The FUSE adapter, the command line and the
// tests all use these.
//
// Whoever calls into a node holds the domain (domain::Domain::enter()), unless a function says otherwise. Nodes are
// made when they are looked up, and hold no more than what names the thing that they show; what they show may
// be gone by the time of a call, which then answers ENODEV, as the kernel does.
#pragma once

#include <fcntl.h>
#include <poll.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "programs/identity.hpp"

namespace landtrace::tracefs {

// Who asks, in the owner's terms: ids of its own pid and user namespace.
struct Caller {
  std::uint32_t tid = 0;  // the calling thread; 0: not known
  programs::Identity who{};
};

class Folder;
class File;

class Node {
 public:
  virtual ~Node() = default;
  // Permission bits, as tracefs has them: 0640, 0440, 0750, …
  [[nodiscard]] virtual unsigned mode() const = 0;
  // What the node is: one of them is not nullptr.
  virtual Folder* folder() { return nullptr; }
  virtual File* file() { return nullptr; }
};

class Folder : public Node {
 public:
  struct Entry {
    std::string name;
    bool is_folder = false;
  };

  [[nodiscard]] unsigned mode() const override { return 0750; }
  Folder* folder() final { return this; }

  virtual Result<std::vector<Entry>> list() = 0;
  // ENOENT.
  virtual Result<std::shared_ptr<Node>> find(std::string_view name) = 0;
  virtual Result<void> make_folder(std::string_view name, const Caller& caller);
  virtual Result<void> remove_folder(std::string_view name, const Caller& caller);
};

// A file between open and release. Everything that a reader or writer is in the middle of lives here.
class OpenFile {
 public:
  virtual ~OpenFile() = default;

  // Up to to.size() bytes; 0 is the end. EAGAIN where there is nothing now: the caller waits until ready() has POLLIN
  // and asks again, or hands EAGAIN out for a descriptor with O_NONBLOCK. `offset` is the descriptor's position.
  virtual Result<std::size_t> read(const Caller& caller, std::span<char> to, std::uint64_t offset);
  // How many bytes were taken; a caller that wrote several words may have to come back with the rest.
  virtual Result<std::size_t> write(const Caller& caller, std::string_view bytes, std::uint64_t offset);
  // What came back is the system call's result. ENOTTY.
  virtual Result<int> ioctl(const Caller& caller, unsigned command, std::uint64_t argument);
  // What poll() finds now: POLLIN, POLLOUT, POLLERR.
  [[nodiscard]] virtual short ready();
  // Whether a read() that waits is to be asked again. Files whose poll() wants more than that differ (trace_pipe_raw).
  [[nodiscard]] virtual bool has_input() { return (ready() & (POLLIN | POLLERR | POLLHUP)) != 0; }
  // How often those who wait were woken (ioctl(fd, 0) of trace_pipe_raw): a read() that has waited since it was less gets
  // what there is, or else the end.
  [[nodiscard]] virtual std::uint64_t wakes() const { return 0; }

  // Something that is let go when the file is closed.
  void keep(std::shared_ptr<const void> held) { held_ = std::move(held); }

 private:
  std::shared_ptr<const void> held_;
};

class File : public Node {
 public:
  File* file() final { return this; }

  // `flags` as of open(2); O_TRUNC has its effect here.
  virtual Result<std::unique_ptr<OpenFile>> open(const Caller& caller, int flags) = 0;
  // What stat() says; 0 for files that are made up as they are read.
  [[nodiscard]] virtual std::uint64_t size() const { return 0; }
  // A file that can be mapped: its one page, which changes in place and lives as long as the domain. nullptr: none.
  [[nodiscard]] virtual const std::byte* page() const { return nullptr; }
  // A file whose reads are whole pages addressed by offset, so that splice() can go through the page cache:
  // per_cpu/cpuN/trace_pipe_raw and snapshot_raw.
  [[nodiscard]] virtual bool is_paged() const { return false; }
  // A file without positions, whose reads take what they give: trace_pipe.
  [[nodiscard]] virtual bool is_stream() const { return false; }
  // A file whose write() is the data plane: the adapter hands it to domain::Proxy without holding the domain.
  // What it opens is an EventDataFile.
  [[nodiscard]] virtual bool is_event_data() const { return false; }
};

}  // namespace landtrace::tracefs
