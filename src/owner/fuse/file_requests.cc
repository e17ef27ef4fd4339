// Requests about files: opened, read, written, closed, asked by ioctl().
#include <array>
#include <chrono>
#include <thread>

#include "fuse/answer.hpp"
#include "fuse/mounted_tree.hpp"
#include "fuse/page_fault.hpp"
#include "fuse/wire.hpp"
#include "tracefs/event_data_file.hpp"

namespace landtrace::fuse {
namespace {

// Whoever waits for the domain has it before the thread that gave it up takes it again.
constexpr std::chrono::milliseconds kOthersTurn(1);

void let_others(MountedTree& tree) {
  tree.let_pass();
  std::this_thread::sleep_for(kOthersTurn);
}

struct Opened {
  Handle* handle;
  std::uint32_t flags;  // as OPEN answers them
};

// Files are read past the page cache, so that each read() reaches us. splice() and mappings use the page cache
// nevertheless.
std::uint32_t flags_for(tracefs::File& file, bool is_only_mapped) {
  // Kernels before 6.6 map no file that is read past the page cache.
  if (is_only_mapped) return 0;
  if (file.is_event_data()) {
    return wire::kDirectIo | wire::kNonSeekable | wire::kStream | wire::kParallelWrites;
  }
  if (file.is_stream()) return wire::kDirectIo | wire::kNonSeekable | wire::kStream;
  return wire::kDirectIo;
}

// A page that has no text as well can only be mapped.
bool has_no_text(tracefs::OpenFile& file, const tracefs::Caller& caller) {
  char byte = 0;
  const auto got = file.read(caller, {&byte, 1}, 0);
  return !got && got.error().code == EINVAL;
}

Result<Opened> open_file(MountedTree& tree, fuse_ino_t number, const tracefs::Caller& caller, int flags) {
  const auto access = tree.domain.enter();
  Inode* const inode = tree.inodes.find(number);
  if (inode == nullptr) return fail(ESTALE, "forgotten");
  tracefs::File* const file = inode->node->file();
  if (file == nullptr) return fail(EISDIR, "a folder");
  const std::byte* const page = file->page();
  if (page != nullptr && (flags & O_ACCMODE) == O_RDWR) {
    return fail(EPERM, "its mapping, which all programs share, could be written to");
  }
  LT_TRY(auto opened, file->open(caller, flags));
  Handle& handle = tree.handles.add();
  handle.file = std::move(opened);
  handle.page = page;
  handle.is_paged = file->is_paged();
  if (file->is_event_data()) handle.event_data = static_cast<tracefs::EventDataFile&>(*handle.file).id();
  return Opened{&handle, flags_for(*file, page != nullptr && has_no_text(*handle.file, caller))};
}

void close_handle(MountedTree& tree, Handle& handle) {
  const auto access = tree.domain.enter();
  tree.waiters.drop(handle);
  tree.handles.remove(handle);
}

void open(fuse_req_t request, fuse_ino_t number, fuse_file_info* info) {
  MountedTree& tree = tree_of(request);
  auto opened = open_file(tree, number, caller_of(request), info->flags);
  tree.courier.wait_for_pages();
  while (!opened && opened.error().code == tracefs::kNotYet) {
    let_others(tree);
    opened = open_file(tree, number, caller_of(request), info->flags);
  }
  if (!opened) return answer_error(request, opened.error());
  const wire::OpenAnswer answer{Handles::name(*opened->handle), opened->flags};
  if (fuse_reply_buf(request, reinterpret_cast<const char*>(&answer), sizeof answer) != 0) {
    close_handle(tree, *opened->handle);  // the caller is gone, so no RELEASE will come
  }
}

void release(fuse_req_t request, fuse_ino_t, fuse_file_info* info) {
  MountedTree& tree = tree_of(request);
  close_handle(tree, Handles::named(info->fh));
  tree.courier.wait_for_pages();
  fuse_reply_err(request, 0);
}

// A fault in a mapping, or splice() of a file without pages. Answered at once and without the domain: a program may
// have handed us memory that it has mapped from here. A thread of ours that holds the domain may be reading that
// memory, and waits for this answer.
void read_cached(fuse_req_t request, const Handle& handle, std::size_t size, std::size_t offset) {
  if (handle.page == nullptr) return answer_error(request, EINVAL);
  const std::size_t from = std::min(offset, kPageBytes);
  answer_data(request, handle.page + from, std::min(size, kPageBytes - from));
}

// Where the file's own pages begin. Some readers map the file first, to see whether it is the kernel's mapped ring
// buffer, whose first page describes it. It is not; but a FUSE server cannot refuse a mapping of one file and allow
// it for another. So to a reader that maps first the first page is empty and describes nothing, and the file's pages
// follow.
std::uint64_t first_page_of(Handle& handle, std::uint32_t thread, bool is_cached) {
  if (!handle.first_page) handle.first_page = is_cached && is_in_page_fault(thread) ? kPageBytes : 0;
  return *handle.first_page;
}

// A reader of the page cache holds the page's lock: it must not wait, as it could not even be killed. Texts are never
// read so.
bool is_waited_for(int error, bool is_cached, int flags) {
  return error == tracefs::kNotYet || (error == EAGAIN && !is_cached && (flags & O_NONBLOCK) == 0);
}

void read(fuse_req_t request, fuse_ino_t, std::size_t size, off_t at, fuse_file_info* info) {
  MountedTree& tree = tree_of(request);
  Handle& handle = Handles::named(info->fh);
  auto offset = static_cast<std::uint64_t>(at);
  const bool is_cached = info->lock_owner == 0;
  if (is_cached && !handle.is_paged) return read_cached(request, handle, size, offset);

  tracefs::Caller caller = caller_of(request);
  caller.waits = (info->flags & O_NONBLOCK) == 0;
  if (handle.is_paged) {
    const std::uint64_t first = first_page_of(handle, caller.tid, is_cached);
    static constexpr std::array<char, kPageBytes> kNothing{};
    if (offset < first) return answer_data(request, kNothing.data(), std::min(size, kPageBytes));
    offset -= first;
  }
  static thread_local std::vector<char> buffer;
  buffer.resize(std::max(buffer.size(), size));
  bool is_polled = false;
  const auto got = [&]() -> std::optional<Result<std::size_t>> {
    const auto access = tree.domain.enter();
    is_polled = handle.poll != nullptr;
    auto result = handle.file->read(caller, {buffer.data(), size}, offset);
    Waiters::has_read(handle);
    if (result || !is_waited_for(result.error().code, is_cached, info->flags)) return result;
    fuse_req_interrupt_func(
        request, [](fuse_req_t interrupted, void*) { tree_of(interrupted).courier.poke(); }, nullptr);
    tree.waiters.park(request, handle, caller, size, offset);
    return std::nullopt;
  }();
  if (!got || is_polled) tree.courier.poke();
  if (!got) return;  // parked: the courier answers it
  if (!*got) return answer_error(request, got->error());
  answer_data(request, buffer.data(), **got);
}

void write(fuse_req_t request, fuse_ino_t, const char* bytes, std::size_t size, off_t offset, fuse_file_info* info) {
  const Handle& handle = Handles::named(info->fh);
  const tracefs::Caller caller = caller_of(request);
  if (handle.event_data) {
    const iovec whole{const_cast<char*>(bytes), size};
    const ssize_t taken = this_thread_records_by->write(*handle.event_data, caller.tid, caller.who.uid, {&whole, 1});
    if (taken < 0) return answer_error(request, static_cast<int>(-taken));
    fuse_reply_write(request, static_cast<std::size_t>(taken));
    return;
  }
  MountedTree& tree = tree_of(request);
  std::size_t done = 0;
  bool has_turns = false;
  const auto write_more = [&] {
    const auto access = tree.domain.enter();
    auto taken = handle.file->write(caller, {bytes + done, size - done}, static_cast<std::uint64_t>(offset) + done);
    has_turns = handle.file->takes_turns();
    return taken;
  };
  for (;;) {
    const auto taken = write_more();
    tree.courier.wait_for_pages();
    if (!taken) return answer_error(request, taken.error());
    done += *taken;
    if (done == size || !has_turns) break;
    let_others(tree);
  }
  fuse_reply_write(request, done);
}

// FUSE has two kinds of ioctl. An unrestricted one may ask the kernel to copy any memory of the caller, but only CUSE
// may have them. Ours are restricted: the kernel copies what the command's number says, 8 bytes for a structure of
// any size. So the argument is used as an address only, the structure is read from the caller's memory (Errands), and
// the answer has no bytes: they would overwrite the caller's structure.
void ioctl(fuse_req_t request, fuse_ino_t, unsigned command, void* argument, fuse_file_info* info, unsigned flags,
           const void*, std::size_t, std::size_t) {
  // user_events has no compat_ioctl: programs of 32 bits never had these.
  if ((flags & (FUSE_IOCTL_COMPAT | FUSE_IOCTL_DIR)) != 0) return answer_error(request, ENOTTY);
  MountedTree& tree = tree_of(request);
  const Handle& handle = Handles::named(info->fh);
  const auto address = reinterpret_cast<std::uintptr_t>(argument);
  if (handle.event_data) {
    auto& file = static_cast<tracefs::EventDataFile&>(*handle.file);
    if (auto call = file.call(caller_of(request), command, address)) {
      if (const auto begun = call->begin(); !begun) return answer_error(request, begun.error());
      return tree.errands.send(request, *std::move(call));
    }
  }
  const auto answer = [&] {
    const auto access = tree.domain.enter();
    return handle.file->ioctl(caller_of(request), command, address);
  }();
  tree.courier.poke();  // the request may be the one that wakes waiting readers
  tree.courier.wait_for_pages();
  if (!answer) return answer_error(request, answer.error());
  fuse_reply_ioctl(request, *answer, nullptr, 0);
}

}  // namespace

void add_file_operations(fuse_lowlevel_ops& operations) {
  operations.open = open;
  operations.release = release;
  operations.read = read;
  operations.write = write;
  operations.ioctl = ioctl;
}

}  // namespace landtrace::fuse
