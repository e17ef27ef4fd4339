#include "preload/claims.hpp"

#include <sys/mman.h>

namespace landtrace::preload {
namespace {

constexpr std::uint32_t kMaxClaims = 1u << 16;
constexpr std::uint32_t kTaken = 1;  // as Claim::magic, while it is filled in

ipc::Claim* claims = nullptr;  // mapped at the first word; untouched pages cost nothing
std::uint32_t high = 0;        // claims at and above this were never used

ipc::Claim* all_claims() {
  ipc::Claim* known = __atomic_load_n(&claims, __ATOMIC_ACQUIRE);
  if (known != nullptr) return known;
  constexpr std::size_t kBytes = kMaxClaims * sizeof(ipc::Claim);
  void* const fresh =
      ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (fresh == MAP_FAILED) return nullptr;
  if (__atomic_compare_exchange_n(&claims, &known, static_cast<ipc::Claim*>(fresh), false, __ATOMIC_ACQ_REL,
                                  __ATOMIC_ACQUIRE)) {
    return static_cast<ipc::Claim*>(fresh);
  }
  ::munmap(fresh, kBytes);  // another thread was faster
  return known;
}

ipc::Claim* take(ipc::Claim& claim) {
  std::uint32_t free = 0;
  const bool taken =
      __atomic_compare_exchange_n(&claim.magic, &free, kTaken, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
  return taken ? &claim : nullptr;
}

ipc::Claim* take_any(ipc::Claim* all) {
  if (const std::uint32_t fresh = __atomic_fetch_add(&high, 1, __ATOMIC_RELAXED); fresh < kMaxClaims) {
    return take(all[fresh]);
  }
  __atomic_store_n(&high, kMaxClaims, __ATOMIC_RELAXED);
  for (std::uint32_t i = 0; i < kMaxClaims; ++i) {
    if (all[i].magic == 0 && take(all[i]) != nullptr) return &all[i];
  }
  return nullptr;
}

std::uint32_t end() {
  const std::uint32_t used = __atomic_load_n(&high, __ATOMIC_RELAXED);
  return used < kMaxClaims ? used : kMaxClaims;
}

// One that was given up serves again, so that a program that registers and unregisters all day needs few.
ipc::Claim* last_given_up = nullptr;

}  // namespace

ipc::Claim* claim_word(std::uint64_t address, std::uint32_t bit) {
  ipc::Claim* const all = all_claims();
  if (all == nullptr) return nullptr;
  ipc::Claim* claim = __atomic_exchange_n(&last_given_up, nullptr, __ATOMIC_ACQ_REL);
  if (claim != nullptr) claim = take(*claim);
  if (claim == nullptr) claim = take_any(all);
  if (claim == nullptr) return nullptr;
  claim->address = address;
  claim->bit = bit;
  __atomic_store_n(&claim->magic, ipc::Claim::kMagic, __ATOMIC_RELEASE);
  return claim;
}

void give_up(ipc::Claim* claim) {
  if (claim == nullptr) return;
  __atomic_store_n(&claim->magic, 0, __ATOMIC_RELEASE);
  __atomic_store_n(&last_given_up, claim, __ATOMIC_RELEASE);
}

void give_up_word(std::uint64_t address, std::uint32_t bit) {
  ipc::Claim* const all = __atomic_load_n(&claims, __ATOMIC_ACQUIRE);
  if (all == nullptr) return;
  for (std::uint32_t i = 0; i < end(); ++i) {
    if (all[i].is_valid(address, bit)) give_up(&all[i]);
  }
}

}  // namespace landtrace::preload
