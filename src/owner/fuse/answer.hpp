// Answers to requests.
#pragma once

#include <cerrno>
#include <cstddef>

#include "base/result.hpp"
#include "fuse/lowlevel.hpp"

namespace landtrace::fuse {

// Only errno values: the kernel hands other codes to the program as they are, or takes them for something else.
inline void answer_error(fuse_req_t request, int code) {
  constexpr int kLastErrno = 133;
  fuse_reply_err(request, code > 0 && code <= kLastErrno ? code : EIO);
}
inline void answer_error(fuse_req_t request, const Error& error) { answer_error(request, error.code); }

inline void answer_data(fuse_req_t request, const void* data, std::size_t size) {
  fuse_reply_buf(request, static_cast<const char*>(data), size);
}

}  // namespace landtrace::fuse
