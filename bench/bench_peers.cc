// What ours is compared with: LTTng-UST's tracepoint and the kernel's trace_marker.
#include <dlfcn.h>
#include <fcntl.h>

#include <cstdlib>

#include "benchmarks.hpp"
#include "kernel_trace.hpp"
#include "lttng_session.hpp"

namespace landtrace::bench {
namespace {

#ifdef LANDTRACE_LTTNG
constexpr const char* kLttngModule = LANDTRACE_LTTNG;
#else
constexpr const char* kLttngModule = "";
#endif

struct LttngPeer {
  const char* benchmark;
  const char* tracepoint;
};
constexpr LttngPeer kLttngPeers[] = {{name::kLttng, "sixteen"},
                                     {name::kLttngOne, "filtered_one"},
                                     {name::kLttngTwo, "filtered_two"},
                                     {name::kLttngPassed, "filtered_passed"},
                                     {name::kLttngInside, "filtered_inside"}};

struct LttngTracepoint {
  int (*enabled)();
  void (*emit)(std::uint64_t first, std::uint64_t count);
};

// The daemon enables the events soon after the module is there.
LttngTracepoint find_tracepoint(void* module, const std::string& name) {
  constexpr int kPatience_ms = 5000;
  const auto symbol = [&](const char* what) {
    return ::dlsym(module, ("landtrace_bench_lttng_" + (what + name)).c_str());
  };
  const LttngTracepoint tracepoint{reinterpret_cast<int (*)()>(symbol("enabled_")),
                                   reinterpret_cast<void (*)(std::uint64_t, std::uint64_t)>(symbol("emit_"))};
  if (tracepoint.enabled == nullptr || tracepoint.emit == nullptr) throw Broken("the LTTng module is not ours");
  for (int waited = 0; tracepoint.enabled() == 0; ++waited) {
    if (waited == kPatience_ms) throw Broken("LTTng's session does not enable its event " + name);
    ::usleep(1000);
  }
  return tracepoint;
}

void lttng_tracepoint(benchmark::State& state, const LttngTracepoint& module) {
  constexpr std::int64_t kBatch = 1024;
  std::uint64_t i = 0;
  while (state.KeepRunningBatch(kBatch)) {
    module.emit(i, kBatch);
    i += kBatch;
  }
  if (module.enabled() == 0) state.SkipWithError("the event is not enabled any more");
}

// The same bytes as the shim's writev: index and 16 bytes.
void trace_marker(benchmark::State& state, int fd, const std::string& instance) {
  const RecordedCheck check([&] { return kernel_entries(instance); });
  constexpr char kBytes[20] = "1234567890123456789";
  for (auto _ : state) benchmark::DoNotOptimize(::write(fd, kBytes, sizeof kBytes));
  check.expect(state, state.iterations());
}

}  // namespace

void add_peers(const Setting& setting) {
  if (setting.lttng.is_there()) {
    void* const module = ::dlopen(kLttngModule, RTLD_NOW);
    if (module == nullptr) throw Broken(::dlerror());
    for (const LttngPeer& peer : kLttngPeers) {
      benchmark::RegisterBenchmark(peer.benchmark, [tracepoint = find_tracepoint(module, peer.tracepoint)](
                                                       auto& state) { lttng_tracepoint(state, tracepoint); });
    }
  }
  if (setting.tracefs.is_there()) {
    const std::string& instance = setting.tracefs.where;
    const int fd = ::open((instance + "/trace_marker").c_str(), O_WRONLY | O_CLOEXEC);
    if (fd < 0) throw Broken("trace_marker: " + errno_text(errno));
    benchmark::RegisterBenchmark(name::kMarker, [fd, &instance](auto& state) { trace_marker(state, fd, instance); });
  }
}

}  // namespace landtrace::bench
