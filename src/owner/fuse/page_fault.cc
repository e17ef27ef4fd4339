#include "fuse/page_fault.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <string>
#include <string_view>

#include "base/fd.hpp"

namespace landtrace::fuse {

bool is_in_page_fault(std::uint32_t thread) {
  const Fd file(::open(("/proc/" + std::to_string(thread) + "/syscall").c_str(), O_RDONLY | O_CLOEXEC));
  std::array<char, 256> text{};
  if (!file || ::read(file.get(), text.data(), text.size() - 1) <= 0) return false;
  // "-1 SP PC": it waits, but not in a system call. Else the call's number is first, or "running".
  return std::string_view(text.data()).starts_with("-1 ");
}

}  // namespace landtrace::fuse
