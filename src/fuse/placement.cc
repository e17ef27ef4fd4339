#include "fuse/placement.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <string>

#include "base/fd.hpp"

namespace landtrace::fuse {
namespace {

// The CPU that a thread has last run on: field 39 of its stat file; -1 if it is gone.
int cpu_of(std::uint32_t thread) {
  const Fd file(::open(("/proc/" + std::to_string(thread) + "/stat").c_str(), O_RDONLY | O_CLOEXEC));
  std::array<char, 1024> text{};
  if (!file || ::read(file.get(), text.data(), text.size() - 1) <= 0) return -1;
  // The second field is the name, in parentheses, with anything in it.
  const char* at = std::strrchr(text.data(), ')');
  constexpr int kFieldsFromName = 37;
  for (int i = 0; at != nullptr && i < kFieldsFromName; ++i) at = std::strchr(at + 1, ' ');
  return at == nullptr ? -1 : std::atoi(at + 1);
}

}  // namespace

Placement::Placement() {
  CPU_ZERO(&allowed_);
  ::sched_getaffinity(0, sizeof allowed_, &allowed_);
}

void Placement::follow(std::uint32_t client) {
  if (++served_ % kServedBetweenLooks != 0) return;
  const int cpu = cpu_of(client);
  if (cpu < 0 || cpu >= CPU_SETSIZE || !CPU_ISSET(cpu, &allowed_) || cpu == ::sched_getcpu()) return;
  cpu_set_t only;
  CPU_ZERO(&only);
  CPU_SET(cpu, &only);
  ::sched_setaffinity(0, sizeof only, &only);
}

void Placement::release(int thread) const { ::sched_setaffinity(thread, sizeof allowed_, &allowed_); }

}  // namespace landtrace::fuse
