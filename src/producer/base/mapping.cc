#include "base/mapping.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

namespace landtrace {

Mapping& Mapping::operator=(Mapping&& other) noexcept {
  if (this != &other) {
    reset();
    address_ = std::exchange(other.address_, nullptr);
    size_ = std::exchange(other.size_, 0);
  }
  return *this;
}

void Mapping::reset() {
  if (address_ != nullptr) ::munmap(address_, size_);
  address_ = nullptr;
  size_ = 0;
}

Result<Mapping> Mapping::map(int fd, std::size_t size, Access access) {
  const int protection = access == Access::kReadOnly ? PROT_READ : PROT_READ | PROT_WRITE;
  void* address = ::mmap(nullptr, size, protection, MAP_SHARED | MAP_NORESERVE, fd, 0);
  if (address == MAP_FAILED) return fail_errno("mmap of " + std::to_string(size) + " bytes");
  ::madvise(address, size, MADV_DONTDUMP);
  return Mapping(static_cast<std::byte*>(address), size);
}

Result<void> Mapping::map_in_place(int fd) {
  constexpr int kFlags = MAP_SHARED | MAP_NORESERVE | MAP_FIXED;
  if (::mmap(address_, size_, PROT_READ | PROT_WRITE, kFlags, fd, 0) == MAP_FAILED) return fail_errno("mmap in place");
  ::madvise(address_, size_, MADV_DONTDUMP);
  return {};
}

Result<Fd> create_memfd(const char* name, std::size_t size) {
  Fd fd(::memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd) return fail_errno("memfd_create");
  if (::ftruncate(fd.get(), static_cast<off_t>(size)) != 0) {
    // Memory is a file to this limit, too.
    const bool is_limited = errno == EFBIG;
    return fail_errno(is_limited ? "ftruncate of a memfd (a limit on the size of files: ulimit -f)"
                                 : "ftruncate of a memfd");
  }
  if (::fcntl(fd.get(), F_ADD_SEALS, F_SEAL_GROW | F_SEAL_SHRINK) != 0) return fail_errno("sealing a memfd");
  return fd;
}

Result<void> seal_seals(int fd) {
  if (::fcntl(fd, F_ADD_SEALS, F_SEAL_SEAL) != 0) return fail_errno("sealing a memfd");
  return {};
}

Result<void> seal_against_new_writers(int fd) {
  if (::fcntl(fd, F_ADD_SEALS, F_SEAL_FUTURE_WRITE | F_SEAL_SEAL) != 0) return fail_errno("sealing a memfd");
  return {};
}

Result<void> check_sealed_memfd(int fd, std::size_t size) {
  const int seals = ::fcntl(fd, F_GET_SEALS);
  if (seals < 0 || (seals & F_SEAL_SHRINK) == 0) return fail(EINVAL, "not a memfd sealed against shrinking");
  struct stat st {};
  if (::fstat(fd, &st) != 0) return fail_errno("fstat of a memfd");
  if (st.st_size < 0 || static_cast<std::size_t>(st.st_size) < size) {
    return fail(EINVAL,
                "memfd of " + std::to_string(st.st_size) + " bytes where " + std::to_string(size) + " are needed");
  }
  return {};
}

bool is_sealed_memfd(int fd, std::size_t size) {
  const int seals = ::fcntl(fd, F_GET_SEALS);
  struct stat st {};
  return seals >= 0 && (seals & F_SEAL_SHRINK) != 0 && ::fstat(fd, &st) == 0 && st.st_size >= 0 &&
         static_cast<std::size_t>(st.st_size) >= size;
}

}  // namespace landtrace
