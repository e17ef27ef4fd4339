// Probes on functions: what a call of one costs more, in a program that was started with them, beside the counter in
// the same program and the kernel's uprobes on the same functions; and 1,000 of them that come to a program with 8
// threads.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <sstream>
#include <tuple>

#include "benchmarks.hpp"
#include "code/analysis.hpp"

namespace landtrace::bench {
namespace {

constexpr const char* kProgram = LANDTRACE_PROBED;

// Its answer: "rdtsc 9.5 bare 1.5 …".
class Probed {
 public:
  explicit Probed(const Command& command) : child_(command) {
    if (const std::string line = child_.line(); line != "ready") throw Broken("the probed program: " + line);
  }
  // Into counters with the names of the functions, behind `prefix`.
  void measure(benchmark::State& state, const std::string& prefix = "") {
    child_.send("");
    std::istringstream words(child_.line());
    std::string name;
    for (double ns = 0; words >> name >> ns;) state.counters[prefix + name] = ns;
  }

 private:
  Child child_;
};

Command probed_command() { return {{kProgram}, {{"LD_PRELOAD", ""}}}; }

// What calls of the same functions take where nothing is probed: they are not equal, on some processors by a half.
void measure_bare(benchmark::State& state) { Probed(probed_command()).measure(state, name::kBare); }
void count_value(benchmark::State& state) {
  state.counters[kValue] = state.counters["entry"] - state.counters[std::string(name::kBare) + "entry"];
}
bool is_probed(benchmark::State& state, const std::string& function, double ns) {
  return state.counters[function] >= state.counters[name::kBare + function] + ns;
}

// -- ours -----------------------------------------------------------------------------------------------------------
void define(Owner& owner) {
  const auto probe = [&](char kind, const char* name, const char* function, const char* arguments = "") {
    owner.write("uprobe_events", fmt::format("{}:bench/{} {}:bench_{}{}", kind, name, kProgram, function, arguments));
  };
  probe('p', "entry", "entry", " size=%di");
  probe('p', "number", "number", " size=%di");
  probe('p', "string", "string", " size=%di text=+0(%si):string");
  probe('p', "both", "both", " size=%di");
  probe('r', "both_ret", "both", " result=$retval");
  probe('r', "latency", "latency", " latency_ns=$elapsed:u64");
  probe('p', "refused", "refused", " size=%di");
  probe('p', "no_longer", "no_longer", " size=%di");
  owner.write("events/bench/latency/trigger", "hist:keys=latency_ns.log2:vals=latency_ns");
  owner.write("events/bench/refused/filter", "size > 4096");
  for (const char* const event : {"entry", "number", "string", "both", "both_ret", "refused", "no_longer"}) {
    owner.write(fmt::format("events/bench/{}/enable", event), "1");
  }
}

void probes(benchmark::State& state, const Setting& setting) {
  for (auto _ : state) {
    Owner owner(setting.folder + "/probes.sock");
    define(owner);
    Command command = probed_command();
    command.environment = {{"LD_PRELOAD", LANDTRACE_SHIM}, {"LANDTRACE_SOCKET", owner.socket()}};
    Probed program(command);
    measure_bare(state);
    program.measure(state);  // also of what is not probed any more soon
    if (!is_probed(state, "no_longer", 1)) state.SkipWithError("the functions are not probed");
    owner.write("events/bench/no_longer/enable", "0");
    const std::uint64_t written = owner.written();
    program.measure(state);
    count_value(state);
    // Entry, number, string, both and both_ret.
    constexpr std::uint64_t kRecords = 5 * 300 * 2000;
    if (owner.written() - written != kRecords) state.SkipWithError("not all calls were recorded");
  }
}

// -- the kernel's ---------------------------------------------------------------------------------------------------
// Uprobes that are gone with this.
class KernelProbes {
 public:
  explicit KernelProbes(const std::string& instance)
      : instance_(instance), file_(std::filesystem::path(instance).parent_path().parent_path() / "uprobe_events") {
    const auto code = code::Analysis::open(kProgram);
    if (!code) throw Broken(code.error().message);
    define('p', "entry", offset_of(*code, "bench_entry"), " size=%di");
    define('p', "both", offset_of(*code, "bench_both"), " size=%di");
    define('r', "both_ret", offset_of(*code, "bench_both"), " result=$retval");
  }
  ~KernelProbes() {
    for (const std::string& name : defined_) {
      std::ignore = append(instance_ + "/events/" + group_ + "/" + name + "/enable", "0");
      std::ignore = append(file_, "-:" + group_ + "/" + name);
    }
  }
  KernelProbes(const KernelProbes&) = delete;
  KernelProbes& operator=(const KernelProbes&) = delete;

 private:
  // By one call: a stream's way of appending is not for these files.
  static bool append(const std::string& path, const std::string& text) {
    const Fd file(::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
    const std::string line = text + "\n";
    return file && ::write(file.get(), line.data(), line.size()) == static_cast<ssize_t>(line.size());
  }
  static std::uint64_t offset_of(const code::Analysis& code, const std::string& name) {
    for (const code::Function& function : code.functions()) {
      const auto names = code.names(function);
      if (std::find(names.begin(), names.end(), name) != names.end()) return code.offset_of(function);
    }
    throw Broken(std::string(kProgram) + " has no " + name);
  }
  void define(char kind, const std::string& name, std::uint64_t offset, const char* arguments) {
    if (!append(file_, fmt::format("{}:{}/{} {}:{:#x}{}", kind, group_, name, kProgram, offset, arguments))) {
      throw Broken("the kernel does not take a uprobe: " + errno_text(errno));
    }
    defined_.push_back(name);
    if (!append(instance_ + "/events/" + group_ + "/" + name + "/enable", "1")) {
      throw Broken("the kernel does not enable a uprobe: " + errno_text(errno));
    }
  }

  std::string instance_;
  std::string file_;
  std::string group_ = fmt::format("landtrace_bench_{}", ::getpid());
  std::vector<std::string> defined_;
};

void kernel_probes(benchmark::State& state, const Setting& setting) {
  for (auto _ : state) {
    measure_bare(state);
    const KernelProbes probes(setting.tracefs.where);
    Probed(probed_command()).measure(state);
    if (!is_probed(state, "entry", 100)) state.SkipWithError("the functions are not probed");
    count_value(state);
  }
}

// -- many at once ---------------------------------------------------------------------------------------------------
void thousand_probes(benchmark::State& state) {
  for (auto _ : state) {
    std::istringstream words(run(role("patcher")));
    double ns = 0, stopped_ns = 0, interrupted = 0, load = 0;
    words >> ns >> stopped_ns >> interrupted >> load;
    state.counters[kValue] = ns;
    state.counters["stopped"] = stopped_ns;
    state.counters["interrupted"] = interrupted;
    state.counters["load"] = load;
  }
}

}  // namespace

std::string reason_not_to_probe() {
#if defined(__x86_64__)
  return "";
#else
  return "functions are probed on x86-64 alone";
#endif
}

void add_probes(const Setting& setting) {
  if (!reason_not_to_probe().empty()) return;
  benchmark::RegisterBenchmark(name::kProbes, [&](auto& state) { probes(state, setting); })->Iterations(1);
  benchmark::RegisterBenchmark(name::kThousandProbes, thousand_probes)->Iterations(1);
  if (!setting.tracefs.is_there()) return;
  benchmark::RegisterBenchmark(name::kKernelProbes, [&](auto& state) { kernel_probes(state, setting); })->Iterations(1);
}

}  // namespace landtrace::bench
