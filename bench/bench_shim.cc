// An unmodified program under the shim: this process is one, too.
#include <sys/uio.h>

#include <cerrno>

#include "abi_program.h"
#include "benchmarks.hpp"

namespace landtrace::bench {
namespace {

struct Registered {
  std::uint32_t word = 0;
  int fd = -1;
  std::uint32_t index = 0;
};

void shim_writev(benchmark::State& state, Owner& owner, const Registered& event) {
  const RecordedCheck check([&] { return owner.written(); });
  std::uint64_t payload[2] = {};
  std::uint32_t index = event.index;
  const iovec io[2] = {{&index, sizeof index}, {payload, sizeof payload}};
  for (auto _ : state) {
    payload[0] = ++payload[1];
    if (__atomic_load_n(&event.word, __ATOMIC_RELAXED) != 0) benchmark::DoNotOptimize(::writev(event.fd, io, 2));
  }
  check.expect(state, state.iterations());
}

}  // namespace

void add_shim(Owner& owner) {
  static Registered event;
  const int index = abi_register("bench_shim u64 a;u64 b", &event.word, &event.fd);
  if (index < 0) throw Broken("user_events_data under the shim: " + errno_text(errno));
  event.index = static_cast<std::uint32_t>(index);
  if (__atomic_load_n(&event.word, __ATOMIC_ACQUIRE) == 0) throw Broken("the shim's event is not enabled");
  benchmark::RegisterBenchmark(name::kShim, [&](auto& state) { shim_writev(state, owner, event); });
}

}  // namespace landtrace::bench
