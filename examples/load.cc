// Emits as much as asked for, from as many threads, and says what it emitted.
//
//     example_load [--threads N] [--payload BYTES] [--rate PER_SECOND] [--seconds S | --count N] [--abi]
//
// The event is `load u32 thread;u64 number;__rel_loc u8[] filler`. --rate and --count are of one thread;
// without --rate a thread emits as fast as it can. --abi writes through user_events_data ($TRACEFS, else
// /sys/kernel/tracing), as a program does that knows only the kernel.
#include <landtrace/landtrace.hpp>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <thread>
#include <vector>

#include "load_abi.hpp"

namespace {

using Clock = std::chrono::steady_clock;
using Load =
    landtrace::Event<"load", landtrace::Field<"thread", std::uint32_t>, landtrace::Field<"number", std::uint64_t>,
                     landtrace::Field<"filler", std::span<const std::byte>>>;

constexpr std::size_t kFixed = 16;  // thread, number and the location of the filler

struct Options {
  unsigned threads = 1;
  std::size_t payload = 32;
  double rate = 0;  // 0: as fast as it goes
  double seconds = 1;
  std::uint64_t count = 0;  // 0: until the time is up
  bool abi = false;
};

struct Totals {
  std::uint64_t emitted = 0;
  std::uint64_t unheard = 0;  // nobody listened
  std::uint64_t failed = 0;
};

[[noreturn]] void usage(const char* problem) {
  std::fprintf(stderr,
               "example_load: %s\nusage: example_load [--threads N] [--payload BYTES] [--rate PER_SECOND] "
               "[--seconds S | --count N] [--abi]\n",
               problem);
  std::exit(2);
}

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string_view option = argv[i];
    if (option == "--abi") {
      options.abi = true;
      continue;
    }
    if (i + 1 == argc) usage("an option without its value, or an unknown one");
    const char* const value = argv[++i];
    if (option == "--threads") {
      options.threads = static_cast<unsigned>(std::strtoul(value, nullptr, 10));
    } else if (option == "--payload") {
      options.payload = std::strtoul(value, nullptr, 10);
    } else if (option == "--rate") {
      options.rate = std::strtod(value, nullptr);
    } else if (option == "--seconds") {
      options.seconds = std::strtod(value, nullptr);
    } else if (option == "--count") {
      options.count = std::strtoull(value, nullptr, 10);
    } else {
      usage("unknown option");
    }
  }
  if (options.threads == 0) usage("--threads must be at least 1");
  if (options.payload < kFixed || options.payload > LANDTRACE_MAX_PAYLOAD) usage("--payload must be 16 to 65536");
  return options;
}

// One thread's share. The clock is looked at every kBatch events, so that it is not what is measured.
template <typename Emit>
Totals emit_all(const Options& options, Emit emit) {
  constexpr std::uint64_t kBatch = 256;
  Totals totals;
  const auto start = Clock::now();
  const auto end = start + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(options.seconds));
  for (std::uint64_t number = 0; options.count == 0 || number < options.count; ++number) {
    if (options.rate > 0) {
      const std::chrono::duration<double> due(static_cast<double>(number) / options.rate);
      std::this_thread::sleep_until(start + std::chrono::duration_cast<Clock::duration>(due));
    }
    const bool look = options.rate > 0 || number % kBatch == 0;
    if (look && options.count == 0 && Clock::now() >= end) break;
    const int result = emit(number);
    ++(result == 0 ? totals.emitted : result == -EBADF ? totals.unheard : totals.failed);
  }
  return totals;
}

Totals run_thread(const Options& options, std::uint32_t thread, const std::byte* filler, const example::AbiEvent* abi) {
  const std::span<const std::byte> rest(filler, options.payload - kFixed);
  if (abi != nullptr) return emit_all(options, [&](std::uint64_t number) { return abi->emit(thread, number, rest); });
  return emit_all(options, [&](std::uint64_t number) { return Load::emit(thread, number, rest); });
}

void print(const Options& options, const Totals& totals, double seconds) {
  const auto attempts = static_cast<double>(totals.emitted + totals.unheard + totals.failed);
  std::printf(
      "%llu events emitted in %.3f s, %.0f per second, %.1f ns each and thread; "
      "%llu unheard, %llu dropped by emit\n",
      static_cast<unsigned long long>(totals.emitted), seconds, static_cast<double>(totals.emitted) / seconds,
      attempts > 0 ? seconds * 1e9 * options.threads / attempts : 0.0, static_cast<unsigned long long>(totals.unheard),
      static_cast<unsigned long long>(totals.failed));
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = parse(argc, argv);
  example::AbiEvent abi;
  if (options.abi && !abi.open("load u32 thread;u64 number;__rel_loc u8[] filler")) return 1;

  const std::vector<std::byte> filler(options.payload, std::byte{0x5a});
  std::vector<Totals> totals(options.threads);
  std::vector<std::thread> threads;
  const auto start = Clock::now();
  for (unsigned i = 0; i < options.threads; ++i) {
    threads.emplace_back([&, i] { totals[i] = run_thread(options, i, filler.data(), options.abi ? &abi : nullptr); });
  }
  for (std::thread& thread : threads) thread.join();
  const std::chrono::duration<double> elapsed = Clock::now() - start;

  Totals sum;
  for (const Totals& one : totals) {
    sum.emitted += one.emitted;
    sum.unheard += one.unheard;
    sum.failed += one.failed;
  }
  print(options, sum, elapsed.count());
  return sum.failed == 0 ? 0 : 1;
}
