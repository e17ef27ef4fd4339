#include "agent/reference_counter.hpp"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "agent/raw.hpp"

namespace landtrace::agent {
namespace {

using Counter = std::uint16_t;
constexpr Counter kHighest = 0xffff;

bool is_whole(std::uint64_t address) { return address != 0 && address % sizeof(Counter) == 0; }

// It may be gone since it was looked at.
bool is_mapped(std::uint64_t address) {
  Counter value = 0;
  iovec here = {&value, sizeof value};
  iovec there = {reinterpret_cast<void*>(address), sizeof value};
  const long got = raw(SYS_process_vm_readv, raw(SYS_gettid), raw_address(&here), 1, raw_address(&there), 1, 0);
  constexpr long kBadAddress = -14;
  return got != kBadAddress && got != 0;
}

// False where it would leave its range.
bool add(std::uint64_t address, int step) {
  auto* const counter = reinterpret_cast<Counter*>(address);
  Counter now = __atomic_load_n(counter, __ATOMIC_RELAXED);
  do {
    if (now == (step > 0 ? kHighest : 0)) return false;
  } while (!__atomic_compare_exchange_n(counter, &now, static_cast<Counter>(now + step), true, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED));
  return true;
}

}  // namespace

bool raise_counter(const std::vector<Mapped>& maps, std::uint64_t address) {
  if (!is_whole(address)) return false;
  const Mapped* const mapped = find(maps, address);
  const bool can_be_written = mapped != nullptr && (mapped->protection & PROT_WRITE) != 0;
  return can_be_written && is_mapped(address) && add(address, 1);
}

void lower_counter(std::uint64_t address) {
  if (is_whole(address) && is_mapped(address)) add(address, -1);
}

}  // namespace landtrace::agent
