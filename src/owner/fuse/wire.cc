#include "fuse/wire.hpp"

#include <linux/fuse.h>

#include <algorithm>
#include <cstring>

namespace landtrace::fuse::wire {
namespace {

// FUSE_DIRECT_IO_ALLOW_MMAP (Linux 6.6), of the upper 32 flags.
constexpr std::uint32_t kAllowMmapInFlags2 = 1u << 4;

template <typename T>
T body_of(std::span<const std::byte> bytes) {
  T body{};
  if (bytes.size() > sizeof(fuse_in_header)) {
    std::memcpy(&body, bytes.data() + sizeof(fuse_in_header),
                std::min(sizeof body, bytes.size() - sizeof(fuse_in_header)));
  }
  return body;
}

}  // namespace

Request parse(std::span<const std::byte> bytes) {
  Request request;
  fuse_in_header header{};
  if (bytes.size() < sizeof header) return request;
  std::memcpy(&header, bytes.data(), sizeof header);
  request.opcode = header.opcode;
  request.unique = header.unique;
  request.thread = header.pid;
  if (header.opcode == FUSE_READ) {
    const auto read = body_of<fuse_read_in>(bytes);
    request.file = read.fh;
    request.is_cached_read = (read.read_flags & FUSE_READ_LOCKOWNER) == 0;
  } else if (header.opcode == FUSE_WRITE) {
    request.file = body_of<fuse_write_in>(bytes).fh;
  } else if (header.opcode == FUSE_INIT) {
    const auto init = body_of<fuse_init_in>(bytes);
    request.may_map_direct_io = (init.flags & FUSE_INIT_EXT) != 0 && (init.flags2 & kAllowMmapInFlags2) != 0;
  }
  return request;
}

bool is_init(const Request& request) { return request.opcode == FUSE_INIT; }
bool is_read(const Request& request) { return request.opcode == FUSE_READ; }
bool is_write(const Request& request) { return request.opcode == FUSE_WRITE; }
bool is_interrupt(const Request& request) { return request.opcode == FUSE_INTERRUPT; }

bool answers(std::span<const std::byte> answer, std::uint64_t unique) {
  fuse_out_header header{};
  if (answer.size() < sizeof header) return false;
  std::memcpy(&header, answer.data(), sizeof header);
  return header.unique == unique;
}

void allow_mapping_direct_io(std::span<std::byte> init_answer) {
  fuse_init_out answer;
  if (init_answer.size() < sizeof(fuse_out_header) + sizeof answer) return;
  std::byte* const at = init_answer.data() + sizeof(fuse_out_header);
  std::memcpy(&answer, at, sizeof answer);
  answer.flags |= FUSE_INIT_EXT;
  answer.flags2 |= kAllowMmapInFlags2;
  std::memcpy(at, &answer, sizeof answer);
}

}  // namespace landtrace::fuse::wire
