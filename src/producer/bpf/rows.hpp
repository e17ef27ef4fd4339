// Which row of per-CPU values a running program has to itself: that of its CPU, or another one while somebody was
// interrupted on this CPU in the middle of a program. A program counts without atomic instructions there, as it would
// in the kernel, where nobody interrupts it.
//
// A row is claimed by swapping a 0 for the thread's id. Where all are taken (a thread was killed in a program), the
// CPU's own is used all the same; a row whose thread is gone is freed by the owner.
#pragma once

#include <cstddef>
#include <cstdint>

namespace landtrace::bpf {

inline constexpr std::uint32_t kRowClaimBytes = 64;

class Rows {
 public:
  Rows(std::byte* claims, std::uint32_t count) : claims_(claims), count_(count) {}

  // Claims one. `mine`: whether it is to be given back.
  std::uint32_t claim(std::uint32_t cpu, std::uint32_t tid, bool& mine) const {
    const std::uint32_t own = cpu < count_ ? cpu : cpu % count_;
    std::uint32_t row = own;
    for (std::uint32_t i = 0; i < count_; ++i, row = row + 1 < count_ ? row + 1 : 0) {
      std::uint32_t free = 0;
      // Pairs with the release store in give_back(): what was counted in the row is there.
      mine = __atomic_compare_exchange_n(word(row), &free, tid, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
      if (mine) return row;
    }
    return own;
  }
  // Pairs with the swap in claim().
  void give_back(std::uint32_t row) const { __atomic_store_n(word(row), 0, __ATOMIC_RELEASE); }

  [[nodiscard]] std::uint32_t holder(std::uint32_t row) const { return __atomic_load_n(word(row), __ATOMIC_RELAXED); }
  // Whose thread is gone.
  void free_dead(std::uint32_t row, std::uint32_t tid) const {
    __atomic_compare_exchange_n(word(row), &tid, 0, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
  }

 private:
  [[nodiscard]] std::uint32_t* word(std::uint32_t row) const {
    return reinterpret_cast<std::uint32_t*>(claims_ + std::size_t{row} * kRowClaimBytes);
  }

  std::byte* claims_;
  std::uint32_t count_;
};

}  // namespace landtrace::bpf
