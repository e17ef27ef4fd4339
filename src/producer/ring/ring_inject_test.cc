// A producer dies at each instruction of the restartable write that matters: write_rseq.cc is compiled a second
// time with its failure points (arch/CMakeLists.txt, landtrace_arch_inject) and a child process is let die there: in
// one that reads the clock, and in one at a time that was held. Where threads have no area of the kernel's, the
// instructions work with one of the test's own: nothing else writes the ring.
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <set>
#include <string>

#include "base/mapping.hpp"
#include "ring/reader.hpp"
#include "ring/test_write.hpp"

extern "C" volatile int landtrace_inject_point;

namespace landtrace::ring {
namespace {

constexpr std::uint64_t kNumbered = sizeof(RecordHeader) + 8;

class RingInjectTest : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    CPU_ZERO(&affinity_);
    ASSERT_EQ(sched_getaffinity(0, sizeof affinity_, &affinity_), 0);
    cpu_ = static_cast<std::uint32_t>(sched_getcpu());
    cpu_set_t here;
    CPU_ZERO(&here);
    CPU_SET(cpu_, &here);
    ASSERT_EQ(sched_setaffinity(0, sizeof here, &here), 0);
    own_area_.cpu_id_start = own_area_.cpu_id = cpu_;
    make();
  }
  void TearDown() override { sched_setaffinity(0, sizeof affinity_, &affinity_); }

  void make() {
    const std::size_t bytes = geometry_.stride() * (cpu_ + 2);
    fd_ = *create_memfd("ring_inject_test", bytes);
    memory_ = *Mapping::map(fd_.get(), bytes, Mapping::Access::kReadWrite);
    consumed_.assign(cpu_ + 2, kNeverFull);
    emitted_ = 0;
  }

  // The payload says how many records came before, in every one of its words.
  void emit(std::uint64_t length) {
    std::string payload(length - sizeof(RecordHeader), '\0');
    for (std::size_t at = 0; at + 8 <= payload.size(); at += 8) std::memcpy(&payload[at], &emitted_, 8);
    const Segment segment{payload.data(), payload.size()};
    const RingSet rings{memory_.data(), consumed_.data(), geometry_, cpu_ + 1, 1};
    const WriteMode mode{arch::rseq_usable() ? arch::rseq_area() : &own_area_, arch::RawClock::kTsc};
    arch::WriteRequest request;
    describe(request, {42, 1, static_cast<std::uint32_t>(payload.size()), &segment, 1});
    if (GetParam()) arch::hold_time(mode.area);
    const std::uint64_t held = GetParam() ? arch::read_raw_clock(mode.clock) : 0;
    const arch::WriteOutcome first = write_at_once(request, rings, mode, HeldTime{held});
    ASSERT_EQ(write_after(first, request, rings, mode, 42), WriteResult::kWritten);
    ++emitted_;
  }
  // True if a child that writes such a record dies at `point`; the child is waited for.
  bool dies_emitting(std::uint64_t length, int point) {
    const pid_t child = ::fork();
    if (child == 0) {
      const rlimit none{0, 0};
      ::setrlimit(RLIMIT_CORE, &none);
      ::signal(SIGILL, SIG_DFL);
      landtrace_inject_point = point;
      emit(length);
      ::_exit(0);
    }
    int status = 0;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFSIGNALED(status) ? WTERMSIG(status) == SIGILL : WIFEXITED(status) && WEXITSTATUS(status) == 0);
    if (words().commit.count == emitted_ + 1) ++emitted_;
    return WIFSIGNALED(status);
  }
  void fill_lap_but(std::uint64_t left) {
    while (left_in_lap() >= left + 2048) emit(1024);
    if (left_in_lap() > left) emit(left_in_lap() - left);
    ASSERT_EQ(left_in_lap(), left);
  }
  // Reads all there is; every record has to be whole and in its place.
  void check(Reader& reader) {
    std::uint64_t clock = 0;
    std::uint64_t next = emitted_;
    for (const Reader::Batch* batch = &reader.read(); !batch->records.empty(); batch = &reader.read()) {
      for (const RecordView& record : batch->records) {
        std::uint64_t number = 0;
        for (std::size_t at = 0; at + 8 <= record.payload.size(); at += 8) {
          const std::uint64_t first = number;
          std::memcpy(&number, &record.payload[at], 8);
          ASSERT_TRUE(at == 0 || number == first) << "torn";
        }
        ASSERT_TRUE(next == emitted_ || number == next || batch->lost_before > 0);
        next = number + 1;
        ASSERT_GE(record.header.clock, clock);
        clock = record.header.clock;
        ++read_;
      }
    }
    ASSERT_EQ(next, emitted_);
    ASSERT_EQ(reader.position(), words().commit.position);
    ASSERT_EQ(reader.corrupt(), 0u);
    ASSERT_EQ(reader.written(), emitted_);
  }
  // An attached reader and one that comes now agree with the count.
  void check_both(Reader& attached) {
    ASSERT_NO_FATAL_FAILURE(check(attached));
    ASSERT_EQ(read_ + attached.lost(), emitted_);
    const std::uint64_t read_by_attached = std::exchange(read_, 0);
    Reader late(memory_.data() + cpu_ * geometry_.stride(), geometry_);
    ASSERT_NO_FATAL_FAILURE(check(late));
    ASSERT_EQ(read_ + late.lost(), emitted_);
    read_ = read_by_attached;
  }
  Reader attach() {
    read_ = 0;
    return {memory_.data() + cpu_ * geometry_.stride(), geometry_};
  }
  RingWords& words() { return *reinterpret_cast<RingWords*>(memory_.data() + cpu_ * geometry_.stride()); }
  std::uint64_t left_in_lap() { return geometry_.size() - (words().commit.position & (geometry_.size() - 1)); }
  std::uint64_t left_in_chunk() {
    const std::uint64_t chunk = 1ull << geometry_.chunk_shift();
    return chunk - (words().commit.position & (chunk - 1));
  }

  Geometry geometry_;
  std::uint32_t cpu_ = 0;
  arch::RseqArea own_area_{};
  cpu_set_t affinity_;
  Fd fd_;
  Mapping memory_;
  std::vector<std::uint64_t> consumed_;
  std::uint64_t emitted_ = 0;
  std::uint64_t read_ = 0;
};

INSTANTIATE_TEST_SUITE_P(Times, RingInjectTest, testing::Bool(),
                         [](const auto& held) { return held.param ? "Held" : "Read"; });

struct Kind {
  const char* name;
  std::uint64_t left_in_lap;  // before the write that dies; 0: in the middle of a lap
  std::uint64_t length;
  std::set<int> points;  // those it passes
};

TEST_P(RingInjectTest, DeathAtAnyPointLeavesWholeRecordsAndARingThatGoesOn) {
  const Kind kinds[] = {
      {"within a chunk", 0, 104, {1, 7, 8, 9, 10, 12, 13}},
      {"into the next chunk", 0, 4096, {1, 7, 8, 9, 10, 11, 12, 13}},
      {"over many chunks", 0, 65552, {1, 7, 8, 9, 10, 11, 12, 13}},
      {"wrapping, filler implied", 8, 104, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 13}},
      {"wrapping, smallest filler", 16, 104, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 13}},
      {"wrapping over chunks", 60000, 65552, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13}},
      {"up to the end of the lap", 104, 104, {1, 7, 8, 9, 10, 11, 12, 13}},
  };
  for (const Kind& kind : kinds) {
    for (int point = 1; point <= 13; ++point) {
      for (const std::uint64_t laps : {0u, 2u}) {
        SCOPED_TRACE(testing::Message() << kind.name << ", point " << point << ", lap " << laps);
        make();
        Reader reader = attach();
        while (words().commit.position < laps * geometry_.size()) emit(1024);
        if (kind.left_in_lap > 0) {
          ASSERT_NO_FATAL_FAILURE(fill_lap_but(kind.left_in_lap));
        } else {
          while (left_in_chunk() < 512 || left_in_chunk() > 3500) emit(200);
        }
        const std::uint64_t before = emitted_;
        ASSERT_EQ(dies_emitting(kind.length, point), kind.points.contains(point));
        EXPECT_EQ(emitted_ - before, point == 13 || !kind.points.contains(point) ? 1u : 0u);
        ASSERT_NO_FATAL_FAILURE(check_both(reader));
        emit(104);  // the next producer, over what the dead one left
        ASSERT_NO_FATAL_FAILURE(check_both(reader));
        for (const std::uint64_t stop = words().commit.position + geometry_.size() * 2;
             words().commit.position < stop;) {
          for (int i = 0; i < 7; ++i) emit(1400);
          ASSERT_NO_FATAL_FAILURE(check_both(reader));
        }
      }
    }
  }
}

// A mark that was set for a commit which never came must not outlive a longer record over its place: a late
// reader would take the middle of that record for the beginning of one.
TEST_P(RingInjectTest, MarkOfADeadWriterIsReplacedByALongerRecord) {
  for (const std::uint64_t left : {0u, 60000u}) {  // the longer record fits in the lap, or a filler takes its place
    SCOPED_TRACE(left);
    make();
    Reader reader = attach();
    if (left > 0) {
      ASSERT_NO_FATAL_FAILURE(fill_lap_but(left));
    } else {
      emit(200);
    }
    ASSERT_TRUE(dies_emitting(9000, 11));
    emit(65552);
    ASSERT_NO_FATAL_FAILURE(check_both(reader));
    for (const std::uint64_t stop = words().commit.position + geometry_.size() * 2; words().commit.position < stop;) {
      emit(1400);
      ASSERT_NO_FATAL_FAILURE(check_both(reader));
    }
  }
}

// Ten deaths in a row at random points, between them records of any length.
TEST_P(RingInjectTest, ManyDeathsInARow) {
  std::uint32_t seed = 7;
  const auto random = [&seed] { return (seed = seed * 1664525u + 1013904223u) >> 8; };
  Reader reader = attach();
  for (int round = 0; round < 150; ++round) {
    for (std::uint32_t i = random() % 12; i > 0; --i) dies_emitting(kNumbered + random() % 8192 * 8, 1 + random() % 13);
    for (std::uint32_t i = random() % 20; i > 0; --i) {
      emit(kNumbered + (random() % 8 == 0 ? random() % 8192 : random() % 300) * 8);
    }
    ASSERT_NO_FATAL_FAILURE(check_both(reader)) << round;
  }
}

}  // namespace
}  // namespace landtrace::ring
