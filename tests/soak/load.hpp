// What every producer of a soak does, whatever it emits with: several threads at full speed, moved from CPU to CPU, and
// forks that go on beside their parents.
#pragma once

#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <random>
#include <thread>
#include <vector>

#include "progress.hpp"

namespace landtrace::soak {

class Load {
 public:
  Load(Progress& progress, Kind kind, std::uint32_t seed) : progress_(progress), kind_(kind), random_(seed) {}

  // `emit(payload)` is 0 or a negative errno, -EBADF while nobody listens. Returns when the supervisor says so.
  template <typename Emit>
  void run(const Emit& emit) {
    const int others = static_cast<int>(random_() % 3);
    std::vector<std::thread> threads;
    for (int i = 0; i < others; ++i) threads.emplace_back([&, seed = random_()] { emit_all(emit, seed); });
    emit_all(emit, random_());
    for (std::thread& thread : threads) thread.join();
    while (::waitpid(-1, nullptr, 0) > 0) {
    }
  }

 private:
  static constexpr std::uint64_t kBurst = 1 << 14;

  [[nodiscard]] bool is_over() const { return __atomic_load_n(&progress_.stop, __ATOMIC_RELAXED) != 0; }

  template <typename Emit>
  void emit_all(const Emit& emit, std::minstd_rand::result_type seed) {
    std::minstd_rand random(seed);
    while (!is_over()) {
      const std::uint32_t number = __atomic_fetch_add(&progress_.sources, 1, __ATOMIC_RELAXED);
      if (number >= Progress::kSources) return;
      emit_as(number, emit, random);
    }
    if (is_child_) ::_exit(0);
  }

  // Until this thread is to be another source.
  template <typename Emit>
  void emit_as(std::uint32_t number, const Emit& emit, std::minstd_rand& random) {
    Source& source = progress_.source[number];
    for (std::uint64_t sequence = 0; !is_over(); ++sequence) {
      if (sequence % kBurst == kBurst - 1 && disturb(random)) return;
      __atomic_store_n(&source.begun, sequence + 1, __ATOMIC_RELAXED);
      const int result = emit(Payload{static_cast<std::uint32_t>(kind_), number, sequence, check_of(number, sequence)});
      if (result == 0) __atomic_store_n(&source.taken, source.taken + 1, __ATOMIC_RELAXED);
      if (result != 0 && result != -EBADF) __atomic_store_n(&source.refused, source.refused + 1, __ATOMIC_RELAXED);
      __atomic_store_n(&source.ended, sequence + 1, __ATOMIC_RELAXED);
      if (result != 0) ::usleep(200);
    }
  }

  // True: in a child, which is a source of its own.
  bool disturb(std::minstd_rand& random) {
    const std::uint32_t what = static_cast<std::uint32_t>(random()) % 64;
    if (what < 8) move(random);
    if (what == 8) ::sched_yield();
    if (what != 9) return false;
    while (::waitpid(-1, nullptr, WNOHANG) > 0) {
    }
    return fork_child(random);
  }

  static void move(std::minstd_rand& random) {
    cpu_set_t all;
    if (::sched_getaffinity(0, sizeof all, &all) != 0) return;
    cpu_set_t one;
    CPU_ZERO(&one);
    const long cpus = ::sysconf(_SC_NPROCESSORS_ONLN);
    CPU_SET(static_cast<std::size_t>(random()) % static_cast<std::size_t>(cpus), &one);
    if (::sched_setaffinity(0, sizeof one, &one) != 0) return;
    ::sched_setaffinity(0, sizeof all, &all);
  }

  // The child has this thread alone, and has no children: it ends instead.
  bool fork_child(std::minstd_rand& random) {
    if (is_child_) ::_exit(0);
    const pid_t parent = ::getpid();
    if (::fork() != 0) return false;
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(0);
    is_child_ = true;
    random.discard(1);
    return true;
  }

  Progress& progress_;
  Kind kind_;
  std::minstd_rand random_;
  bool is_child_ = false;
};

}  // namespace landtrace::soak
