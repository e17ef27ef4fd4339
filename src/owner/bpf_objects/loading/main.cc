// landtrace-bpf: loads an object of eBPF programs into a domain, attaches them, and shows what they leave: lines of
// bpf_trace_printk(), records of ring buffers, and at the end the maps. `landtrace bpf` starts it, so that libbpf is in
// this program alone.
//
//     landtrace-bpf OBJECT READY UNTIL [INTERVAL]
//
// INTERVAL in milliseconds: maps that have changed are shown so often, too.
//
// Names its events, "SYSTEM:EVENT\0" each, and probes, "@SYSTEM:EVENT\0", on the descriptor READY when all is attached,
// and goes on until UNTIL, a pipe, ends. Exits with 1 where the object cannot be loaded, and 2 where an event has fewer
// fields than a program looks at.
#include <poll.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "bpf_objects/loading/session.hpp"

int main(int argc, char** argv) {
  if (argc != 4 && argc != 5) {
    std::fputs("landtrace-bpf: started by landtrace bpf\n", stderr);
    return 2;
  }
  landtrace::loading::Session session;
  if (!session.load(argv[1]) || !session.attach()) return 1;
  const int ready = std::atoi(argv[2]);
  const std::string& events = session.attached();
  if (::write(ready, events.data(), events.size()) != static_cast<ssize_t>(events.size())) return 1;
  ::close(ready);
  pollfd until{std::atoi(argv[3]), POLLIN, 0};
  // What comes within this time is shown together.
  constexpr int kPause_ms = 50;
  const auto interval = std::chrono::milliseconds(argc == 5 ? std::atoll(argv[4]) : 0);
  auto next = std::chrono::steady_clock::now() + interval;
  while (::poll(&until, 1, kPause_ms) == 0) {
    if (!session.show_new()) return 0;  // nobody reads it any more
    if (interval.count() == 0 || std::chrono::steady_clock::now() < next) continue;
    next = std::chrono::steady_clock::now() + interval;
    if (!session.show_changed_maps()) return 0;
  }
  session.show_new();
  session.show_maps();
  return session.complain_of_links() ? 2 : 0;
}
