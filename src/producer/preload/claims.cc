#include "preload/claims.hpp"

#include <sys/mman.h>

// Claims are taken and given up by any thread of the process, without a lock.
//
//   Claim::magic    0 --take()--> kTaken --filled in--> Claim::kMagic --give_up()--> 0
//
// Whoever swaps a claim's magic from 0 to kTaken has it alone until it is kMagic. The owner, or the next one, reads
// claims out of the process's memory whenever it likes, and believes only what has kMagic (ipc/claim.hpp).
namespace landtrace::preload {
namespace {

constexpr std::uint32_t kMaxClaims = 1u << 16;
constexpr std::uint32_t kTaken = 1;  // as Claim::magic, while it is filled in

// Mapped at the first word; untouched pages cost nothing.
ipc::Claim* claims = nullptr;
// Claims at and above this were never used.
std::uint32_t high = 0;

ipc::Claim* all_claims() {
  // Pairs with the swap below, in another thread. The table is fresh from the system, so there is nothing in it to wait
  // for.
  ipc::Claim* known = __atomic_load_n(&claims, __ATOMIC_ACQUIRE);
  if (known != nullptr) return known;
  constexpr std::size_t kBytes = kMaxClaims * sizeof(ipc::Claim);
  void* const fresh =
      ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (fresh == MAP_FAILED) return nullptr;
  // Pairs with the acquire loads of `claims`, above and in give_up_word().
  if (__atomic_compare_exchange_n(&claims, &known, static_cast<ipc::Claim*>(fresh), false, __ATOMIC_ACQ_REL,
                                  __ATOMIC_ACQUIRE)) {
    return static_cast<ipc::Claim*>(fresh);
  }
  ::munmap(fresh, kBytes);  // another thread was faster
  return known;
}

ipc::Claim* take(ipc::Claim& claim) {
  std::uint32_t free = 0;
  // Pairs with the release store in give_up(): whoever had the claim is done with it.
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

// The last one that was given up serves again, so that a program that registers and unregisters all day needs few.
ipc::Claim* last_given_up = nullptr;

}  // namespace

ipc::Claim* claim_word(std::uint64_t address, std::uint32_t bit) {
  ipc::Claim* const all = all_claims();
  if (all == nullptr) return nullptr;
  // Pairs with the release store in give_up(). Whether it is free, take() finds out.
  ipc::Claim* claim = __atomic_exchange_n(&last_given_up, nullptr, __ATOMIC_ACQ_REL);
  if (claim != nullptr) claim = take(*claim);
  if (claim == nullptr) claim = take_any(all);
  if (claim == nullptr) return nullptr;
  claim->address = address;
  claim->bit = bit;
  // Address and bit, then the magic: pairs with the owner's read of this process's memory, which the kernel makes.
  __atomic_store_n(&claim->magic, ipc::Claim::kMagic, __ATOMIC_RELEASE);
  return claim;
}

void give_up(ipc::Claim* claim) {
  if (claim == nullptr) return;
  // Pairs with the swap in take().
  __atomic_store_n(&claim->magic, 0, __ATOMIC_RELEASE);
  // Pairs with the exchange in claim_word().
  __atomic_store_n(&last_given_up, claim, __ATOMIC_RELEASE);
}

void give_up_word(std::uint64_t address, std::uint32_t bit) {
  // Pairs with the swap in all_claims().
  ipc::Claim* const all = __atomic_load_n(&claims, __ATOMIC_ACQUIRE);
  if (all == nullptr) return;
  for (std::uint32_t i = 0; i < end(); ++i) {
    if (all[i].is_valid(address, bit)) give_up(&all[i]);
  }
}

}  // namespace landtrace::preload
