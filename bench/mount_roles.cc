// Programs that know nothing but the files of a mount; and one that fills the rings behind it.
#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <thread>
#include <vector>

#include "abi_program.h"
#include "arch/clock.hpp"
#include "child.hpp"
#include "native_event.hpp"
#include "roles.hpp"

namespace landtrace::bench {
namespace {

constexpr std::uint64_t kNsPerMs = 1'000'000;

void say(const std::string& line) {
  fmt::print("{}\n", line);
  std::fflush(stdout);
}

struct Registered {
  Registered(const std::string& folder, const std::string& declaration) {
    int opened = -1;
    const int made = abi_register_at((folder + "/user_events_data").c_str(), declaration.c_str(), &word, &opened);
    file = Fd(opened);
    if (made < 0) throw Broken("registering on the mount: " + errno_text(errno));
    index = static_cast<std::uint32_t>(made);
  }
  Registered(const Registered&) = delete;

  std::uint32_t word = 0;
  std::uint32_t index = 0;
  Fd file;
};

std::uint64_t median(std::vector<std::uint64_t>& numbers) {
  const auto middle = numbers.begin() + static_cast<std::ptrdiff_t>(numbers.size() / 2);
  std::nth_element(numbers.begin(), middle, numbers.end());
  return *middle;
}

// How long each act of one writer took, until the time is over.
template <typename Act>
std::vector<std::uint64_t> time_until(std::uint64_t end, const Act& act) {
  std::vector<std::uint64_t> ns;
  ns.reserve(1 << 20);
  for (std::uint64_t now = arch::monotonic_ns(); now < end;) {
    act();
    const std::uint64_t after = arch::monotonic_ns();
    ns.push_back(after - now);
    now = after;
  }
  return ns;
}

std::vector<std::uint64_t> write_events(const Registered& event, std::uint64_t end) {
  struct {
    std::uint32_t index;
    std::array<std::uint64_t, 2> payload;
  } __attribute__((packed)) record{event.index, {}};
  return time_until(end, [&] {
    ++record.payload[0];
    if (::write(event.file.get(), &record, sizeof record) != sizeof record)
      throw Broken("a write failed: " + errno_text(errno));
  });
}

Fd open_or_break(const std::string& path, int flags) {
  Fd file(::open(path.c_str(), flags | O_CLOEXEC));
  if (!file) throw Broken(path + ": " + errno_text(errno));
  return file;
}

// Counts the lines.
std::uint64_t read_whole(const std::string& path) {
  const Fd file = open_or_break(path, O_RDONLY);
  std::vector<char> buffer(128 * 1024);
  std::uint64_t lines = 0;
  ssize_t n = 0;
  while ((n = ::read(file.get(), buffer.data(), buffer.size())) > 0) {
    lines += static_cast<std::uint64_t>(std::count(buffer.data(), buffer.data() + n, '\n'));
  }
  if (n < 0) throw Broken(path + ": " + errno_text(errno));
  return lines;
}

std::uint64_t entries_of(const std::string& folder) {
  DIR* const listing = ::opendir(folder.c_str());
  if (listing == nullptr) throw Broken(folder + ": " + errno_text(errno));
  std::uint64_t entries = 0;
  while (::readdir(listing) != nullptr) ++entries;
  ::closedir(listing);
  return entries;
}

template <typename Act>
std::uint64_t ns_of(const Act& act) {
  const std::uint64_t begin = arch::monotonic_ns();
  act();
  return arch::monotonic_ns() - begin;
}

}  // namespace

int write_through_mount(const char* folder, const char* writers, const char* for_ms) {
  const auto count = static_cast<std::size_t>(std::atoi(writers));
  std::vector<std::unique_ptr<Registered>> events;
  for (std::size_t i = 0; i < count; ++i)
    events.push_back(std::make_unique<Registered>(folder, "bench_mount u64 a;u64 b"));
  const std::uint64_t begin = arch::monotonic_ns();
  const std::uint64_t end = begin + static_cast<std::uint64_t>(std::atoi(for_ms)) * kNsPerMs;
  std::vector<std::vector<std::uint64_t>> ns(count);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < count; ++i) threads.emplace_back([&, i] { ns[i] = write_events(*events[i], end); });
  for (std::thread& thread : threads) thread.join();
  const std::uint64_t elapsed = arch::monotonic_ns() - begin;
  std::vector<std::uint64_t> all;
  for (const auto& one : ns) all.insert(all.end(), one.begin(), one.end());
  // A round trip in which nothing is done: for an event that is not there.
  const std::uint32_t nobody = ~0u >> 1;
  auto bare = time_until(arch::monotonic_ns() + 50 * kNsPerMs,
                         [&] { (void)!::write(events[0]->file.get(), &nobody, sizeof nobody); });
  const auto written = all.size();
  say(fmt::format("{} {} {} {}", median(all), static_cast<double>(written) * 1e9 / static_cast<double>(elapsed),
                  written, median(bare)));
  return 0;
}

int fill(const char* socket, const char* count) {
  ::setenv("LANDTRACE_SOCKET", socket, 1);
  landtrace::attach();
  if (!Recorded::enabled()) throw Broken("the event that fills the buffer is not enabled");
  const auto events = static_cast<std::uint64_t>(std::atoll(count));
  for (std::uint64_t i = 0; i < events; ++i) Recorded::emit(i, ~i);
  return 0;
}

int take_snapshots(const char* socket) {
  constexpr std::uint64_t kEnough = 600'000;  // of 32 bytes, for both CPUs' rings
  ::setenv("LANDTRACE_SOCKET", socket, 1);
  landtrace::attach();
  if (!Recorded::enabled()) throw Broken("the event that fills the buffer is not enabled");
  const auto fill = [] {
    for (std::uint64_t i = 0; i < kEnough; ++i) Recorded::emit(i, ~i);
  };
  fill();
  say("ready");
  for (std::string line; std::getline(std::cin, line);) {
    fill();
    say(std::to_string(ns_of([] { Recorded::emit(~0ull, 0); })));
  }
  return 0;
}

int read_trace(const char* folder) {
  std::uint64_t lines = 0;
  const std::uint64_t ns = ns_of([&] { lines = read_whole(std::string(folder) + "/trace"); });
  say(fmt::format("{} {}", ns, lines));
  return 0;
}

int list_through_mount(const char* folder, const char* count) {
  const auto n = static_cast<std::size_t>(std::atoi(count));
  const std::string root = folder;
  std::vector<std::unique_ptr<Registered>> events;
  for (std::size_t i = 0; i < n; ++i) {
    events.push_back(
        std::make_unique<Registered>(root, fmt::format("bench_list_{} u64 id;u32 state;char[16] name", i)));
  }
  std::uint64_t listed = 0, entries = 0;
  const std::uint64_t available = ns_of([&] { listed = read_whole(root + "/available_events"); });
  const std::uint64_t names = ns_of([&] { entries = entries_of(root + "/events/user_events"); });
  const std::uint64_t enabling = ns_of([&] {
    const Fd file = open_or_break(root + "/set_event", O_WRONLY | O_APPEND);
    if (::write(file.get(), "user_events:*\n", 14) != 14) throw Broken("set_event: " + errno_text(errno));
  });
  const bool all_on = std::all_of(events.begin(), events.end(), [](const auto& event) { return event->word != 0; });
  if (listed < n || entries < n || !all_on) throw Broken(fmt::format("{} events listed, {} entries", listed, entries));
  say(fmt::format("{} {} {}", available, names, enabling));
  return 0;
}

int hold_on_mount(const char* folder) {
  const Registered event(folder, "bench_held u32 a");
  say("ready");
  for (std::string line; std::getline(std::cin, line);) {
  }
  return 0;
}

}  // namespace landtrace::bench
