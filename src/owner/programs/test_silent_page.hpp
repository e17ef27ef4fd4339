// A page that its program handles itself, and takes its time for.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>

#include "base/fd.hpp"

namespace landtrace::programs {

// Memory of this process that answers when it is told to.
class SilentPage {
 public:
  SilentPage() : uffd_(static_cast<int>(::syscall(SYS_userfaultfd, O_CLOEXEC))) {
    if (!uffd_) return;
    uffdio_api api{.api = UFFD_API, .features = 0, .ioctls = 0};
    uffdio_register range{.range = {address(), kSize}, .mode = UFFDIO_REGISTER_MODE_MISSING, .ioctls = 0};
    EXPECT_EQ(::ioctl(uffd_.get(), UFFDIO_API, &api), 0);
    EXPECT_EQ(::ioctl(uffd_.get(), UFFDIO_REGISTER, &range), 0);
  }
  ~SilentPage() { ::munmap(page_, kSize); }
  SilentPage(const SilentPage&) = delete;
  SilentPage& operator=(const SilentPage&) = delete;

  [[nodiscard]] bool is_there() const { return static_cast<bool>(uffd_); }
  [[nodiscard]] const void* data() const { return page_; }
  [[nodiscard]] std::uint64_t address() const { return reinterpret_cast<std::uint64_t>(page_); }
  // Whether somebody has touched the page since wait_until_touched() returned.
  [[nodiscard]] bool is_touched() const {
    uffd_msg message{};
    ::fcntl(uffd_.get(), F_SETFL, O_NONBLOCK);
    const ssize_t n = ::read(uffd_.get(), &message, sizeof message);
    ::fcntl(uffd_.get(), F_SETFL, 0);
    return n > 0;
  }
  void wait_until_touched() const {
    uffd_msg message{};
    EXPECT_EQ(::read(uffd_.get(), &message, sizeof message), static_cast<ssize_t>(sizeof message));
  }
  void answer_with(const void* bytes, std::size_t size) const {
    alignas(kSize) char page[kSize] = {};
    std::memcpy(page, bytes, size);
    uffdio_copy copy{
        .dst = address(), .src = reinterpret_cast<std::uint64_t>(page), .len = kSize, .mode = 0, .copy = 0};
    EXPECT_EQ(::ioctl(uffd_.get(), UFFDIO_COPY, &copy), 0);
  }

 private:
  static constexpr std::size_t kSize = 4096;
  void* page_ = ::mmap(nullptr, kSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  Fd uffd_;
};

}  // namespace landtrace::programs
