// A server of which some requests are slow, and nobody knows why: docs/slow-request.md finds out.
#include <landtrace/landtrace.hpp>

#include <unistd.h>

#include <thread>
#include <vector>

using landtrace::Event, landtrace::Field;

using Start = Event<"req_start", Field<"id", std::uint32_t>>;
using Done = Event<"req_done", Field<"id", std::uint32_t>, Field<"route", const char*>>;
using Read = Event<"disk_read", Field<"block", std::uint32_t>>;

#define NOT_INLINED __attribute__((noinline))

NOT_INLINED void read_block(std::uint32_t block) {
  ::usleep(400);
  Read::emit(block);
}

NOT_INLINED void find_in_cache() {
  ::usleep(150);
  read_block(0);
}

NOT_INLINED void rebuild_index() {
  for (std::uint32_t block = 0; block < 25; ++block) read_block(block);
}

NOT_INLINED void answer(std::uint32_t id) {
  if (id % 67 == 66) {
    rebuild_index();
  } else {
    find_in_cache();
  }
}

void serve(std::uint32_t first) {
  constexpr const char* kRoutes[] = {"/", "/login", "/search"};
  for (std::uint32_t id = first; id < first + 600; ++id) {
    Start::emit(id);
    answer(id);
    Done::emit(id, kRoutes[id % 3]);
  }
}

int main() {
  std::vector<std::thread> threads;
  for (std::uint32_t i = 0; i < 3; ++i) threads.emplace_back(serve, i * 10'000);
  for (std::thread& thread : threads) thread.join();
}
