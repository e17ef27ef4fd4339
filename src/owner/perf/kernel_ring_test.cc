// What a kernel's event tells, copied among samples; the test writes as the kernel does.
#include "perf/kernel_ring.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstring>
#include <vector>

#include "perf/output_ring.hpp"

namespace landtrace::perf {
namespace {

constexpr std::uint64_t kSampleType = PERF_SAMPLE_TIME;

struct TimedRecord {
  perf_event_header header;
  std::uint64_t time;
};

class KernelRingTest : public testing::Test {
 protected:
  static constexpr std::size_t kPage = MappedRing::kPage;
  KernelRingTest() {
    void* const memory = ::mmap(nullptr, 2 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memory_ = static_cast<std::byte*>(memory);
    output_.join(std::make_unique<KernelRing>(memory_, 2 * kPage, Renumbering{kSampleType, 0}));
  }
  // The kernel's record, which says when it was.
  void tell(std::uint64_t time) {
    auto& page = *reinterpret_cast<perf_event_mmap_page*>(memory_);
    const TimedRecord record{{PERF_RECORD_EXIT, 0, sizeof(TimedRecord)}, time};
    std::memcpy(memory_ + kPage + page.data_head % kPage, &record, sizeof record);
    page.data_head += sizeof record;
  }
  std::uint64_t tail() { return reinterpret_cast<perf_event_mmap_page*>(memory_)->data_tail; }
  // The times of what was copied so far.
  std::vector<std::uint64_t> copied() {
    const Mapping seen = *Mapping::map(ring_->fd(), ring_->bytes(), Mapping::Access::kReadOnly);
    std::vector<std::uint64_t> times;
    for (std::uint64_t at = 0; at < ring_->written_bytes(); at += sizeof(TimedRecord)) {
      TimedRecord record;
      std::memcpy(&record, seen.data() + kPage + at, sizeof record);
      times.push_back(record.time);
    }
    return times;
  }
  using Times = std::vector<std::uint64_t>;

  std::byte* memory_;
  std::shared_ptr<MappedRing> ring_ = *MappedRing::create(1, {});
  OutputRing output_{ring_};
};

TEST_F(KernelRingTest, WhatWasSeenFirstIsCopiedWheneverItWas) {
  tell(10);
  tell(20);
  output_.look_at_kernel();
  EXPECT_TRUE(output_.has_kernel_records());
  EXPECT_TRUE(output_.copy_kernel_until(10));
  EXPECT_EQ(copied(), (Times{10}));
  EXPECT_EQ(tail(), sizeof(TimedRecord));
  EXPECT_TRUE(output_.has_kernel_records());
  EXPECT_FALSE(output_.copy_kernel_until(19));
  EXPECT_TRUE(output_.copy_kernel_rest());
  EXPECT_EQ(copied(), (Times{10, 20}));
  EXPECT_EQ(tail(), 2 * sizeof(TimedRecord));
  EXPECT_FALSE(output_.copy_kernel_until(30));
  EXPECT_FALSE(output_.has_kernel_records());
}

TEST_F(KernelRingTest, WhatWasSeenLaterIsCopiedBeforeSamplesAlone) {
  tell(10);
  output_.look_at_kernel();
  tell(20);
  tell(30);
  output_.look_at_kernel_again();
  EXPECT_TRUE(output_.copy_kernel_until(20));
  EXPECT_EQ(copied(), (Times{10, 20}));
  EXPECT_FALSE(output_.copy_kernel_rest()) << "samples of before may come yet";
  output_.look_at_kernel();
  EXPECT_TRUE(output_.copy_kernel_rest());
  EXPECT_EQ(copied(), (Times{10, 20, 30}));
}

TEST_F(KernelRingTest, WhatWasNotSeenIsNotCopied) {
  output_.look_at_kernel();
  tell(10);
  EXPECT_FALSE(output_.copy_kernel_until(10));
  EXPECT_FALSE(output_.copy_kernel_rest());
  EXPECT_EQ(copied(), Times{});
}

TEST_F(KernelRingTest, ARecordThatIsNotWholeIsLeft) {
  tell(10);
  reinterpret_cast<perf_event_mmap_page*>(memory_)->data_head -= 1;
  output_.look_at_kernel();
  EXPECT_FALSE(output_.copy_kernel_rest());
  reinterpret_cast<perf_event_mmap_page*>(memory_)->data_head += 1;
  output_.look_at_kernel();
  EXPECT_TRUE(output_.copy_kernel_rest());
  EXPECT_EQ(copied(), (Times{10}));
}

}  // namespace
}  // namespace landtrace::perf
