// Histograms in memory of the test's own, in surroundings that note what is asked of them.
#pragma once

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstring>
#include <deque>

#include "hist/evaluate.hpp"
#include "language/histogram/plan_builder.hpp"
#include "language/histogram/table_reader.hpp"

namespace landtrace::hist {

using namespace language;
using namespace language::ops;
using namespace language::values;

class TestSurroundings final : public Surroundings {
 public:
  struct Made {
    std::uint32_t slot;
    std::vector<std::byte> payload;
  };
  std::uint32_t cpu() override { return 3; }
  const char* comm() override { return name; }
  std::uint32_t capture_stack(std::uint64_t* frames) override {
    std::copy(stack.begin(), stack.end(), frames);
    return static_cast<std::uint32_t>(stack.size());
  }
  bool make_event(std::uint32_t slot, const std::byte* payload, std::uint32_t size) override {
    made.push_back({slot, {payload, payload + size}});
    return !is_deep;
  }
  void take_snapshot(std::uint32_t cell) override { snapshots.push_back(cell); }

  char name[kCommSize] = "tester";
  std::vector<std::uint64_t> stack = {0x1000, 0x2000};
  std::vector<Made> made;
  std::vector<std::uint32_t> snapshots;
  bool is_deep = false;
};

// A data segment, shared with children.
class TestMemory {
 public:
  explicit TestMemory(std::size_t size = 64 << 20) : size_(size) {
    void* const at = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    data_ = static_cast<std::byte*>(at);
  }
  ~TestMemory() { ::munmap(data_, size_); }
  TestMemory(const TestMemory&) = delete;
  TestMemory& operator=(const TestMemory&) = delete;

  [[nodiscard]] std::byte* data() const { return data_; }
  std::uint64_t allocate(std::uint64_t bytes) {
    const std::uint64_t at = end_;
    end_ += (bytes + 4095) / 4096 * 4096;
    EXPECT_LE(end_, size_);
    return at;
  }

 private:
  std::size_t size_;
  std::byte* data_;
  std::uint64_t end_ = 4096;
};

class TestHistogram {
 public:
  TestHistogram(TestMemory& memory, const HistPlanDescription& what) : memory_(memory) {
    auto shape = shape_of(what);
    EXPECT_TRUE(shape) << (shape ? "" : shape.error().message);
    shape_ = *shape;
    table_ = memory.allocate(shape_.layout.bytes);
    const auto bytes = build_hist_plan(what, shape_, table_);
    plan_.resize(bytes.size() / 8);
    std::memcpy(plan_.data(), bytes.data(), bytes.size());
  }

  [[nodiscard]] const HistPlan& plan() const { return *reinterpret_cast<const HistPlan*>(plan_.data()); }
  // From here on it is counted by what counts all others.
  void make_general() { reinterpret_cast<HistPlan*>(plan_.data())->is_plain = false; }
  [[nodiscard]] const TableShape& shape() const { return shape_; }
  [[nodiscard]] std::uint64_t table() const { return table_; }
  [[nodiscard]] std::byte* table_at() const { return memory_.data() + table_; }
  [[nodiscard]] HistReferenceDescription refer(std::uint32_t variable, bool once) const {
    return {table_, shape_.layout, shape_.variables[variable], once};
  }

  void happen(const void* payload, std::size_t size) {
    const arch::Segment segment{payload, size};
    happen_in(&segment, 1);
  }
  template <typename T>
  void happen(const T& payload) {
    happen(&payload, sizeof payload);
  }
  void happen_in(const arch::Segment* segments, std::size_t count) {
    Moment moment(arch::RawClock::kMonotonic);
    hist::count(plan(), memory_.data(), {{segments, count}, 0x0000'0929'0000'4001, moment, surroundings});
  }

  [[nodiscard]] TableContents contents() const {
    std::byte* const segment = memory_.data();
    return read_tables(plan(), {&segment, 1});
  }
  // The row whose key begins with this number. It stays as long as this.
  [[nodiscard]] TableRow row(std::uint64_t number) const {
    const TableContents& all = looked_at_.emplace_back(contents());
    for (const TableRow& row : all.rows) {
      std::uint64_t first = 0;
      std::memcpy(&first, row.key.data(), sizeof first);
      if (first == number) return row;
    }
    ADD_FAILURE() << "there is no row of " << number;
    return {};
  }

  TestSurroundings surroundings;

 private:
  TestMemory& memory_;
  TableShape shape_;
  std::uint64_t table_ = 0;
  std::vector<std::uint64_t> plan_;
  mutable std::deque<TableContents> looked_at_;
};

}  // namespace landtrace::hist
