#include "agent/code_bytes.hpp"

#include <linux/membarrier.h>

#include "agent/raw.hpp"

namespace landtrace::agent {
namespace {

constexpr std::uint64_t kPage = 4096;
using AnyWord [[gnu::aligned(1), gnu::may_alias]] = std::uint64_t;

}  // namespace

void synchronize_code() {
  constexpr long kSyncCore = MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE;
  if (raw(SYS_membarrier, kSyncCore, 0) == 0) return;
  raw(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_SYNC_CORE, 0);
  // Without it, that the pages' protection changes back interrupts all CPUs, too.
  raw(SYS_membarrier, kSyncCore, 0);
}

void store(std::uint64_t address, const std::uint8_t* bytes, std::size_t size) {
  std::uint64_t offset = address % 8;
  const bool is_aligned = offset + size <= 8;
  // Of 8 other bytes none is on a page on which there is none of those.
  if (!is_aligned) offset = (address + 7) / kPage == (address + size - 1) / kPage ? 0 : 8 - size;
  const std::uint64_t begin = address - offset;
  std::uint64_t next = *reinterpret_cast<const volatile AnyWord*>(begin);
  for (std::size_t i = 0; i < size; ++i) {
    const std::uint64_t shift = (offset + i) * 8;
    next = (next & ~(0xffull << shift)) | (std::uint64_t{bytes[i]} << shift);
  }
  if (is_aligned) {
    __atomic_store_n(reinterpret_cast<std::uint64_t*>(begin), next, __ATOMIC_RELEASE);  // pairs with synchronize_code()
  } else {
    *reinterpret_cast<volatile AnyWord*>(begin) = next;
  }
}

}  // namespace landtrace::agent
