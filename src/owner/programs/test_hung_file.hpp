// A file whose reads (or closes) wait until the test answers them: what a hung FUSE mount does to those who read there.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/fuse.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <future>
#include <string>
#include <thread>
#include <tuple>

#include "base/fd.hpp"

namespace landtrace::programs {

class HungFile {
 public:
  // `waiting`: which requests wait, FUSE_READ or FUSE_FLUSH.
  explicit HungFile(std::uint32_t waiting = FUSE_READ)
      : waiting_(waiting), server_(::open("/dev/fuse", O_RDWR | O_CLOEXEC)) {
    char path[] = "/tmp/landtrace-hung-XXXXXX";
    const Fd below(::mkostemp(path, O_CLOEXEC));
    const std::string options = "rootmode=100000,user_id=0,group_id=0,fd=" + std::to_string(server_.get());
    if (server_ && ::mount("hung", path, "fuse", 0, options.c_str()) == 0) {
      thread_ = std::thread([this] { serve(); });
      file_ = Fd(::open(path, O_RDWR | O_CLOEXEC));
      ::umount2(path, MNT_DETACH);
    }
    ::unlink(path);
  }
  ~HungFile() {
    if (!answered_) answer_with('\0');
    file_.reset();  // with its last user the mount ends, and so does the thread
    if (thread_.joinable()) thread_.join();
  }
  HungFile(const HungFile&) = delete;
  HungFile& operator=(const HungFile&) = delete;

  // False where the system does not let us mount.
  [[nodiscard]] bool is_there() const { return static_cast<bool>(file_); }
  // The file is where the descriptor leads from here on.
  void put_in_place_of(const Fd& descriptor) const { EXPECT_GE(::dup3(file_.get(), descriptor.get(), O_CLOEXEC), 0); }
  // The reads that wait, and those to come, find this byte everywhere.
  void answer_with(char byte = 0) {
    byte_ = byte;
    answered_ = true;
    answer_.set_value();
  }
  [[nodiscard]] int reads() const { return reads_; }
  [[nodiscard]] int writes() const { return writes_; }
  [[nodiscard]] int closes() const { return closes_; }

 private:
  void reply(const fuse_in_header& request, const void* body, std::size_t size) const {
    EXPECT_TRUE(try_to_reply(request, body, size));
  }
  bool try_to_reply(const fuse_in_header& request, const void* body, std::size_t size) const {
    char bytes[256];
    const fuse_out_header header{static_cast<std::uint32_t>(sizeof header + size), 0, request.unique};
    std::memcpy(bytes, &header, sizeof header);
    if (size > 0) std::memcpy(bytes + sizeof header, body, size);
    return ::write(server_.get(), bytes, header.len) == static_cast<ssize_t>(header.len);
  }

  void wait_for_answer(const fuse_in_header& request) const {
    if (request.opcode == waiting_) wait_.wait();
  }

  void serve() {
    alignas(8) char bytes[1 << 17];
    // Until ENODEV. A request that was interrupted before it was read is ENOENT.
    for (ssize_t n; (n = ::read(server_.get(), bytes, sizeof bytes)) > 0 || errno != ENODEV;) {
      if (n < 0) continue;
      fuse_in_header request;
      std::memcpy(&request, bytes, sizeof request);
      switch (request.opcode) {
        case FUSE_INIT: {
          fuse_init_out out{};
          out.major = FUSE_KERNEL_VERSION;
          out.minor = 31;
          out.max_write = 4096;
          reply(request, &out, sizeof out);
          break;
        }
        case FUSE_GETATTR: {
          fuse_attr_out out{};
          out.attr.ino = FUSE_ROOT_ID;
          out.attr.mode = S_IFREG | 0600;
          out.attr.nlink = 1;
          reply(request, &out, sizeof out);
          break;
        }
        case FUSE_OPEN: {
          fuse_open_out out{};
          out.open_flags = FOPEN_DIRECT_IO;
          reply(request, &out, sizeof out);
          break;
        }
        case FUSE_READ:
          ++reads_;
          wait_for_answer(request);
          reply(request, &byte_, 1);
          break;
        case FUSE_WRITE: {
          ++writes_;
          const fuse_write_out out{1, 0};
          reply(request, &out, sizeof out);
          break;
        }
        case FUSE_FLUSH:
          ++closes_;
          wait_for_answer(request);
          reply(request, nullptr, 0);
          break;
        case FUSE_RELEASE:
        case FUSE_DESTROY:
          // Nobody waits for that: the mount may have ended before it is answered.
          std::ignore = try_to_reply(request, nullptr, 0);
          break;
        default:  // what need not be answered
          break;
      }
    }
  }

  std::uint32_t waiting_;
  Fd server_, file_;
  std::thread thread_;
  std::promise<void> answer_;
  std::future<void> wait_ = answer_.get_future();
  char byte_ = 0;
  bool answered_ = false;
  std::atomic<int> reads_ = 0, writes_ = 0, closes_ = 0;
};

}  // namespace landtrace::programs
