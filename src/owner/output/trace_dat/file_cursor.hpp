// Reads numbers and texts from a file that is not trusted: each read is checked against the end.
#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <string>

#include "base/fd.hpp"

namespace landtrace::output::trace_dat {

// Numbers are read as they stand; files of the other byte order are refused.
static_assert(std::endian::native == std::endian::little);

// An open file of known size. Read with pread, as a mapping would end in SIGBUS when somebody truncates the
// file.
class InputFile {
 public:
  static Result<InputFile> open(const std::string& path);

  [[nodiscard]] std::uint64_t size() const { return size_; }
  // Looks how large the file is by now.
  Result<void> look_again();
  [[nodiscard]] int fd() const { return fd_.get(); }
  // All of `out`, or EBADMSG: the file ends at … within `what`.
  Result<void> read(std::uint64_t offset, std::span<std::byte> out, const char* what) const;

 private:
  Fd fd_;
  std::uint64_t size_ = 0;
};

// A place in the file that moves on with each read, up to an end.
class FileCursor {
 public:
  FileCursor(const InputFile& file, std::uint64_t offset, std::uint64_t end)
      : file_(&file), offset_(offset), end_(end) {}

  // `what` is for the error: EBADMSG, "the file ends at OFFSET, within WHAT".
  template <typename T>
  Result<T> number(const char* what) {
    T value{};
    LT_CHECK(read(std::as_writable_bytes(std::span(&value, 1)), what));
    return value;
  }
  Result<std::string> text(std::uint64_t size, const char* what);
  // Up to a NUL, which is consumed but not returned.
  Result<std::string> terminated(const char* what);
  Result<void> expect(std::string_view bytes, const char* what);
  Result<void> skip(std::uint64_t size, const char* what);

  [[nodiscard]] std::uint64_t offset() const { return offset_; }
  // EBADMSG with the message and the offset.
  [[nodiscard]] tl::unexpected<Error> bad(const std::string& message) const;

 private:
  Result<void> check_room(std::uint64_t size, const char* what) const;
  Result<void> read(std::span<std::byte> out, const char* what);

  const InputFile* file_;
  std::uint64_t offset_;
  std::uint64_t end_;
};

}  // namespace landtrace::output::trace_dat
