// Many threads, signal handlers and a concurrent reader on every ring: nothing torn, nothing out of order, and
// every event accounted for.
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstring>
#include <ctime>
#include <map>
#include <random>
#include <thread>

#include "base/mapping.hpp"
#include "ring/reader.hpp"
#include "ring/test_write.hpp"

namespace landtrace::ring {
namespace {

constexpr int kThreads = 8;

// A stream of records that a reader can verify: the length and every word follow from stream and number.
struct Stream {
  std::uint32_t id;
  std::uint64_t next = 0;
  std::uint64_t written = 0;
  std::uint64_t discarded = 0;
};
std::uint64_t mix(std::uint64_t stream, std::uint64_t number) {
  const std::uint64_t x = (number + 1) * 0x9e3779b97f4a7c15u ^ stream * 0xbf58476d1ce4e5b9u;
  return x ^ x >> 29;
}
std::uint64_t words_of_stream(std::uint64_t stream, std::uint64_t number) {
  const std::uint64_t x = mix(stream, number) >> 20;
  return 1 + (x % 500 == 0 ? x / 500 % 8192 : x % 24);
}

struct Rings {
  Rings(bool by_rseq, std::uint64_t consumed_from, std::uint32_t claimed)
      : set{nullptr, nullptr, Geometry{}, static_cast<std::uint32_t>(sysconf(_SC_NPROCESSORS_CONF)), claimed},
        fd(*create_memfd("ring_threads_test", bytes())),
        memory(*Mapping::map(fd.get(), bytes(), Mapping::Access::kReadWrite)),
        consumed(set.cpus + claimed, consumed_from),
        restartable(by_rseq) {
    set.base = memory.data();
    set.consumed = consumed.data();
  }
  [[nodiscard]] std::size_t bytes() const { return set.geometry.stride * (set.cpus + set.claimed); }

  // Async-signal-safe. `scratch` holds kMaxPayload bytes.
  void emit(Stream& stream, std::uint64_t* scratch) const {
    const std::uint64_t words = words_of_stream(stream.id, stream.next);
    scratch[0] = stream.next;
    for (std::uint64_t i = 1; i < words; ++i) scratch[i] = mix(stream.id, stream.next) + i;
    const std::uint64_t first = words / 3;  // gathered from two places
    const Segment segments[] = {{scratch, first * 8}, {scratch + first, (words - first) * 8}};
    const WriteMode mode{restartable ? arch::rseq_area() : nullptr, clock};
    const WriteResult result =
        write(set, mode,
              {stream.id, static_cast<std::uint16_t>(stream.id), static_cast<std::uint32_t>(words * 8), segments, 2});
    ++(result == WriteResult::kWritten ? stream.written : stream.discarded);
    ++stream.next;
  }

  RingSet set;
  Fd fd;
  Mapping memory;
  std::vector<std::uint64_t> consumed;
  bool restartable;
  arch::RawClock clock = arch::best_raw_clock();
};

// Reads one ring and verifies what it reads.
class Checker {
 public:
  Checker(Rings& rings, std::uint32_t index, bool publish)
      : reader_(rings.memory.data() + index * rings.set.geometry.stride, rings.set.geometry),
        consumed_(publish ? &rings.consumed[index] : nullptr) {}

  bool drain_once() {
    const auto& batch = reader_.read();
    for (const RecordView& record : batch.records) check(record);
    read_ += batch.records.size();
    if (consumed_ != nullptr) __atomic_store_n(consumed_, reader_.position(), __ATOMIC_RELEASE);
    return !batch.records.empty();
  }
  void finish() {
    while (drain_once()) {
    }
    EXPECT_EQ(read_ + reader_.lost(), reader_.written());
    EXPECT_EQ(torn_, 0u);
    EXPECT_EQ(time_reversals_, 0u);
    EXPECT_EQ(out_of_order_, 0u);
    EXPECT_EQ(reader_.corrupt(), 0u);
  }
  [[nodiscard]] const Reader& reader() const { return reader_; }
  [[nodiscard]] std::uint64_t read() const { return read_; }

 private:
  void check(const RecordView& record) {
    const std::uint64_t stream = record.header.tid;
    std::uint64_t word = 0;
    std::uint64_t number = 0;
    if (!record.payload.empty()) std::memcpy(&number, record.payload.data(), 8);
    bool whole = record.header.event == stream && record.payload.size() == words_of_stream(stream, number) * 8;
    for (std::uint64_t i = 1; whole && i < record.payload.size() / 8; ++i) {
      std::memcpy(&word, &record.payload[i * 8], 8);
      whole = word == mix(stream, number) + i;
    }
    torn_ += !whole;
    time_reversals_ += record.header.clock < clock_;
    clock_ = record.header.clock;
    std::uint64_t& next = next_[stream];
    out_of_order_ += number < next;
    next = number + 1;
  }

  Reader reader_;
  std::uint64_t* consumed_;
  std::uint64_t read_ = 0, torn_ = 0, time_reversals_ = 0, out_of_order_ = 0, clock_ = 0;
  std::map<std::uint64_t, std::uint64_t> next_;
};

// Runs `produce(stream, scratch)` on kThreads threads with a reader on each ring, then settles the accounts.
// `streams` may hold more than one per thread: [thread], then [kThreads + thread] and so on.
template <typename Produce>
void run(Rings& rings, bool discard, std::vector<Stream>& streams, Produce produce) {
  std::atomic<int> running = kThreads;
  std::vector<Checker> checkers;
  const std::uint32_t count = rings.set.cpus + rings.set.claimed;
  for (std::uint32_t i = 0; i < count; ++i) checkers.emplace_back(rings, i, discard);
  std::vector<std::thread> threads;
  for (Checker& checker : checkers) {
    threads.emplace_back([&] {
      std::mt19937 random(std::random_device{}());
      while (running > 0) {
        if (!checker.drain_once() || random() % 4 == 0) ::usleep(static_cast<useconds_t>(random() % 3000));
      }
    });
  }
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      std::vector<std::uint64_t> scratch(kMaxPayload / 8);
      produce(i, streams[static_cast<std::size_t>(i)], scratch.data());
      --running;
    });
  }
  for (std::thread& thread : threads) thread.join();

  std::uint64_t emitted = 0, written = 0, discarded = 0;
  for (const Stream& stream : streams) {
    emitted += stream.next;
    written += stream.written;
    discarded += stream.discarded;
  }
  std::uint64_t read = 0, lost = 0, counted_discarded = 0, in_rings = 0;
  for (Checker& checker : checkers) {
    checker.finish();
    read += checker.read();
    lost += checker.reader().lost();
    counted_discarded += checker.reader().discarded().all();
    in_rings += checker.reader().written();
  }
  EXPECT_EQ(in_rings, written);
  EXPECT_EQ(counted_discarded, discarded);
  EXPECT_EQ(emitted, read + lost + discarded);
  if (discard) {
    EXPECT_EQ(lost, 0u);
  } else if (rings.restartable) {
    EXPECT_EQ(discarded, 0u);
  }
  EXPECT_GT(read, 1000u);
  std::printf("emitted %lu read %lu lost %lu discarded %lu\n", emitted, read, lost, discarded);
}

// (restartable, discard mode, rings to claim)
class RingThreadsTest : public testing::TestWithParam<std::tuple<bool, bool, std::uint32_t>> {
 protected:
  void SetUp() override {
    if (restartable() && !arch::rseq_usable()) GTEST_SKIP() << "SKIPPED: no restartable sequences here";
    for (std::uint32_t i = 0; i < 2 * kThreads; ++i) streams_.push_back({i + 1});
  }
  [[nodiscard]] bool restartable() const { return std::get<0>(GetParam()); }
  [[nodiscard]] bool discard() const { return std::get<1>(GetParam()); }
  [[nodiscard]] Rings make() const { return {restartable(), discard() ? 0 : kNeverFull, std::get<2>(GetParam())}; }

  std::vector<Stream> streams_;
};

INSTANTIATE_TEST_SUITE_P(Modes, RingThreadsTest,
                         testing::Values(std::tuple{true, false, 4u}, std::tuple{true, true, 4u},
                                         std::tuple{false, false, 4u}, std::tuple{false, true, 4u},
                                         std::tuple{false, false, 1u}),
                         [](const auto& mode) {
                           return std::string(std::get<0>(mode.param) ? "Restartable" : "Claimed") +
                                  (std::get<1>(mode.param) ? "Discard" : "Overwrite") +
                                  std::to_string(std::get<2>(mode.param));
                         });

TEST_P(RingThreadsTest, MoreThreadsThanCpusLoseNothingUncounted) {
  Rings rings = make();
  run(rings, discard(), streams_, [&](int, Stream& stream, std::uint64_t* scratch) {
    for (int i = 0; i < 500'000; ++i) rings.emit(stream, scratch);
  });
}

TEST_P(RingThreadsTest, ThreadsThatMigrateAllTheTime) {
  Rings rings = make();
  run(rings, discard(), streams_, [&](int thread, Stream& stream, std::uint64_t* scratch) {
    std::mt19937 random(static_cast<std::uint32_t>(thread));
    for (int i = 0; i < 2000; ++i) {
      cpu_set_t there;
      CPU_ZERO(&there);
      CPU_SET(random() % rings.set.cpus, &there);
      sched_setaffinity(0, sizeof there, &there);  // refused for a CPU that is not ours: then we stay
      for (auto burst = random() % 40; burst > 0; --burst) rings.emit(stream, scratch);
    }
  });
}

// What the handler needs, per thread.
thread_local const Rings* handler_rings = nullptr;
thread_local Stream* handler_stream = nullptr;
thread_local std::uint64_t* handler_scratch = nullptr;
thread_local volatile bool writing = false;
std::atomic<std::uint64_t> interrupted_writes{0};

void emit_in_handler(int) {
  if (handler_stream == nullptr) return;
  if (writing) interrupted_writes.fetch_add(1, std::memory_order_relaxed);
  handler_rings->emit(*handler_stream, handler_scratch);
}

TEST_P(RingThreadsTest, SignalHandlerWritesWhileAWriteIsInterrupted) {
  Rings rings = make();
  interrupted_writes = 0;
  struct sigaction action {};
  struct sigaction before {};
  action.sa_handler = emit_in_handler;
  action.sa_flags = SA_RESTART;
  ASSERT_EQ(sigaction(SIGUSR1, &action, &before), 0);
  run(rings, discard(), streams_, [&](int thread, Stream& stream, std::uint64_t* scratch) {
    std::vector<std::uint64_t> second_scratch(kMaxPayload / 8);
    handler_rings = &rings;
    handler_scratch = second_scratch.data();
    handler_stream = &streams_[static_cast<std::size_t>(kThreads + thread)];
    sigevent event{};
    event.sigev_notify = SIGEV_THREAD_ID;
    event.sigev_signo = SIGUSR1;
    event._sigev_un._tid = static_cast<pid_t>(::syscall(SYS_gettid));
    timer_t timer;
    ASSERT_EQ(timer_create(CLOCK_MONOTONIC, &event, &timer), 0);
    const itimerspec every_100_us{{0, 100'000}, {0, 100'000}};
    ASSERT_EQ(timer_settime(timer, 0, &every_100_us, nullptr), 0);
    // For a second, and longer where others have the CPUs.
    const std::uint64_t begin = arch::monotonic_ns();
    const auto goes_on = [begin] {
      const std::uint64_t took = arch::monotonic_ns() - begin;
      return took < 1'000'000'000 || (interrupted_writes <= 100 && took < 30'000'000'000);
    };
    while (goes_on()) {
      for (int i = 0; i < 50; ++i) {
        writing = true;
        rings.emit(stream, scratch);
        writing = false;
      }
    }
    timer_delete(timer);
    // A signal that is on its way still finds the stream; it counts as any other.
    sigset_t blocked;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &blocked, nullptr);
    handler_stream = nullptr;
  });
  sigaction(SIGUSR1, &before, nullptr);
  EXPECT_GT(interrupted_writes, 100u);
  std::printf("interrupted writes: %lu\n", interrupted_writes.load());
}

}  // namespace
}  // namespace landtrace::ring
