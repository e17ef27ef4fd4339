#include "agent/writable_pages.hpp"

#include <sys/mman.h>

#include <algorithm>

#include "agent/raw.hpp"

namespace landtrace::agent {
namespace {

constexpr std::uint64_t kPageSize = 4096;
// Pages that are no farther apart are made writable together: two calls cost more than the pages between.
constexpr std::uint64_t kTogether = 256 << 10;

}  // namespace

WritablePages::~WritablePages() {
  for (const Run& run : runs_) raw(SYS_mprotect, run.begin, run.end - run.begin, run.protection);
}

void WritablePages::add(std::uint64_t address) {
  add_page(address & ~(kPageSize - 1));
  add_page((address + kJumpSize - 1) & ~(kPageSize - 1));
}

void WritablePages::open() {
  std::erase_if(runs_, [](const Run& run) {
    return raw(SYS_mprotect, run.begin, run.end - run.begin, run.protection | PROT_WRITE) != 0;
  });
}

void WritablePages::add_page(std::uint64_t begin) {
  const Mapped* mapped = find(maps_, begin);
  if (mapped == nullptr) return;
  const std::uint64_t end = begin + kPageSize;
  if (!runs_.empty() && runs_.back().mapped == mapped && begin < runs_.back().end + kTogether) {
    runs_.back().end = std::max(runs_.back().end, end);
  } else {
    runs_.push_back({begin, end, mapped->protection, mapped});
  }
}

bool WritablePages::has(std::uint64_t address) const {
  return std::any_of(runs_.begin(), runs_.end(),
                     [address](const Run& run) { return address >= run.begin && address < run.end; });
}

void touch_for_writing(std::uint64_t address) {
  __atomic_fetch_or(reinterpret_cast<std::uint8_t*>(address), 0, __ATOMIC_RELAXED);
  __atomic_fetch_or(reinterpret_cast<std::uint8_t*>(address + kJumpSize - 1), 0, __ATOMIC_RELAXED);
}

}  // namespace landtrace::agent
