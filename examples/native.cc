// The C++ API: a program that serves imaginary requests and says so in two events.
//
//     example_native [REQUESTS [DELAY_MICROSECONDS]]      (100 requests, 10 ms apart)
#include <landtrace/landtrace.hpp>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

namespace {

struct Position {
  std::int32_t x;
  std::int32_t y;
};

// Declaring an event is all: it registers itself before main().
using RequestBegin = landtrace::Event<"request_begin", landtrace::Field<"id", std::uint32_t>,
                                      landtrace::Field<"route", std::string_view>>;
using RequestDone =
    landtrace::Event<"request_done", landtrace::Field<"id", std::uint32_t>, landtrace::Field<"status", int>,
                     landtrace::Field<"load", float>, landtrace::Field<"where", Position>>;

void serve(std::uint32_t id) {
  // emit() tests by itself whether anybody listens; ask first only where an argument takes work to make.
  if (RequestBegin::enabled()) RequestBegin::emit(id, "/item/" + std::to_string(id));
  const auto at = static_cast<std::int32_t>(id);
  RequestDone::emit(id, id % 10 == 9 ? 500 : 200, static_cast<float>(id) / 4, Position{at, -at});
}

const char* name_of(landtrace_backend backend) {
  switch (backend) {
    case LANDTRACE_DOMAIN:
      return "a Landtrace domain";
    case LANDTRACE_KERNEL:
      return "the kernel's user_events";
    case LANDTRACE_NONE:
      break;
  }
  return "nobody";
}

}  // namespace

int main(int argc, char** argv) {
  const long requests = argc > 1 ? std::atol(argv[1]) : 100;
  const std::chrono::microseconds delay(argc > 2 ? std::atol(argv[2]) : 10000);
  if (RequestDone::registration() != 0) {
    std::fprintf(stderr, "request_done: error %d\n", -RequestDone::registration());
    return 1;
  }
  std::printf("events go to %s: %s\n", name_of(RequestDone::backend()), RequestDone::kDeclaration.data());
  for (long i = 0; i < requests; ++i) {
    serve(static_cast<std::uint32_t>(i));
    std::this_thread::sleep_for(delay);
  }
}
