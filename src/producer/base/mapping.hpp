// Shared memory: a sealed, sparse memfd and mappings of it.
#pragma once

#include <cstddef>

#include "base/fd.hpp"
#include "base/result.hpp"

namespace landtrace {

// An owned mmap region.
class Mapping {
 public:
  enum class Access { kReadOnly, kReadWrite };

  Mapping() = default;
  Mapping(Mapping&& other) noexcept
      : address_(std::exchange(other.address_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  Mapping& operator=(Mapping&& other) noexcept;
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  ~Mapping() { reset(); }

  // Maps the first `size` bytes of `fd`, shared. The pages are kept out of core dumps.
  static Result<Mapping> map(int fd, std::size_t size, Access access);

  // Other shared memory of the same size takes the place of this, writable, at the same addresses.
  Result<void> map_in_place(int fd);

  [[nodiscard]] std::byte* data() const { return address_; }
  [[nodiscard]] std::size_t size() const { return size_; }
  explicit operator bool() const { return address_ != nullptr; }
  // Gives up ownership: the region stays mapped for the life of the process.
  std::byte* release() {
    size_ = 0;
    return std::exchange(address_, nullptr);
  }
  void reset();

 private:
  Mapping(std::byte* address, std::size_t size) : address_(address), size_(size) {}
  std::byte* address_ = nullptr;
  std::size_t size_ = 0;
};

// A memfd of fixed size (F_SEAL_GROW | F_SEAL_SHRINK). Untouched pages cost nothing.
Result<Fd> create_memfd(const char* name, std::size_t size);
// From here on nobody can seal it further: who may write to it could otherwise keep others from it.
Result<void> seal_seals(int fd);
// From here on nobody can map it writable any more; mappings that exist keep their access.
Result<void> seal_against_new_writers(int fd);
// Refuses (EINVAL) a descriptor that is not a memfd of at least `size` bytes that nobody can shrink:
// what comes over a socket is checked before it is mapped, so that a later SIGBUS is impossible.
Result<void> check_sealed_memfd(int fd, std::size_t size);
// The same without a sentence, and so without the heap.
bool is_sealed_memfd(int fd, std::size_t size);

}  // namespace landtrace
