// Programs that come to a domain, each in a process of its own.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <thread>
#include <vector>

#include "abi_program.h"
#include "arch/clock.hpp"
#include "child.hpp"
#include "client/process.hpp"
#include "hist_events.hpp"
#include "native_event.hpp"
#include "roles.hpp"
#include "timing.hpp"

namespace landtrace::bench {
namespace {

void say(const std::string& line) {
  fmt::print("{}\n", line);
  std::fflush(stdout);
}

using ReadEvent = Event<"bench_read", Field<"a", std::uint64_t>, Field<"b", std::uint64_t>>;
using UnreadEvent = Event<"bench_unread", Field<"a", std::uint64_t>, Field<"b", std::uint64_t>>;
using PageBegin = Event<"page_begin", Field<"id", std::uint32_t>>;
using PageEnd = Event<"page_end", Field<"id", std::uint32_t>, Field<"size", std::uint32_t>>;

void go_to(const char* socket) { ::setenv("LANDTRACE_SOCKET", socket, 1); }

}  // namespace

int emit_portably(const char* socket, const char* rounds) {
  constexpr std::uint64_t kEvents = 200'000;
  go_to(socket);
  landtrace::attach();
  if (!Recorded::enabled()) throw Broken("the portable writer's event is not enabled");
  std::vector<double> ns;
  for (int round = 0; round < std::atoi(rounds); ++round) {
    const std::uint64_t begin = thread_cpu_ns();
    for (std::uint64_t i = 0; i < kEvents; ++i) Recorded::emit(i, ~i);
    ns.push_back(static_cast<double>(thread_cpu_ns() - begin) / kEvents);
  }
  std::nth_element(ns.begin(), ns.begin() + ns.size() / 2, ns.end());
  say(fmt::format("{}", ns[ns.size() / 2]));
  say(fmt::format("{}", kEvents * ns.size()));
  return 0;
}

int emit_for_readers(const char* socket) {
  go_to(socket);
  landtrace::attach();
  const auto emit = []<typename Emitted>(Emitted*) -> std::string {
    constexpr std::uint64_t kEvents = 20'000'000;
    constexpr int kPatience_ms = 20'000;
    for (int waited = 0; !Emitted::enabled(); ++waited) {
      if (waited == kPatience_ms) return "";
      ::usleep(1000);
    }
    const std::uint64_t begin = arch::monotonic_ns(), cpu_begin = thread_cpu_ns();
    for (std::uint64_t i = 0; i < kEvents; ++i) Emitted::emit(i, ~i);
    const auto cpu_ns = static_cast<double>(thread_cpu_ns() - cpu_begin);
    return fmt::format("{} {} {}", cpu_ns / kEvents, static_cast<double>(arch::monotonic_ns() - begin) / 1e9, kEvents);
  };
  static_cast<void>(ReadEvent::registration());
  say("ready");
  for (std::string line; std::getline(std::cin, line);) {
    say(line == "bench_read" ? emit(static_cast<ReadEvent*>(nullptr)) : emit(static_cast<UnreadEvent*>(nullptr)));
  }
  return 0;
}

int emit_spans(const char* count) {
  constexpr int kThreads = 2, kDepth = 8, kPause_us = 200;
  landtrace::attach();
  const int pairs = std::atoi(count) / 2 / kThreads;
  std::vector<std::jthread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([pairs, first = static_cast<std::uint32_t>(thread * pairs)] {
      const auto number = static_cast<std::uint32_t>(pairs);
      for (std::uint32_t i = 0; i < number + kDepth; ++i) {
        if (i < number) PageBegin::emit(first + i);
        if (i >= kDepth) PageEnd::emit(first + i - kDepth, i * 2654435761u >> 22);
        if (i % 256 == 0) ::usleep(kPause_us);
      }
    });
  }
  return 0;
}

int count_keys(const char* socket) {
  go_to(socket);
  landtrace::attach();
  static_cast<void>(HistCount::registration());
  say("ready");
  std::string go;
  std::getline(std::cin, go);
  for (std::uint32_t key = 0; key < kManyKeys; ++key) HistCount::emit(key, 1);
  std::ifstream statm("/proc/self/statm");
  std::uint64_t pages = 0;
  statm >> pages >> pages;
  say(std::to_string(pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE))));
  return 0;
}

int attach_once(const char* socket) {
  go_to(socket);
  const std::uint64_t begin = arch::monotonic_ns();
  const bool attached = client::Process::get().attach();
  const std::uint64_t end = arch::monotonic_ns();
  if (!attached) throw Broken("no domain to attach to");
  say(std::to_string(end - begin));
  return 0;
}

int register_many(const char* socket, const char* count) {
  go_to(socket);
  landtrace::attach();
  const auto n = static_cast<std::size_t>(std::atoi(count));
  // Both live as long as the process, as the API wants it.
  auto* const events = new std::vector<landtrace_event>(n, landtrace_event LANDTRACE_EVENT_INIT);
  auto* const declarations = new std::vector<std::string>;
  for (std::size_t i = 0; i < n; ++i)
    declarations->push_back(fmt::format("bench_many_{} u64 id;u32 state;char[16] name", i));
  for (std::size_t i = 0; i < n; ++i) {
    const int result = landtrace_register(&(*events)[i], (*declarations)[i].c_str(), 0);
    if (result != 0 || !landtrace_enabled(&(*events)[i])) {
      throw Broken(fmt::format("event {}: {}", i, result == 0 ? "not enabled" : errno_text(-result)));
    }
  }
  say("ready");
  std::string end;
  std::getline(std::cin, end);
  return 0;
}

int emit_for_fleet(const char* socket, const char* count, const char* keys) {
  struct [[gnu::packed]] Payload {
    std::uint32_t id;
    std::uint64_t value;
  };
  go_to(socket);
  landtrace::attach();
  const auto n = static_cast<std::size_t>(std::atoi(count));
  const auto key_count = static_cast<std::uint64_t>(std::atoi(keys));
  auto* const events = new std::vector<landtrace_event>(n, landtrace_event LANDTRACE_EVENT_INIT);
  auto* const declarations = new std::vector<std::string>;
  for (std::size_t i = 0; i + 1 < n; ++i) declarations->push_back(fmt::format("bench_fleet_{} u32 id;u64 value", i));
  declarations->push_back("bench_alone u32 id;u64 value");  // the last one: what is for all others is not for it
  for (std::size_t i = 0; i < n; ++i) {
    if (landtrace_register(&(*events)[i], (*declarations)[i].c_str(), 0) != 0) throw Broken("no room for the events");
  }
  say("ready");
  std::uint64_t event = 0, times = 0;
  while (std::cin >> event >> times) {
    const landtrace_event& one = events->at(event);
    const std::uint64_t begin = thread_cpu_ns();
    for (std::uint64_t i = 0; i < times; ++i) {
      Payload payload{static_cast<std::uint32_t>(i % key_count), i};
      const iovec vector{&payload, sizeof payload};
      if (landtrace_enabled(&one)) landtrace_emit(&one, &vector, 1);
    }
    say(fmt::format("{:.2f} {}", static_cast<double>(thread_cpu_ns() - begin) / static_cast<double>(times),
                    landtrace_enabled(&one) ? 1 : 0));
  }
  return 0;
}

int wait_for_enable_word() {
  static std::uint32_t word = 0;
  int fd = -1;
  if (abi_register("bench_waiter u64 a;u64 b", &word, &fd) < 0) throw Broken("waiter: " + errno_text(errno));
  say("ready");
  for (std::string line; std::getline(std::cin, line);) {
    say(std::to_string(__atomic_load_n(&word, __ATOMIC_ACQUIRE)));
  }
  return 0;
}

}  // namespace landtrace::bench
