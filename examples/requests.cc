// Requests that one process takes and another one answers. How long that takes, by route:
//
//     landtrace latency --from req_start --to req_done --key id --by route -- example_requests
//
// example_requests US: each takes so many microseconds more.
#include <landtrace/landtrace.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

using landtrace::Event, landtrace::Field;

using Start = Event<"req_start", Field<"id", std::uint32_t>>;
using Done = Event<"req_done", Field<"id", std::uint32_t>, Field<"route", const char*>>;

int main(int argc, char** argv) {
  const auto more_us = static_cast<unsigned>(argc > 1 ? std::atoi(argv[1]) : 0);
  constexpr const char* kRoutes[] = {"/", "/login", "/search"};
  int requests[2];
  if (::pipe(requests) != 0) return 1;
  if (::fork() == 0) {
    ::close(requests[1]);
    for (std::uint32_t id = 0; ::read(requests[0], &id, sizeof id) == sizeof id;) {
      ::usleep((20u << id % 3 * 2) + more_us);
      Done::emit(id, kRoutes[id % 3]);
    }
    return 0;
  }
  for (std::uint32_t id = 0; id < 1000; ++id) {
    Start::emit(id);
    if (::write(requests[1], &id, sizeof id) != sizeof id) return 1;
    ::usleep(500);
  }
  ::close(requests[1]);
  return ::wait(nullptr) < 0 ? 1 : 0;
}
