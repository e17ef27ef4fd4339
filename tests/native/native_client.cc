// Programs on the native API, for native_test.cc. argv[1] names what to do; exits with 0 when every answer
// was the expected one, and says on stderr which was not. It tells its progress on standard output and waits
// for lines on standard input.
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include <landtrace/landtrace.hpp>

#define CHECK(condition)                                                    \
  do {                                                                      \
    if (!(condition)) {                                                     \
      std::fprintf(stderr, "native_client:%d: %s\n", __LINE__, #condition); \
      std::_Exit(1);                                                        \
    }                                                                       \
  } while (0)

namespace {

using landtrace::Event;
using landtrace::Field;
using std::uint32_t;

struct Position {
  std::int32_t x;
  std::int32_t y;
};
enum class Level : std::int16_t { kLow = -2 };

using Number = Event<"number", Field<"n", uint32_t>>;

void say(const char* line) {
  std::puts(line);
  std::fflush(stdout);
}
void wait_for_line() {
  char line[16];
  CHECK(std::fgets(line, sizeof line, stdin) != nullptr);
}

void wait_for_child(pid_t pid) {
  int status = 0;
  CHECK(::waitpid(pid, &status, 0) == pid);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

void all_types() {
  using Integers = Event<"integers", Field<"a", std::uint8_t>, Field<"b", std::int16_t>, Field<"c", uint32_t>,
                         Field<"d", std::int64_t>, Field<"e", bool>, Field<"f", Level>, Field<"g", char>>;
  using Mixed = Event<"mixed", Field<"p", Position>, Field<"f", float>, Field<"d", double>, Field<"fix", char[6]>,
                      Field<"arr", std::array<char, 3>>>;
  using Dynamic = Event<"dynamic", Field<"a", std::string_view>, Field<"n", uint32_t>, Field<"b", const char*>,
                        Field<"c", std::span<const std::uint8_t>>, Field<"d", std::string>>;
  using Empty = Event<"empty">;
  CHECK(Integers::emit(10, -2, 0xdeadbeef, -3, true, Level::kLow, 'x') == 0);
  CHECK(Mixed::emit({1, -1}, 1.5f, -0.25, "short", std::array<char, 3>{'a', 'b', 'c'}) == 0);
  CHECK(Mixed::emit({0, 0}, 0, 0, "far too long", "") == 0);
  const std::uint8_t bytes[] = {1, 2, 255};
  CHECK(Dynamic::emit("/index", 7, "c string", bytes, std::string(3, 'z')) == 0);
  CHECK(Dynamic::emit("", 8, nullptr, {}, "") == 0);
  CHECK(Empty::emit() == 0);
}

void sizes() {
  using Text = Event<"text", Field<"s", std::string_view>>;
  using Two = Event<"two", Field<"s", std::string_view>, Field<"b", std::span<const std::byte>>>;
  const std::string largest(LANDTRACE_MAX_PAYLOAD - 5, 'x');
  CHECK(Text::emit(largest) == 0);
  CHECK(Text::emit(largest + "x") == -E2BIG);
  CHECK(Text::emit(std::string(1 << 20, 'x')) == -E2BIG);
  const std::vector<std::byte> half(LANDTRACE_MAX_PAYLOAD / 2);
  CHECK(Two::emit(std::string(LANDTRACE_MAX_PAYLOAD / 2 - 9, 'x'), half) == 0);
  CHECK(Two::emit(std::string(LANDTRACE_MAX_PAYLOAD / 2 - 8, 'x'), half) == -E2BIG);
}

// Runs before the registrations of this file, whose initialisers have no priority.
bool enabled_too_early = true;
__attribute__((constructor(101))) void look_early() { enabled_too_early = Number::enabled(); }

void before_main() {
  CHECK(!enabled_too_early);
  CHECK(Number::registration() == 0);
  CHECK(Number::backend() == LANDTRACE_DOMAIN);
  CHECK(Number::enabled());
}

struct EmitsAtExit {
  ~EmitsAtExit() { Number::emit(99); }
} emits_at_exit;

void forks() {
  CHECK(Number::emit(1) == 0);
  const pid_t child = ::fork();
  if (child != 0) {
    wait_for_child(child);
    CHECK(Number::emit(5) == 0);
    return;
  }
  CHECK(Number::emit(2) == 0);
  const pid_t grandchild = ::fork();
  if (grandchild == 0) {
    CHECK(Number::emit(3) == 0);
    std::_Exit(0);
  }
  wait_for_child(grandchild);
  static landtrace_event mine = LANDTRACE_EVENT_INIT;
  CHECK(landtrace_register(&mine, "of_child u32 n", 0) == 0);
  CHECK(landtrace_event_backend(&mine) == LANDTRACE_DOMAIN);
  const uint32_t four = 4;
  const iovec vector{const_cast<uint32_t*>(&four), sizeof four};
  CHECK(landtrace_emit(&mine, &vector, 1) == 0);
  std::_Exit(0);
}

void threads() {
  std::vector<std::thread> all;
  for (uint32_t i = 0; i < 8; ++i) {
    all.emplace_back([i] {
      for (uint32_t n = 0; n < 2000; ++n) CHECK(Number::emit(i * 2000 + n) == 0);
    });
  }
  for (std::thread& thread : all) thread.join();
}

// Signals come at any point of an emit, and emit themselves. Says how many events there must be.
void interrupted() {
  using Tick = Event<"tick", Field<"n", uint32_t>>;
  static volatile uint32_t ticks = 0;
  struct sigaction action {};
  action.sa_handler = [](int) {
    CHECK(Tick::emit(ticks) == 0);
    ticks = ticks + 1;
  };
  action.sa_flags = SA_RESTART;
  CHECK(Tick::emit(ticks) == 0);  // the thread finds its place before the first signal
  ticks = 1;
  ::sigaction(SIGALRM, &action, nullptr);
  const itimerval often{{0, 100}, {0, 100}};
  ::setitimer(ITIMER_REAL, &often, nullptr);
  uint32_t n = 0;
  for (; ticks < 200; ++n) CHECK(Number::emit(n) == 0);
  const itimerval never{};
  ::setitimer(ITIMER_REAL, &never, nullptr);
  std::printf("%u %u\n", n, static_cast<uint32_t>(ticks));
  std::fflush(stdout);
}

void late_domain() {
  CHECK(Number::registration() == 0);
  CHECK(Number::backend() == LANDTRACE_NONE);
  CHECK(Number::emit(1) == -EBADF);
  CHECK(landtrace::attach() == 0);
  say("alone");
  wait_for_line();
  CHECK(landtrace::attach() >= 1);
  CHECK(Number::backend() == LANDTRACE_DOMAIN);
  CHECK(Number::emit(2) == 0);
}

void conflict() {
  static landtrace_event other = LANDTRACE_EVENT_INIT;
  CHECK(landtrace_register(&other, "number u64 other", 0) == -EADDRINUSE);
  CHECK(!landtrace_enabled(&other));
  CHECK(landtrace_unregister(&other) == -ENOENT);
  CHECK(landtrace_register(&other, "number u64 other", LANDTRACE_MULTI_FORMAT) == 0);
  CHECK(landtrace_register(&other, "number u64 other", LANDTRACE_MULTI_FORMAT) == 0);  // is registered: does nothing
  static landtrace_event bad = LANDTRACE_EVENT_INIT;
  CHECK(landtrace_register(&bad, "bad nonsense n", 0) == -EINVAL);
  CHECK(landtrace_register(&bad, "bad u32 n", 0x80) == -EINVAL);
  CHECK(landtrace_register(&bad, nullptr, 0) == -EINVAL);
}

LANDTRACE_EVENT(by_macro, LT_U32(n));

void taken() {
  CHECK(Number::registration() == -EADDRINUSE);
  CHECK(landtrace::attach() == 0);
  CHECK(Number::backend() == LANDTRACE_NONE && Number::emit(1) == -EBADF);
  say("refused");
  wait_for_line();
  CHECK(landtrace::attach() == 2);
  CHECK(Number::emit(1) == 0);
  CHECK(LANDTRACE_EMIT(by_macro, 2) == 0);
}

void bad_payloads() {
  static landtrace_event event = LANDTRACE_EVENT_INIT;
  CHECK(landtrace_register(&event, "pair u32 a;u32 b", 0) == 0);
  uint32_t pair[2] = {1, 2};
  const iovec whole{pair, sizeof pair};
  const iovec half{pair, sizeof pair[0]};
  CHECK(landtrace_emit(&event, &half, 1) == -EINVAL);
  CHECK(landtrace_emit(&event, nullptr, 0) == -EINVAL);
  CHECK(landtrace_emit(&event, &whole, -1) == -EINVAL);
  const std::vector<iovec> many(65, whole);
  CHECK(landtrace_emit(&event, many.data(), 65) == -EINVAL);
  CHECK(landtrace_emit(&event, many.data(), 64) == 0);
  std::vector<char> large(LANDTRACE_MAX_PAYLOAD + 1);
  const iovec too_large{large.data(), large.size()};
  CHECK(landtrace_emit(&event, &too_large, 1) == -E2BIG);
}

void unregister() {
  static landtrace_event event = LANDTRACE_EVENT_INIT;
  CHECK(landtrace_register(&event, "gone", 0) == 0);
  CHECK(landtrace_emit(&event, nullptr, 0) == 0);
  CHECK(landtrace_unregister(&event) == 0);
  CHECK(!landtrace_enabled(&event));
  CHECK(landtrace_emit(&event, nullptr, 0) == -EBADF);
  CHECK(landtrace_unregister(&event) == -ENOENT);
  CHECK(landtrace_register(&event, "gone", 0) == 0);
  CHECK(landtrace_emit(&event, nullptr, 0) == 0);
}

// The owner dies in the middle of it.
void orphan() {
  CHECK(Number::emit(0) == 0);
  say("emitting");
  uint32_t n = 1;
  int result = 0;
  while ((result = Number::emit(n)) == 0) ++n;
  CHECK(result == -EBADF);
  for (int i = 0; i < 1000; ++i) CHECK(Number::emit(n) == -EBADF);
  static landtrace_event late = LANDTRACE_EVENT_INIT;
  landtrace_register(&late, "late", 0);  // whatever it answers, it comes back
  CHECK(landtrace_emit(&late, nullptr, 0) == -EBADF);
  say("alive");
}

// A daemon closes what it did not open; the domain then forgets its events when nobody listens any more.
void closes_all() {
  ::closefrom(3);
  CHECK(Number::emit(1) == 0);
  say("closed");
  wait_for_line();  // listening has ended
  CHECK(!Number::enabled());
  CHECK(landtrace::attach() >= 1);
  say("attached");
  wait_for_line();  // listening has begun again
  CHECK(Number::emit(2) == 0);
}

void kernel_backend() {
  CHECK(Number::registration() == 0);
  CHECK(Number::backend() == LANDTRACE_KERNEL);
  CHECK(Number::emit(17) == 0);
  using Text = Event<"text", Field<"s", std::string_view>>;
  CHECK(Text::emit("through the file") == 0);
  static landtrace_event event = LANDTRACE_EVENT_INIT;
  CHECK(landtrace_register(&event, "brief", 0) == 0);
  CHECK(landtrace_emit(&event, nullptr, 0) == 0);
  CHECK(landtrace_unregister(&event) == 0);
  CHECK(landtrace_emit(&event, nullptr, 0) == -EBADF);
}

void nobody() {
  CHECK(Number::registration() == 0);
  CHECK(Number::backend() == LANDTRACE_NONE);
  CHECK(!Number::enabled() && Number::emit(1) == -EBADF);
}

void handlers() {
  const bool unwanted = std::getenv("LANDTRACE_SIGNAL_HANDLERS") != nullptr;
  CHECK(Number::backend() == LANDTRACE_DOMAIN);
  for (int number = 1; number < NSIG; ++number) {
    struct sigaction action {};
    if (::sigaction(number, nullptr, &action) != 0) continue;  // the C library's own
    const bool is_ours = !unwanted && (number == SIGSEGV || number == SIGBUS);
    const bool has_one = action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN;
    CHECK(has_one == is_ours);
    CHECK(!is_ours || (action.sa_flags & (SA_SIGINFO | SA_ONSTACK)) == (SA_SIGINFO | SA_ONSTACK));
  }
  CHECK(Number::emit(42) == 0);
  ::kill(::getpid(), SIGSEGV);
  ::pause();
}

void one() { CHECK(Number::emit(42) == 0); }

}  // namespace

int main(int argc, char** argv) {
  const std::map<std::string, std::function<void()>> modes{
      {"all_types", all_types},
      {"sizes", sizes},
      {"before_main", before_main},
      {"forks", forks},
      {"threads", threads},
      {"interrupted", interrupted},
      {"late_domain", late_domain},
      {"conflict", conflict},
      {"taken", taken},
      {"bad_payloads", bad_payloads},
      {"unregister", unregister},
      {"orphan", orphan},
      {"closes_all", closes_all},
      {"handlers", handlers},
      {"one", one},
      {"kernel", kernel_backend},
      {"nobody", nobody},
  };
  const auto mode = modes.find(argc == 2 ? argv[1] : "");
  if (mode == modes.end()) return 2;
  mode->second();
  if (mode->first != "before_main") std::_Exit(0);
}
