#include <cerrno>
#include <cstring>

#include "bpf/helpers.hpp"

namespace landtrace::bpf::helpers {
namespace {

// Addresses of windows, and all else that is no address of a process.
bool is_kernels(std::uint64_t address) { return address >> 63 != 0; }

bool has_space_for(std::uint64_t size) { return size > 0 && size <= kWindowOffsetMask; }

std::uint64_t place_or_fault(Execution& run, const std::byte* place) {
  return place == nullptr ? run.stop(End::kFault) : reinterpret_cast<std::uint64_t>(place);
}

}  // namespace

std::uint64_t find_readable(Execution& run, std::uint64_t address, std::uint64_t size, std::uint64_t, std::uint64_t,
                            std::uint64_t) {
  return place_or_fault(run, run.readable(address, size));
}

std::uint64_t find_writable(Execution& run, std::uint64_t address, std::uint64_t size, std::uint64_t, std::uint64_t,
                            std::uint64_t) {
  return place_or_fault(run, run.writable(address, size));
}

std::uint64_t probe_read(Execution& run, std::uint64_t to, std::uint64_t size, std::uint64_t from, std::uint64_t,
                         std::uint64_t) {
  size = static_cast<std::uint32_t>(size);
  std::byte* const at = run.writable(to, size);
  if (at == nullptr) return run.stop(End::kFault);
  if (size == 0) return 0;
  if (!run.spend(size / 8)) return 0;
  if (is_kernels(from)) {
    if (const std::byte* const source = run.readable(from, size)) {
      std::memmove(at, source, size);
      return 0;
    }
  } else if (run.around.read_memory(from, at, size) == size) {
    return 0;
  }
  std::memset(at, 0, size);
  return answer(-EFAULT);
}

std::uint64_t probe_read_str(Execution& run, std::uint64_t to, std::uint64_t size, std::uint64_t from, std::uint64_t,
                             std::uint64_t) {
  size = static_cast<std::uint32_t>(size);
  std::byte* const at = run.writable(to, size);
  if (at == nullptr) return run.stop(End::kFault);
  if (!has_space_for(size) || !run.spend(size / 8)) return 0;
  std::size_t length = 0;
  bool found = false;
  if (is_kernels(from)) {
    for (; length < size; ++length) {
      const std::byte* const next = run.readable(from + length, 1);
      if (next == nullptr) break;
      at[length] = *next;
      found = true;
      if (at[length] == std::byte{0}) {
        ++length;
        break;
      }
    }
  } else {
    found = run.around.read_text(from, reinterpret_cast<char*>(at), size, length);
  }
  if (!found || length == 0) {
    std::memset(at, 0, size);
    return answer(-EFAULT);
  }
  if (at[length - 1] != std::byte{0}) {
    if (length < size) ++length;
    at[length - 1] = std::byte{0};
  }
  return length;
}

}  // namespace landtrace::bpf::helpers
