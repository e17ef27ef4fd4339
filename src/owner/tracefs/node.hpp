// The parts of the virtual file tree: nodes, folders and files, without a mount. The FUSE adapter, the command line
// and the tests use them.
//
// The caller holds the domain (domain::Domain::enter()), unless a function says otherwise. Nodes are made when they
// are looked up, and hold only the name of what they show. That may be gone at the time of a call, which then returns
// ENODEV, as in the kernel.
#pragma once

#include <fcntl.h>
#include <poll.h>

#include <cerrno>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "programs/identity.hpp"

namespace landtrace::tracefs {

// Who makes a call. Ids are those of the owner's pid and user namespace.
struct Caller {
  std::uint32_t tid = 0;  // the calling thread; 0: not known
  programs::Identity who{};
  // Of a read(): whether its descriptor waits now (without O_NONBLOCK); nullopt: as it was opened.
  std::optional<bool> waits{};
};

// What can only be gone on with in a moment, when others had their turn.
inline constexpr int kNotYet = EINPROGRESS;

class Folder;
class File;

class Node {
 public:
  virtual ~Node() = default;
  // Permission bits, as tracefs has them: 0640, 0440, 0750, …
  [[nodiscard]] virtual unsigned mode() const = 0;
  // A node is either: one of them is not nullptr.
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

// A file between open and release. It has all that lasts from one read or write to the next.
class OpenFile {
 public:
  virtual ~OpenFile() = default;

  // Up to to.size() bytes; 0 is the end. EAGAIN: there is nothing now. The caller then waits until has_input() and
  // asks again, or returns EAGAIN for a descriptor with O_NONBLOCK. kNotYet: what is asked for is being made; the
  // caller waits until has_input(), with O_NONBLOCK, too. `offset` is the descriptor's position.
  virtual Result<std::size_t> read(const Caller& caller, std::span<char> to, std::uint64_t offset);
  // How many bytes were taken. That may be the first of several words only; the caller writes the rest again.
  virtual Result<std::size_t> write(const Caller& caller, std::string_view bytes, std::uint64_t offset);
  // Of a write() that took less, or nothing: whether that was only to give others their turn, and the rest is to follow
  // in a moment.
  [[nodiscard]] virtual bool takes_turns() const { return false; }
  // Returns the system call's result. ENOTTY.
  virtual Result<int> ioctl(const Caller& caller, unsigned command, std::uint64_t argument);
  // What poll() shows now: POLLIN, POLLOUT, POLLERR.
  [[nodiscard]] virtual short ready();
  // Whether a waiting read() should be tried again. It differs from ready() where poll() waits for more than a first
  // event (trace_pipe_raw).
  [[nodiscard]] virtual bool has_input() { return (ready() & (POLLIN | POLLERR | POLLHUP)) != 0; }
  // How often waiting readers were woken (ioctl(fd, 0) of trace_pipe_raw). A read() that began to wait before the
  // last time returns what there is, or the end.
  [[nodiscard]] virtual std::uint64_t wakes() const { return 0; }

  // Holds `held` until the file is closed.
  void keep(std::shared_ptr<const void> held) { held_ = std::move(held); }

 private:
  std::shared_ptr<const void> held_;
};

class File : public Node {
 public:
  File* file() final { return this; }

  // `flags` as of open(2); O_TRUNC has its effect here. kNotYet: that takes more than one turn, the caller is to open
  // it again in a moment.
  virtual Result<std::unique_ptr<OpenFile>> open(const Caller& caller, int flags) = 0;
  // What stat() shows; 0 for files whose text is made while it is read.
  [[nodiscard]] virtual std::uint64_t size() const { return 0; }
  // Of a file that can be mapped: its one page, which changes in place and lives as long as the domain. nullptr: it
  // cannot.
  [[nodiscard]] virtual const std::byte* page() const { return nullptr; }
  // Whether reads are whole pages addressed by offset, so that splice() can go through the page cache:
  // per_cpu/cpuN/trace_pipe_raw and snapshot_raw.
  [[nodiscard]] virtual bool is_paged() const { return false; }
  // Whether the file has no positions, and what is read is gone: trace_pipe.
  [[nodiscard]] virtual bool is_stream() const { return false; }
  // Whether write() is the data plane: the adapter hands writes to domain::Proxy, without holding the domain. open()
  // then returns an EventDataFile.
  [[nodiscard]] virtual bool is_event_data() const { return false; }
};

}  // namespace landtrace::tracefs
