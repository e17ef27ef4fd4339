#include "domain/reaper.hpp"

#include <cerrno>
#include <csignal>

#include "plan/emit.hpp"
#include "plan/thread_slots.hpp"

namespace landtrace::domain {
namespace {

// kill() takes any thread's id, not only a process's.
bool is_gone(std::uint32_t tid) { return ::kill(static_cast<pid_t>(tid), 0) != 0 && errno == ESRCH; }

void reap_claims(const User& user, const Instance& instance, std::uint32_t first, std::uint32_t end) {
  for (std::uint32_t i = first; i < end; ++i) {
    auto* const ring = reinterpret_cast<ring::RingWords*>(user.mapping.data() + instance.place.rings +
                                                          i * instance.place.geometry.stride());
    std::uint32_t tid = __atomic_load_n(&ring->claim, __ATOMIC_RELAXED);
    if (tid == 0 || (tid & plan::kForeignClaim) != 0 || !is_gone(tid)) continue;
    // Pairs with the swap in write_if_unclaimed(), ring/writer.cc: the next holder sees what the dead one left.
    __atomic_compare_exchange_n(&ring->claim, &tid, 0, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
  }
}

}  // namespace

void reap(const Users& users, Instances& instances) {
  const std::uint32_t end = instances.rings_per_set();
  for (const User& user : users.all()) {
    plan::free_dead_thread_slots(user.data(), 0);
    for (const Instance* const instance : instances.all()) {
      reap_claims(user, *instance, instances.first_claimed(), end);
    }
  }
}

}  // namespace landtrace::domain
