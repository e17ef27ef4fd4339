// Which descriptors of this process are user_events_data files. One load for any other descriptor.
//
//   a word for each descriptor
//
//     63       62     48 47        32 31             0
//     +--------+--------+------------+---------------+
//     | locked | access | slot       | generation    |      0: not one of ours
//     +--------+--------+------------+---------------+
//
// Who reads: any thread, at each call on a descriptor, one relaxed load: a word says all there is to say. Who writes:
// the thread that opens, duplicates or closes a descriptor. The lock is for reopen.cc, which puts another file under a
// descriptor and must not meet a close: writers wait for it, for some time; readers do not.
//
// A thread that leaves its process's descriptors (CLOSE_RANGE_UNSHARE, CLONE_FILES) has others under the same numbers
// from then on. The table stays that of the threads that have not: for the one that has left nothing is in it, and
// nothing gets into it. It opens files and registers words as ever; what it writes reaches the owner by itself, as
// writes past the shim do. Threads that such a thread starts share its descriptors, and are not known to. For a vfork
// child it is so from the first descriptor on that it closes, replaces or opens.
#pragma once

#include <cstdint>

#include "plan/file_write.hpp"

namespace landtrace::preload {

struct FdEntry {
  std::uint32_t generation;  // of the file; 0: not one of ours
  std::uint16_t slot;
  std::uint16_t access;  // O_RDONLY, O_WRONLY or O_RDWR

  // Not one of the other descriptors that the shim answers for (status_file.hpp, perf_events.hpp).
  [[nodiscard]] bool is_data_file() const { return generation != 0 && access <= 2; }
  [[nodiscard]] plan::FileRef file() const { return {slot, generation}; }
};
static_assert(sizeof(FdEntry) == 8);

class FdTable {
 public:
  static constexpr unsigned kMaxFds = 1u << 20;

  // The entry, with generation 0 for a descriptor that is not ours.
  static FdEntry get(int fd) {
    // Pairs with the swap in set(), which makes the table.
    const std::uint64_t* const words = __atomic_load_n(&words_, __ATOMIC_ACQUIRE);
    if (words == nullptr || static_cast<unsigned>(fd) >= kMaxFds) return {};
    const std::uint64_t word = __atomic_load_n(&words[fd], __ATOMIC_RELAXED);
    if (word == 0 || (__builtin_expect(left_ != Left::kNot, 0) && has_left())) return {};
    return unpack(word);
  }
  static bool is_ours(int fd) { return get(fd).generation != 0; }

  // False when there is no memory for the table, and in a thread that has left.
  static bool set(int fd, FdEntry entry);
  static void clear(int fd) { set_if_there(fd, {}); }
  // `to` has become a duplicate of `from`.
  static void copy(int from, int to);
  static void clear_range(unsigned first, unsigned last);
  // Entries at and above this were never used.
  static unsigned end() { return __atomic_load_n(&high_, __ATOMIC_RELAXED); }

  // Keeps a descriptor from being closed or replaced by other threads of the process, for some microseconds. False when
  // it is not `entry` any more. Whoever has the lock holds signals back.
  static bool lock(int fd, FdEntry entry);
  static void unlock(int fd, FdEntry entry);
  // In a forked child: what other threads of the parent had locked.
  static void unlock_all();

 private:
  static constexpr std::uint64_t kLocked = 1ull << 63;
  static FdEntry unpack(std::uint64_t word);
  static void set_if_there(int fd, FdEntry entry);
  static bool has_left();

  // kMaxFds of them, mapped at the first file; untouched pages cost nothing.
  static std::uint64_t* words_;
  // Entries at and above this were never used.
  static unsigned high_;
  // Whether the thread's descriptors are others; kInChild: a child's that runs, or has run, in its place.
  enum class Left : std::uint8_t { kNot, kForGood, kInChild };
  static constinit thread_local Left left_ __attribute__((tls_model("initial-exec")));

  friend bool has_own_descriptors();
  friend void descriptors_left();
  friend void descriptors_after_fork();
};

inline FdEntry FdTable::unpack(std::uint64_t word) {
  return {static_cast<std::uint32_t>(word), static_cast<std::uint16_t>(word >> 32),
          static_cast<std::uint16_t>((word & ~kLocked) >> 48)};
}

// The caller shares this memory but has descriptors of its own, and what it closes or duplicates must not change the
// table: a vfork child before it calls exec; a thread that has left its process's descriptors.
bool has_own_descriptors();
// Whether the process's other threads go on with the descriptors that the calling thread leaves. Ours do not count
// (own_threads.hpp). False in a child that has others than its parent by itself.
bool has_company();
// The calling thread has left them, and has_company().
void descriptors_left();
// In a forked child: if that thread has forked, the table says nothing about what the child has.
void descriptors_after_fork();

}  // namespace landtrace::preload
