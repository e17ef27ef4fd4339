// Code that can be run in a test: pages that cannot be written to, between pages that nobody can touch.
#pragma once

#include <sys/mman.h>

#include <cstring>
#include <span>
#include <stdexcept>

#include "bpf_code/compile.hpp"

namespace landtrace::bpf_code {

class TestCodeArea {
 public:
  TestCodeArea() {
    whole_ = static_cast<std::byte*>(
        ::mmap(nullptr, kBytes + 2 * kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    if (whole_ == MAP_FAILED) throw std::runtime_error("no memory for code");
  }
  ~TestCodeArea() { ::munmap(whole_, kBytes + 2 * kPage); }
  TestCodeArea(const TestCodeArea&) = delete;
  TestCodeArea& operator=(const TestCodeArea&) = delete;

  void put(std::span<const std::byte> code) const {
    if (code.size() > kBytes - kAt) throw std::runtime_error("too much code");
    ::mprotect(begin(), kBytes, PROT_READ | PROT_WRITE);
    std::memcpy(begin() + kAt, code.data(), code.size());
    ::mprotect(begin(), kBytes, PROT_READ | PROT_EXEC);
  }
  [[nodiscard]] std::byte* begin() const { return whole_ + kPage; }

  static constexpr std::uint32_t kAt = 64;

 private:
  static constexpr std::size_t kPage = 4096;
  static constexpr std::size_t kBytes = 1 << 20;
  std::byte* whole_;
};

// A payload whose last byte is the last of a page; behind it is nobody's.
class TestPayload {
 public:
  TestPayload()
      : pages_(static_cast<char*>(
            ::mmap(nullptr, 2 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))) {
    ::mprotect(pages_ + kPage, kPage, PROT_NONE);
  }
  ~TestPayload() { ::munmap(pages_, 2 * kPage); }
  TestPayload(const TestPayload&) = delete;
  TestPayload& operator=(const TestPayload&) = delete;

  [[nodiscard]] std::span<char> last(std::size_t size) const { return {pages_ + kPage - size, size}; }

 private:
  static constexpr std::size_t kPage = 4096;
  char* pages_;
};

}  // namespace landtrace::bpf_code
