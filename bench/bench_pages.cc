// The page of `landtrace view` and the live one of `landtrace ui`, in a browser without a screen: pages.py drives it.
#include <unistd.h>

#include <filesystem>
#include <sstream>

#include "benchmarks.hpp"

namespace landtrace::bench {
namespace {

constexpr const char* kBrowsers[] = {"/usr/bin/chromium-headless-shell", "/usr/bin/chromium"};

void pages(benchmark::State& state, const char* which, const std::string& program) {
  for (auto _ : state) {
    Command command{{"python3", LANDTRACE_PAGES, which, program}, {{"LD_PRELOAD", ""}, {"LANDTRACE_SOCKET", ""}}};
    command.environment.emplace_back("LANDTRACE", LANDTRACE_PROGRAM);
    command.environment.emplace_back("SHIM", LANDTRACE_SHIM);
    std::istringstream words(run(command));
    std::string name;
    for (double value = 0; words >> name >> value;) state.counters[name] = value;
  }
}

}  // namespace

std::string reason_not_to_look() {
  for (const char* const program : {LANDTRACE_PROGRAM, LANDTRACE_LOAD}) {
    if (::access(program, X_OK) != 0) return "it takes the programs landtrace and example_load";
  }
  for (const char* const browser : kBrowsers) {
    if (::access(browser, X_OK) == 0) return "";
  }
  return "there is no chromium";
}

void add_pages() {
  if (!reason_not_to_look().empty()) return;
  const std::string self = std::filesystem::read_symlink("/proc/self/exe");
  benchmark::RegisterBenchmark(name::kPageView, [self](auto& state) { pages(state, "view", self); })->Iterations(1);
  benchmark::RegisterBenchmark(name::kPageLive, [](auto& state) {
    pages(state, "live", LANDTRACE_LOAD);
  })->Iterations(1);
}

}  // namespace landtrace::bench
