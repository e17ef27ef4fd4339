// Answers to requests.
#pragma once

#include <cerrno>
#include <cstddef>

#include "base/result.hpp"
#include "fuse/lowlevel.hpp"

namespace landtrace::fuse {

// Only what a program may see: anything else would reach it as it is, or mean something to the kernel.
inline void answer_error(fuse_req_t request, int code) {
  constexpr int kLastErrno = 133;
  fuse_reply_err(request, code > 0 && code <= kLastErrno ? code : EIO);
}
inline void answer_error(fuse_req_t request, const Error& error) { answer_error(request, error.code); }

inline void answer_data(fuse_req_t request, const void* data, std::size_t size) {
  fuse_reply_buf(request, static_cast<const char*>(data), size);
}

}  // namespace landtrace::fuse
