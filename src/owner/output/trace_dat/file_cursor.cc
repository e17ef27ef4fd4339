#include "output/trace_dat/file_cursor.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>

namespace landtrace::output::trace_dat {
namespace {

// Far above any format file or command list; kallsyms, which can be larger, is never read.
constexpr std::uint64_t kMaxText = 64 * 1024 * 1024;
constexpr std::size_t kMaxName = 4096;

}  // namespace

Result<InputFile> InputFile::open(const std::string& path) {
  InputFile file;
  // A pipe is not waited for.
  file.fd_ = Fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file.fd_) return fail_errno("open " + path);
  struct stat status {};
  if (::fstat(file.fd_.get(), &status) != 0) return fail_errno("stat " + path);
  if (!S_ISREG(status.st_mode)) return fail(EINVAL, path + " is not a regular file");
  file.size_ = static_cast<std::uint64_t>(status.st_size);
  return file;
}

Result<void> InputFile::look_again() {
  struct stat status {};
  if (::fstat(fd_.get(), &status) != 0) return fail_errno("stat");
  size_ = static_cast<std::uint64_t>(status.st_size);
  return {};
}

Result<void> InputFile::read(std::uint64_t offset, std::span<std::byte> out, const char* what) const {
  while (!out.empty()) {
    const ssize_t n = offset >= size_ ? 0 : ::pread(fd_.get(), out.data(), out.size(), static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return fail_errno(fmt::format("read {} at {}", what, offset));
    if (n == 0) return fail(EBADMSG, fmt::format("the file ends at {}, within {}", offset, what));
    offset += static_cast<std::uint64_t>(n);
    out = out.subspan(static_cast<std::size_t>(n));
  }
  return {};
}

tl::unexpected<Error> FileCursor::bad(const std::string& message) const {
  return fail(EBADMSG, fmt::format("{} at offset {}", message, offset_));
}

Result<void> FileCursor::check_room(std::uint64_t size, const char* what) const {
  const std::uint64_t end = std::min(end_, file_->size());
  if (offset_ > end || size > end - offset_) {
    return bad(fmt::format("{} of {} bytes does not fit before {}", what, size, end));
  }
  return {};
}

Result<void> FileCursor::read(std::span<std::byte> out, const char* what) {
  LT_CHECK(check_room(out.size(), what));
  LT_CHECK(file_->read(offset_, out, what));
  offset_ += out.size();
  return {};
}

Result<void> FileCursor::skip(std::uint64_t size, const char* what) {
  LT_CHECK(check_room(size, what));
  offset_ += size;
  return {};
}

Result<std::string> FileCursor::text(std::uint64_t size, const char* what) {
  LT_CHECK(check_room(size, what));
  if (size > kMaxText) return bad(fmt::format("{} of {} bytes is too large", what, size));
  std::string out(size, '\0');
  LT_CHECK(read(std::as_writable_bytes(std::span(out)), what));
  return out;
}

Result<std::string> FileCursor::terminated(const char* what) {
  std::string out;
  while (out.size() < kMaxName) {
    LT_TRY(const char c, number<char>(what));
    if (c == '\0') return out;
    out += c;
  }
  return bad(fmt::format("{} has no end", what));
}

Result<void> FileCursor::expect(std::string_view bytes, const char* what) {
  const std::uint64_t start = offset_;
  LT_TRY(const std::string found, text(bytes.size(), what));
  if (found != bytes) return fail(EBADMSG, fmt::format("no {} at offset {}", what, start));
  return {};
}

}  // namespace landtrace::output::trace_dat
