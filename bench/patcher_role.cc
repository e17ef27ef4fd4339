// How long 1,000 probes need to come to a program that is busy, and what its threads feel of it.
#include <fmt/format.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include "agent/agent.hpp"
#include "arch/clock.hpp"
#include "child.hpp"
#include "roles.hpp"

#if defined(__x86_64__)
// Their first instructions are one, three and one byte long: threads may stand within the jump.
// clang-format off
asm(
  ".text\n\t"
  ".p2align 6\n\t"
  ".globl lt_bench_thousand\n"
  "lt_bench_thousand:\n\t"
  ".rept 1000\n\t"
  "pushq %rbp\n\t movq %rsp, %rbp\n\t pushq %rbx\n\t leaq 3(%rdi), %rax\n\t popq %rbx\n\t popq %rbp\n\t ret\n\t"
  ".p2align 5\n\t"
  ".endr\n");
// clang-format on
extern "C" const char lt_bench_thousand[];

namespace landtrace::bench {
namespace {

constexpr std::size_t kFunctions = 1000;
constexpr std::size_t kDistance = 32;
constexpr unsigned kThreads = 8;
constexpr unsigned kWaiting = 4;
constexpr std::uint8_t kDisplaced = 5;

std::uint64_t call(std::size_t number) {
  const std::uint64_t at = reinterpret_cast<std::uint64_t>(lt_bench_thousand) + number * kDistance;
  return reinterpret_cast<std::uint64_t (*)(std::uint64_t)>(at)(1);
}

std::vector<agent::Wanted> all_functions(const agent::Recipe& recipe) {
  const auto maps = agent::read_maps();
  const auto address = reinterpret_cast<std::uint64_t>(lt_bench_thousand);
  const agent::Mapped* const mapped = agent::find(maps, address);
  struct stat status {};
  if (mapped == nullptr || ::stat("/proc/self/exe", &status) != 0) throw Broken("/proc does not show this program");
  std::vector<agent::Wanted> wanted(kFunctions);
  for (std::size_t i = 0; i < kFunctions; ++i) {
    wanted[i].object.device = status.st_dev;
    wanted[i].object.inode = status.st_ino;
    wanted[i].offset = address - mapped->begin + mapped->offset + i * kDistance;
    wanted[i].recipe = &recipe;
    wanted[i].number = static_cast<std::uint32_t>(i);
    wanted[i].wants = agent::kWantsEntry;
  }
  return wanted;
}

agent::Recipe recipe_of_functions() {
  agent::Recipe recipe{};
  recipe.way = agent::Way::kQuiet;
  recipe.displaced = recipe.copy_size = kDisplaced;
  recipe.flags = agent::kAtEntry;
  std::memcpy(recipe.expected, lt_bench_thousand, sizeof recipe.expected);
  std::memcpy(recipe.copy, lt_bench_thousand, kDisplaced);
  return recipe;
}

// Threads that call the functions, and threads that wait, until it is over.
class Busy {
 public:
  Busy() {
    for (unsigned i = 0; i < kThreads; ++i) threads_.emplace_back([this] { call_all(); });
    for (unsigned i = 0; i < kWaiting; ++i) threads_.emplace_back([this] { wait(); });
    while (rounds_ < kThreads) std::this_thread::yield();
  }
  ~Busy() {
    over_ = true;
    for (std::thread& thread : threads_) thread.join();
  }
  Busy(const Busy&) = delete;
  Busy& operator=(const Busy&) = delete;
  [[nodiscard]] unsigned interrupted() const { return interrupted_; }
  [[nodiscard]] unsigned wrong() const { return wrong_; }

 private:
  void call_all() {
    while (!over_) {
      for (std::size_t i = 0; i < kFunctions; ++i) wrong_ += call(i) == 4 ? 0 : 1;
      ++rounds_;
    }
  }
  void wait() {
    const Fd poll(::epoll_create1(EPOLL_CLOEXEC));
    epoll_event event{};
    while (!over_) {
      if (::epoll_wait(poll.get(), &event, 1, 5) < 0) ++interrupted_;
    }
  }

  std::atomic<bool> over_ = false;
  std::atomic<unsigned> rounds_ = 0, wrong_ = 0, interrupted_ = 0;
  std::vector<std::thread> threads_;
};

void nothing(const agent::Site*, agent::Registers*, agent::EntryData*) {}

}  // namespace

int patch_thousand() {
  agent::set_handlers({nothing, nothing});
  agent::Agent agent(agent::Agent::OwnObject::kPatch);
  const agent::Recipe recipe = recipe_of_functions();
  const std::vector<agent::Wanted> wanted = all_functions(recipe);
  std::vector<agent::Outcome> outcomes(kFunctions);
  std::uint64_t took = 0;
  const Busy busy;
  const std::uint64_t begin = arch::monotonic_ns();
  agent.apply(wanted, outcomes);
  took = arch::monotonic_ns() - begin;
  for (const agent::Outcome& outcome : outcomes) {
    if (outcome.state != agent::PlaceState::kPatched) throw Broken("a function could not be probed");
  }
  if (busy.wrong() != 0) throw Broken("a probed function has another result");
  double load = 0;
  ::getloadavg(&load, 1);
  fmt::print("{} {} {} {:.1f}\n", took, agent.counters().longest_stop_ns, busy.interrupted(), load);
  return 0;
}

}  // namespace landtrace::bench

#else

namespace landtrace::bench {
int patch_thousand() { throw Broken(reason_not_to_probe()); }
}  // namespace landtrace::bench

#endif
