// Producers in processes of their own that are killed or stopped at random moments: what was committed is read
// back whole, and the accounts stay exact.
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstring>
#include <map>
#include <random>

#include "base/mapping.hpp"
#include "ring/reader.hpp"
#include "ring/test_write.hpp"

namespace landtrace::ring {
namespace {

constexpr std::size_t kProducers = 4;
constexpr std::uint32_t kClaimed = 12;
constexpr std::uint64_t kMaxWords = kMaxPayload / 8 - 1;  // 8 bytes say who wrote it

// Word i of record `number` of a producer.
std::uint64_t word_of(std::uint64_t producer, std::uint64_t number, std::uint64_t i) {
  return i == 0 ? number : ((number << 20 ^ producer) + i) * 0x9e3779b97f4a7c15u;
}
std::uint64_t words_in(std::uint64_t producer, std::uint64_t number) {
  const std::uint64_t x = word_of(producer, number, 1) >> 30;
  return 1 + (x % 100 == 0 ? x / 100 % kMaxWords : x % 40);
}

// What a producer tells of itself, in shared memory.
struct Progress {
  std::uint64_t attempts;
  std::uint64_t written;
};

// (restartable, discard mode)
class RingKillTest : public testing::TestWithParam<std::tuple<bool, bool>> {
 protected:
  struct Producer {
    pid_t pid = 0;
    std::uint32_t id = 0;
  };
  // What was read of one ring, and of one producer over all rings.
  struct Seen {
    std::uint64_t read = 0;
    std::uint64_t clock = 0;
    std::map<std::uint64_t, std::uint64_t> next;
  };
  struct Stream {
    std::uint64_t read = 0;
    std::uint64_t end = 0;
  };

  void SetUp() override {
    if (restartable() && !arch::rseq_usable()) GTEST_SKIP() << "SKIPPED: no restartable sequences here";
    const std::size_t ring_bytes = geometry_.stride() * rings();
    fd_ = *create_memfd("ring_kill_test", ring_bytes + kPage);
    memory_ = *Mapping::map(fd_.get(), ring_bytes + kPage, Mapping::Access::kReadWrite);
    consumed_ = reinterpret_cast<std::uint64_t*>(memory_.data() + ring_bytes);
    progress_ = reinterpret_cast<Progress*>(memory_.data() + ring_bytes + kPage / 2);
    ASSERT_LE(rings() * sizeof *consumed_, kPage / 2);
    for (std::uint32_t i = 0; i < rings(); ++i) {
      consumed_[i] = discard() ? 0 : kNeverFull;
      readers_.emplace_back(ring(i), geometry_);
    }
    seen_.resize(rings());
  }
  void TearDown() override {
    for (Producer& producer : producers_) kill_and_wait(producer);
  }

  [[nodiscard]] bool restartable() const { return std::get<0>(GetParam()); }
  [[nodiscard]] bool discard() const { return std::get<1>(GetParam()); }
  [[nodiscard]] std::uint32_t rings() const { return cpus_ + kClaimed; }
  [[nodiscard]] std::byte* ring(std::uint32_t i) const { return memory_.data() + i * geometry_.stride(); }
  [[nodiscard]] RingWords& words(std::uint32_t i) const { return *reinterpret_cast<RingWords*>(ring(i)); }
  [[nodiscard]] std::uint64_t attempts(std::size_t i) const {
    return __atomic_load_n(&progress_[i].attempts, __ATOMIC_RELAXED);
  }
  // One ring after the other: under a sanitizer all of them at once would take longer than the load may wait.
  void read_for_up_to(std::uint32_t us) {
    const std::uint64_t stop = arch::monotonic_ns() + random_() % us * 1000u;
    do {
      drain_once(next_ring_++ % rings());
    } while (arch::monotonic_ns() < stop);
  }

  [[noreturn]] void produce(std::size_t slot, std::uint32_t id) const {
    std::array<std::uint64_t, kMaxWords> scratch;
    const WriteMode mode{restartable() ? arch::rseq_area() : nullptr, clock_};
    const RingSet set{memory_.data(), consumed_, geometry_, cpus_, kClaimed};
    const auto tid = static_cast<std::uint32_t>(::getpid());
    for (std::uint64_t number = 0;;) {
      const std::uint64_t count = words_in(id, number);
      for (std::uint64_t i = 0; i < count; ++i) scratch[i] = word_of(id, number, i);
      const Segment segments[] = {{&id, 4}, {&tid, 4}, {scratch.data(), count * 8}};
      if (write(set, mode, {tid, 1, static_cast<std::uint32_t>(8 + count * 8), segments, 3}) == WriteResult::kWritten) {
        __atomic_store_n(&progress_[slot].written, ++number, __ATOMIC_RELAXED);
      }
      __atomic_fetch_add(&progress_[slot].attempts, 1, __ATOMIC_RELAXED);
    }
  }
  void start(std::size_t slot) {
    const std::uint32_t id = ++last_id_;
    progress_[slot] = {};
    const pid_t pid = ::fork();
    ASSERT_GE(pid, 0);
    if (pid == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      produce(slot, id);
    }
    producers_[slot] = {pid, id};
  }
  static void kill_and_wait(Producer& producer) {
    if (producer.pid == 0) return;
    ::kill(producer.pid, SIGKILL);
    int status = 0;
    EXPECT_EQ(::waitpid(producer.pid, &status, 0), producer.pid);
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << status;
    producer.pid = 0;
  }
  // What domain/reaper does. Returns how many claims the dead process held.
  int free_claims_of(std::uint32_t tid) {
    int freed = 0;
    for (std::uint32_t i = cpus_; i < rings(); ++i) {
      if (words(i).claim != tid) continue;
      __atomic_store_n(&words(i).claim, 0, __ATOMIC_RELEASE);
      ++freed;
    }
    return freed;
  }

  bool drain_once(std::uint32_t i) {
    const auto& batch = readers_[i].read();
    for (const RecordView& record : batch.records) check(record, seen_[i]);
    if (discard()) __atomic_store_n(&consumed_[i], readers_[i].position(), __ATOMIC_RELEASE);
    return !batch.records.empty();
  }
  void check(const RecordView& record, Seen& seen) {
    std::uint32_t id = 0;
    std::uint32_t tid = 0;
    std::uint64_t number = 0;
    ASSERT_GE(record.payload.size(), 16u);
    std::memcpy(&id, record.payload.data(), 4);
    std::memcpy(&tid, &record.payload[4], 4);
    std::memcpy(&number, &record.payload[8], 8);
    ASSERT_EQ(record.header.tid, tid);
    ASSERT_EQ(record.payload.size(), 8 + words_in(id, number) * 8);
    for (std::uint64_t i = 0; i < words_in(id, number); ++i) {
      std::uint64_t word = 0;
      std::memcpy(&word, &record.payload[8 + i * 8], 8);
      ASSERT_EQ(word, word_of(id, number, i)) << "torn";
    }
    ASSERT_GE(record.header.clock, seen.clock);
    seen.clock = record.header.clock;
    ASSERT_GE(number, seen.next[id]);
    seen.next[id] = number + 1;
    ++seen.read;
    ++streams_[id].read;
    streams_[id].end = std::max(streams_[id].end, number + 1);
  }
  // With all producers dead: every record that was committed is read or counted.
  void settle() {
    std::uint64_t read = 0, lost = 0, discarded = 0;
    for (std::uint32_t i = 0; i < rings(); ++i) {
      while (drain_once(i)) {
      }
      EXPECT_EQ(readers_[i].position(), words(i).commit.position);
      EXPECT_EQ(seen_[i].read + readers_[i].lost(), readers_[i].written());
      EXPECT_EQ(readers_[i].corrupt(), 0u);
      read += seen_[i].read;
      lost += readers_[i].lost();
      discarded += readers_[i].discarded().all();
    }
    if (discard()) {
      EXPECT_EQ(lost, 0u);
      for (const auto& [id, stream] : streams_) EXPECT_EQ(stream.read, stream.end) << "of producer " << id;
      // The kill can only have come between the commit and the note of it.
      for (const auto& [id, written] : written_by_the_dead_) {
        EXPECT_TRUE(streams_[id].end == written || streams_[id].end == written + 1);
      }
    }
    EXPECT_GT(read, 0u);
    std::printf("read %lu lost %lu discarded %lu\n", read, lost, discarded);
  }
  void note_death(std::size_t slot) { written_by_the_dead_[producers_[slot].id] = progress_[slot].written; }

  Geometry geometry_;
  const std::uint32_t cpus_ = static_cast<std::uint32_t>(sysconf(_SC_NPROCESSORS_CONF));
  const arch::RawClock clock_ = arch::best_raw_clock();
  Fd fd_;
  Mapping memory_;
  std::uint64_t* consumed_ = nullptr;
  Progress* progress_ = nullptr;
  std::vector<Reader> readers_;
  std::vector<Seen> seen_;
  std::map<std::uint64_t, Stream> streams_;
  std::map<std::uint64_t, std::uint64_t> written_by_the_dead_;
  std::array<Producer, kProducers> producers_;
  std::uint32_t last_id_ = 0;
  std::uint32_t next_ring_ = 0;
  std::mt19937 random_{std::random_device{}()};
};

INSTANTIATE_TEST_SUITE_P(Modes, RingKillTest, testing::Combine(testing::Bool(), testing::Bool()), [](const auto& mode) {
  return std::string(std::get<0>(mode.param) ? "Restartable" : "Claimed") +
         (std::get<1>(mode.param) ? "Discard" : "Overwrite");
});

TEST_P(RingKillTest, FiveHundredKillsTearAndLoseNothing) {
  int claims_left = 0;
  for (std::size_t i = 0; i < kProducers; ++i) start(i);
  for (int kills = 0; kills < 500; ++kills) {
    read_for_up_to(1000);
    const std::size_t victim = random_() % kProducers;
    const auto tid = static_cast<std::uint32_t>(producers_[victim].pid);
    kill_and_wait(producers_[victim]);
    note_death(victim);
    claims_left += free_claims_of(tid);
    ASSERT_FALSE(HasFatalFailure());
    start(victim);
  }
  for (std::size_t i = 0; i < kProducers; ++i) {
    const auto tid = static_cast<std::uint32_t>(producers_[i].pid);
    kill_and_wait(producers_[i]);
    note_death(i);
    claims_left += free_claims_of(tid);
  }
  settle();
  if (restartable()) {
    EXPECT_EQ(claims_left, 0);
  } else {
    EXPECT_GT(claims_left, 0) << "no kill came in the middle of a write";
    std::printf("killed in the middle of a write: %d\n", claims_left);
  }
}

TEST_P(RingKillTest, StoppedProducerHoldsUpNobody) {
  // All on one CPU, hence in restartable mode in one ring.
  cpu_set_t affinity;
  ASSERT_EQ(sched_getaffinity(0, sizeof affinity, &affinity), 0);
  cpu_set_t here;
  CPU_ZERO(&here);
  CPU_SET(static_cast<std::size_t>(sched_getcpu()), &here);
  ASSERT_EQ(sched_setaffinity(0, sizeof here, &here), 0);
  for (std::size_t i = 0; i < kProducers; ++i) start(i);
  sched_setaffinity(0, sizeof affinity, &affinity);

  for (int round = 0; round < 50; ++round) {
    read_for_up_to(5000);
    const std::size_t stopped = random_() % kProducers;
    const pid_t pid = producers_[stopped].pid;
    ASSERT_EQ(::kill(pid, SIGSTOP), 0);
    int status = 0;
    ASSERT_EQ(::waitpid(pid, &status, WUNTRACED), pid);
    ASSERT_TRUE(WIFSTOPPED(status));
    const std::uint64_t attempts_of_stopped = attempts(stopped);
    const std::size_t other = (stopped + 1) % kProducers;
    const std::uint64_t before = attempts(other);
    const std::uint64_t deadline = arch::monotonic_ns() + 120'000'000'000;
    while (attempts(other) < before + 100 && arch::monotonic_ns() < deadline) {
      read_for_up_to(200);
    }
    ASSERT_GE(attempts(other), before + 100);
    ASSERT_EQ(attempts(stopped), attempts_of_stopped);
    ASSERT_EQ(::kill(pid, SIGCONT), 0);
    while (attempts(stopped) == attempts_of_stopped && arch::monotonic_ns() < deadline) ::usleep(200);
    ASSERT_GT(attempts(stopped), attempts_of_stopped);
    ASSERT_FALSE(HasFatalFailure());
  }
  for (std::size_t i = 0; i < kProducers; ++i) {
    kill_and_wait(producers_[i]);
    note_death(i);
  }
  settle();
}

TEST_P(RingKillTest, RingOfADeadHolderIsLeftAloneUntilItsClaimIsFreed) {
  if (restartable()) GTEST_SKIP() << "SKIPPED: only for claimed rings";
  for (std::size_t i = 0; i < kProducers; ++i) start(i);
  std::map<std::uint32_t, std::uint64_t> orphans;  // ring -> its tail
  for (int kills = 0; kills < 2000 && orphans.size() < 3; ++kills) {
    read_for_up_to(500);
    const std::size_t victim = random_() % kProducers;
    const auto tid = static_cast<std::uint32_t>(producers_[victim].pid);
    kill_and_wait(producers_[victim]);
    for (std::uint32_t i = cpus_; i < rings(); ++i) {
      if (words(i).claim == tid) orphans[i] = words(i).commit.position;
    }
    start(victim);
  }
  ASSERT_EQ(orphans.size(), 3u);
  const std::uint64_t before = attempts(0);
  while (attempts(0) < before + 1000) read_for_up_to(200);
  for (const auto& [i, tail] : orphans) {
    EXPECT_EQ(words(i).commit.position, tail);
    __atomic_store_n(&words(i).claim, 0, __ATOMIC_RELEASE);
  }
  // The orphan that is the first choice of a CPU is taken up at once.
  const std::uint64_t deadline = arch::monotonic_ns() + 60'000'000'000;
  const auto [first, its_tail] = *orphans.begin();
  while (__atomic_load_n(&words(first).commit.position, __ATOMIC_RELAXED) == its_tail &&
         arch::monotonic_ns() < deadline) {
    read_for_up_to(200);
  }
  EXPECT_GT(words(first).commit.position, its_tail);
  for (Producer& producer : producers_) kill_and_wait(producer);
  settle();
}

}  // namespace
}  // namespace landtrace::ring
