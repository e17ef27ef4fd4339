// The files of older ABIs by which a program sees whether anybody listens: user_events_status (6.0, 6.1: a page of bits
// to map, and text to read) and user_events_mmap (2021: a page of bytes). A descriptor of one is the owner's page,
// opened for reading, so that mmap() is the kernel's business; its text comes from the owner, read by read.
//
// The page is a file that the next owner goes on with, so what a program has mapped stays valid
// (domain/status_pages.hpp).
#pragma once

#include <cstddef>
#include <sys/types.h>

#include "preload/fd_table.hpp"

namespace landtrace::preload {

enum class StatusFile { kNone, kBits, kBytes };
// By the last part of the path, which must be readable.
StatusFile names_status_file(const char* path);

// The descriptor, or -1, kNoDomain or kUnreached as open_data_file().
int open_status_file(StatusFile file, int flags);

// How a descriptor's entry says that it is one; such an entry has no file of the domain.
inline constexpr std::uint16_t kStatusText = 4;  // as FdEntry::access
inline constexpr std::uint16_t kStatusNoText = 5;
inline bool is_status_file(FdEntry entry) { return entry.access == kStatusText || entry.access == kStatusNoText; }

// As read() and pread(); offset -1: from where the descriptor is, which moves on.
ssize_t read_status_file(int fd, FdEntry entry, void* buffer, std::size_t size, off_t offset = -1);

}  // namespace landtrace::preload
