#include "domain/task.hpp"

#include <cstdlib>
#include <string>

#include "base/fd.hpp"

namespace landtrace::domain {

std::uint32_t process_of(std::uint32_t tid) {
  const auto status = read_file("/proc/" + std::to_string(tid) + "/status", 4096);
  if (!status) return tid;
  const auto at = status->find("\nTgid:");
  return at == std::string::npos ? tid
                                 : static_cast<std::uint32_t>(std::strtoul(status->c_str() + at + 6, nullptr, 10));
}

}  // namespace landtrace::domain
