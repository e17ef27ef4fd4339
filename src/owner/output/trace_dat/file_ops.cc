#include "output/trace_dat/file_ops.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <system_error>
#include <thread>

namespace landtrace::output::trace_dat {
namespace {

// A file that takes some time to remove.
constexpr off_t kLarge = 64 << 20;

off_t at(std::uint64_t offset) { return static_cast<off_t>(offset); }

// For file systems, or pairs of them, without copy_file_range.
Result<void> copy_by_hand(const NamedFile& from, std::uint64_t from_offset, const NamedFile& to,
                          std::uint64_t to_offset, std::uint64_t size) {
  std::byte buffer[64 * 1024];
  while (size > 0) {
    const ssize_t n = ::pread(from.fd.get(), buffer, std::min(size, sizeof buffer), at(from_offset));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return fail_errno("read " + from.path);
    if (n == 0) return fail(EIO, from.path + " became shorter while it was read");
    const auto count = static_cast<std::size_t>(n);
    LT_CHECK(write_at(to, to_offset, {buffer, count}));
    from_offset += count;
    to_offset += count;
    size -= count;
  }
  return {};
}

Result<void> copy_data(const NamedFile& from, std::uint64_t from_offset, const NamedFile& to, std::uint64_t to_offset,
                       std::uint64_t size) {
  while (size > 0) {
    off_t in = at(from_offset);
    off_t out = at(to_offset);
    const ssize_t n = ::copy_file_range(from.fd.get(), &in, to.fd.get(), &out, size, 0);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && (errno == ENOSPC || errno == EFBIG || errno == EDQUOT)) return fail_errno("write " + to.path);
    if (n <= 0) return copy_by_hand(from, from_offset, to, to_offset, size);
    from_offset += static_cast<std::uint64_t>(n);
    to_offset += static_cast<std::uint64_t>(n);
    size -= static_cast<std::uint64_t>(n);
  }
  return {};
}

// The first offset of data (SEEK_DATA) or of a hole (SEEK_HOLE) from `offset` on, at most `end`.
std::uint64_t seek(const NamedFile& file, std::uint64_t offset, std::uint64_t end, int whence) {
  const off_t found = ::lseek(file.fd.get(), at(offset), whence);
  if (found >= 0) return std::min(static_cast<std::uint64_t>(found), end);
  // ENXIO: no data up to the end of the file. Anything else: holes are not told apart, so all is data.
  const bool nothing = errno == ENXIO;
  return (whence == SEEK_DATA) == nothing ? end : offset;
}

}  // namespace

namespace {

Result<NamedFile> open_file(const std::string& path, int flags) {
  Fd fd(::open(path.c_str(), flags | O_RDWR | O_CLOEXEC, 0666));
  if (!fd) return fail_errno("open " + path);
  return NamedFile{std::move(fd), path};
}

tl::unexpected<Error> is_not_own(const std::string& path, const char* why) {
  return fail(EPERM, path + " " + why + ", and so no file of this recording");
}

}  // namespace

Result<NamedFile> open_own(const std::string& path, int flags) {
  auto file = open_file(path, flags | O_NOFOLLOW | O_NONBLOCK);
  if (!file && file.error().code == ELOOP) return is_not_own(path, "is a link");
  if (!file) return file;
  struct stat status {};
  if (::fstat(file->fd.get(), &status) != 0) return fail_errno("stat " + path);
  if (!S_ISREG(status.st_mode)) return is_not_own(path, "is no regular file");
  if (status.st_nlink > 1) return is_not_own(path, "has another name, too");
  return file;
}

Result<NamedFile> open_existing(const std::string& path) { return open_file(path, 0); }

Result<NamedFile> open_anew(const std::string& path) {
  ::unlink(path.c_str());
  return open_file(path, O_CREAT | O_EXCL);
}

bool is_at(int fd, const std::string& path) {
  struct stat opened {};
  struct stat named {};
  return ::fstat(fd, &opened) == 0 && ::stat(path.c_str(), &named) == 0 && opened.st_ino == named.st_ino &&
         opened.st_dev == named.st_dev;
}

void remove_own(const NamedFile& file) {
  if (file.fd && is_at(file.fd.get(), file.path)) ::unlink(file.path.c_str());
}

Result<void> write_at(const NamedFile& file, std::uint64_t offset, std::span<const std::byte> data) {
  while (!data.empty()) {
    const ssize_t n = ::pwrite(file.fd.get(), data.data(), data.size(), at(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return fail_errno("write " + file.path);
    offset += static_cast<std::uint64_t>(n);
    data = data.subspan(static_cast<std::size_t>(n));
  }
  return {};
}

Result<void> read_at(const NamedFile& file, std::uint64_t offset, std::span<std::byte> out) {
  while (!out.empty()) {
    const ssize_t n = ::pread(file.fd.get(), out.data(), out.size(), at(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return fail_errno("read " + file.path);
    if (n == 0) break;
    offset += static_cast<std::uint64_t>(n);
    out = out.subspan(static_cast<std::size_t>(n));
  }
  std::fill(out.begin(), out.end(), std::byte{0});
  return {};
}

Result<void> reserve(const NamedFile& file, std::uint64_t offset, std::uint64_t size) {
  while (::fallocate(file.fd.get(), 0, at(offset), at(size)) != 0) {
    if (errno == EINTR) continue;
    if (errno == EOPNOTSUPP || errno == ENOSYS) return {};
    return fail_errno("reserve room in " + file.path);
  }
  return {};
}

void punch_hole(const NamedFile& file, std::uint64_t offset, std::uint64_t size) {
  if (size == 0) return;
  std::ignore = ::fallocate(file.fd.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, at(offset), at(size));
}

Result<void> set_size(const NamedFile& file, std::uint64_t size) {
  if (::ftruncate(file.fd.get(), at(size)) != 0) return fail_errno("truncate " + file.path);
  return {};
}

Result<void> copy_bytes(const NamedFile& from, std::uint64_t from_offset, const NamedFile& to, std::uint64_t to_offset,
                        std::uint64_t size) {
  const std::uint64_t end = from_offset + size;
  std::uint64_t hole = from_offset;
  while (hole < end) {
    const std::uint64_t data = seek(from, hole, end, SEEK_DATA);
    // The target may hold reserved blocks here.
    punch_hole(to, to_offset + (hole - from_offset), data - hole);
    if (data == end) break;
    hole = seek(from, data, end, SEEK_HOLE);
    LT_CHECK(copy_data(from, data, to, to_offset + (data - from_offset), hole - data));
  }
  return {};
}

void remove_aside(const std::string& path) {
  Fd last(::open(path.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
  struct stat status {};
  const bool is_large = last && ::fstat(last.get(), &status) == 0 && status.st_size > kLarge;
  if (::unlink(path.c_str()) != 0 || !is_large) return;
  try {
    std::thread([last = std::move(last)] {}).detach();
  } catch (const std::system_error&) {  // here, then
  }
}

}  // namespace landtrace::output::trace_dat
