// Positioned file operations that the writer needs; errors name the file.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "base/fd.hpp"

namespace landtrace::output::trace_dat {

// An open file and its name, for messages.
struct NamedFile {
  Fd fd;
  std::string path;
};

// Opens for reading and writing what is a recording's own, or is to be; keeps what is there. `flags`: O_CREAT, with the
// umask's mode, and O_EXCL. EPERM: it is a link, has another name, too, or is no regular file. Whoever may write in the
// folder, or could once, can have put it there.
Result<NamedFile> open_own(const std::string& path, int flags = 0);
// A new one; what was there goes. Not the same file made empty: ext4 writes out all of such a file when it is closed, a
// second for 1.5 GB.
Result<NamedFile> open_anew(const std::string& path);

// For reading and writing, too, and through a link; ENOENT where there is none.
Result<NamedFile> open_existing(const std::string& path);

// How often a file is opened that others may replace meanwhile.
inline constexpr int kMostTries = 10;
// False: another file has the name by now, or none.
bool is_at(int fd, const std::string& path);

// Unlinks the file, if it has its name still.
void remove_own(const NamedFile& file);

// All of it, at `offset`, through short writes and EINTR.
Result<void> write_at(const NamedFile& file, std::uint64_t offset, std::span<const std::byte> data);

// What is there of it; the rest of `out`, beyond the end of the file, becomes zeros.
Result<void> read_at(const NamedFile& file, std::uint64_t offset, std::span<std::byte> out);

// Reserves disk blocks for [offset, offset + size). On a file system that cannot it does nothing and succeeds.
Result<void> reserve(const NamedFile& file, std::uint64_t offset, std::uint64_t size);

// Gives the disk blocks of [offset, offset + size) back; it reads as zeros then. Best effort: where the file
// system cannot, the bytes only cost room.
void punch_hole(const NamedFile& file, std::uint64_t offset, std::uint64_t size);

Result<void> set_size(const NamedFile& file, std::uint64_t size);

// Copies [from_offset, from_offset + size) to the other file. Holes stay holes.
Result<void> copy_bytes(const NamedFile& from, std::uint64_t from_offset, const NamedFile& to, std::uint64_t to_offset,
                        std::uint64_t size);

// Unlinks the file, if it is there. The blocks of a large one, which may take a second, are given back in a
// thread of its own.
void remove_aside(const std::string& path);

}  // namespace landtrace::output::trace_dat
