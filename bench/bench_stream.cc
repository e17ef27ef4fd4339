// `landtrace record` with its defaults, of a program that emits on one thread at full speed.
#include <unistd.h>

#include <filesystem>

#include "arch/clock.hpp"
#include "benchmarks.hpp"

namespace landtrace::bench {
namespace {

struct Recording {
  std::uint64_t emitted = 0;
  std::uint64_t written = 0;
  std::uint64_t lost = 0;
};

Recording record(const Setting& setting, const std::string& file, const char* seconds) {
  const std::string said = run({{LANDTRACE_PROGRAM, "record", "-o", file, "--", LANDTRACE_LOAD, "--seconds", seconds},
                                {{"LD_PRELOAD", ""}, {"LANDTRACE_SOCKET", ""}, {"XDG_RUNTIME_DIR", setting.folder}},
                                false,
                                false,
                                true});
  return {number_in(said, "([0-9]+) events emitted in"), number_in(said, "([0-9,]+) events?, [0-9,]+ lost"),
          number_in(said, "[0-9,]+ events?, ([0-9,]+) lost")};
}

// Throughput counts the command's whole time, with the start of both programs and the end of the file.
void stream(benchmark::State& state, const Setting& setting) {
  constexpr std::uint64_t kPayload = 32;  // of example_load
  const std::string file = setting.folder + "/stream.dat";
  for (auto _ : state) {
    const std::uint64_t begin = arch::monotonic_ns();
    const Recording recording = record(setting, file, setting.quick ? "1" : "2");
    const auto elapsed = static_cast<double>(arch::monotonic_ns() - begin);
    if (recording.emitted != recording.written + recording.lost) {
      state.SkipWithError("emitted is not written + lost");
    } else if (std::filesystem::file_size(file) < recording.written * kPayload) {
      state.SkipWithError("the file is smaller than what was written");
    }
    state.counters[kValue] = static_cast<double>(recording.written) * 1e9 / elapsed;
    state.counters["emitted"] = static_cast<double>(recording.emitted);
    state.counters["written"] = static_cast<double>(recording.written);
    state.counters["lost"] = static_cast<double>(recording.lost);
  }
  std::filesystem::remove(file);
}

}  // namespace

void add_stream(const Setting& setting) {
  for (const char* const program : {LANDTRACE_PROGRAM, LANDTRACE_LOAD}) {
    if (::access(program, X_OK) != 0) return;
  }
  benchmark::RegisterBenchmark(name::kStream, [&](auto& state) { stream(state, setting); })->Iterations(1);
}

}  // namespace landtrace::bench
